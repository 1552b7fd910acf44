"""Runs a web server in a thread that returns configured answers and records the requested paths."""

from __future__ import annotations

import ssl
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Answer = Callable[[BaseHTTPRequestHandler], None]


@dataclass
class Server:
    """A server with its answers by path (without the query string) and the requested paths."""

    address: str
    answers: dict[str, bytes | Answer] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)


@contextmanager
def serving(tls: ssl.SSLContext | None = None) -> Iterator[Server]:
    """Runs a server while the ``with`` block runs."""
    httpd = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    httpd.daemon_threads = True
    if tls is not None:
        httpd.socket = tls.wrap_socket(httpd.socket, server_side=True)
    server = Server(f"{'http' if tls is None else 'https'}://127.0.0.1:{httpd.server_port}")
    httpd.polytok = server  # type: ignore[attr-defined]
    threading.Thread(target=httpd.serve_forever, args=(0.01,), daemon=True).start()
    try:
        yield server
    finally:
        httpd.shutdown()
        httpd.server_close()


class _Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        server: Server = self.server.polytok  # type: ignore[attr-defined]
        path = self.path.partition("?")[0]
        server.asked.append(f"{self.command} {path}")
        answer = server.answers.get(path)
        if answer is None:
            self.send_error(404)
        elif callable(answer):
            answer(self)
        else:
            send(self, answer)

    do_HEAD = do_GET

    def log_message(self, *_args: Any) -> None:
        pass


def send(handler: BaseHTTPRequestHandler, body: bytes, *, length: int | None = None, **headers: str) -> None:
    """Sends a body with a Content-Length of ``length``, which can be wrong."""
    handler.send_response(200)
    handler.send_header("Content-Length", str(len(body) if length is None else length))
    for name, value in headers.items():
        handler.send_header(name.replace("_", "-"), value)
    handler.end_headers()
    if handler.command != "HEAD":
        handler.wfile.write(body)


def truncated_answer(body: bytes) -> Answer:
    """Returns an answer that sends half of a body but announces the whole length."""
    return lambda handler: send(handler, body[: len(body) // 2], length=len(body))


def redirect(address: str) -> Answer:
    """Returns an answer that redirects to another address."""

    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(302)
        handler.send_header("Location", address)
        handler.send_header("Content-Length", "0")
        handler.end_headers()

    return answer


def slow_answer(body: bytes) -> Answer:
    """Returns an answer that sends a body byte by byte, twenty bytes in a second."""

    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        try:
            for byte in body:
                handler.wfile.write(bytes([byte]))
                handler.wfile.flush()
                time.sleep(0.05)
        except OSError:
            pass

    return answer


def endless_answer(beginning: bytes, repeated: bytes) -> Answer:
    """Returns an answer that sends some bytes, and then the same bytes again and again, a hundred times in a second."""

    def answer(handler: BaseHTTPRequestHandler) -> None:
        with suppress(OSError):
            handler.wfile.write(beginning)
            while True:
                handler.wfile.write(repeated)
                time.sleep(0.01)

    return answer
