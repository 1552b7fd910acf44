"""The HTTP server of the local page, on the loopback address only."""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterable
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

from ..errors import PolytokError
from ..tokenizer import Tokenizer
from .answers import ANSWERS
from .guard import HEADERS, MAX_MODEL_BYTES, MAX_TEXT_BYTES, Guard, Refusal, body_length
from .models import Models
from .page import CONTENT_TYPES, asset, page

SECONDS_TO_SEND = 30
"""A connection that sends nothing for so long is closed."""


class PageServer(ThreadingHTTPServer):
    """Serves the page for these tokenizers, each with a name. ``port`` 0 is a free port.

    ``address`` is what to open in a browser: it has the random token without which nothing is answered.
    """

    daemon_threads = True
    allow_reuse_address = True

    def __init__(self, tokenizers: Iterable[tuple[str, Tokenizer]], port: int = 0) -> None:
        super().__init__(("127.0.0.1", port), _Handler)
        self.models = Models(tokenizers)
        self.guard = Guard(self.server_port, secrets.token_urlsafe(24))

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.guard.port}/{self.guard.token}/"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A browser that closes a connection early is no error."""


class _Handler(BaseHTTPRequestHandler):
    server: PageServer
    protocol_version = "HTTP/1.1"
    server_version = "polytok"
    sys_version = ""
    timeout = SECONDS_TO_SEND
    # Small answers are sent at once; otherwise they wait for the browser to confirm the headers.
    disable_nagle_algorithm = True
    wbufsize = -1

    def do_GET(self) -> None:
        self._answer(self._get)

    def do_POST(self) -> None:
        self._answer(self._post)

    def _answer(self, create: Any) -> None:
        try:
            parts = urlsplit(self.path)
            content_type, body = create(self.server.guard.path_of(parts.path, self.headers), parts.query)
            self._send(HTTPStatus.OK, content_type, body)
        except Refusal as refusal:
            # The body was not read, so the connection cannot go on.
            self.close_connection = True
            self._send(refusal.status, "text/plain; charset=utf-8", str(refusal).encode())
        except (PolytokError, MemoryError) as error:
            self._send_error_as_json(str(error) or "there is not enough memory for this")
        except (ValueError, RecursionError):
            self._send_error_as_json("the request is not the JSON that the page sends")

    def _get(self, path: str, query: str) -> tuple[str, bytes]:
        if not path:
            return CONTENT_TYPES["html"], page().encode()
        content = asset(path.removeprefix("assets/")) if path.startswith("assets/") else None
        if content is None:
            raise Refusal(HTTPStatus.NOT_FOUND, "there is no such file")
        return CONTENT_TYPES[path.rpartition(".")[2]], content.encode()

    def _post(self, path: str, query: str) -> tuple[str, bytes]:
        name = path.removeprefix("api/")
        if name == "upload":
            data = self._read_body(MAX_MODEL_BYTES)
            file_name = parse_qs(query).get("name", ["file"])[0]
            answer: Any = self.server.models.upload(file_name[:200], data).to_json()
        elif path.startswith("api/") and name in ANSWERS:
            request = json.loads(self._read_body(MAX_TEXT_BYTES) or b"{}")
            if not isinstance(request, dict):
                raise ValueError("not an object")
            answer = ANSWERS[name](self.server.models, request)
        else:
            raise Refusal(HTTPStatus.NOT_FOUND, "there is no such request")
        if isinstance(answer, str):
            return CONTENT_TYPES["html"], answer.encode()
        # Lone surrogates, which a text area can contain, are written as escapes.
        return CONTENT_TYPES["json"], json.dumps(answer, separators=(",", ":")).encode()

    def _read_body(self, limit: int) -> bytes:
        length = body_length(self.headers, limit)
        body = self.rfile.read(length)
        if len(body) < length:
            raise Refusal(HTTPStatus.BAD_REQUEST, "the body is shorter than the request says")
        return body

    def _send_error_as_json(self, message: str) -> None:
        self._send(HTTPStatus.BAD_REQUEST, CONTENT_TYPES["json"], json.dumps({"error": message}).encode())

    def _send(self, status: HTTPStatus, content_type: str, body: bytes) -> None:
        self.send_response(status)
        for name, value in HEADERS.items():
            self.send_header(name, value)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(body)))
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(body)
        self.wfile.flush()

    def log_message(self, format: str, *args: Any) -> None:
        """Requests are not logged: their addresses have the token."""
