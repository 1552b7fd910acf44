"""Fetches a file in one request, with limits of time and size. Only a fetch imports this module.

The server is not trusted: each read from the connection checks the time, so no slow status line, header, length of a
chunk or body exceeds the limit. The bodies of redirects are not read. A redirect leads only to http and https.
"""

from __future__ import annotations

import io
import time
import urllib.error
import urllib.request
from http.client import HTTPConnection, HTTPException, HTTPMessage, HTTPResponse, HTTPSConnection
from typing import IO, Any

TIMEOUT = 30.0
"""The seconds without data after which a download is abandoned; the whole download can take ten times as long."""
MAX_BYTES = 2**26
"""The number of bytes after which a download is abandoned; every known file is smaller."""

_CHUNK_BYTES = 2**16


def fetch_content(address: str) -> bytes:
    """Returns the content of an address; raises OSError with the reason for any failure."""
    request = urllib.request.Request(address, headers={"User-Agent": "polytok"})
    try:
        with _opener(time.monotonic() + 10 * TIMEOUT).open(request, timeout=TIMEOUT) as response:
            return _read_body(response)
    except urllib.error.HTTPError:
        raise
    except urllib.error.URLError as error:
        raise OSError(str(error.reason)) from error
    except (HTTPException, ValueError) as error:  # ValueError: a redirect to a text that is not a URL
        raise OSError(f"{type(error).__name__}: {error}") from error


def _read_body(response: Any) -> bytes:
    body = bytearray()  # a server can send chunks of one byte, so a list of chunks could take much more memory
    while chunk := response.read1(_CHUNK_BYTES):
        body += chunk
        if len(body) > MAX_BYTES:
            raise OSError(f"the file is longer than {MAX_BYTES} bytes")
    return bytes(body)


def _opener(deadline: float) -> urllib.request.OpenerDirector:
    """Returns an opener of http and https that abandons a download at the deadline."""
    opener = urllib.request.OpenerDirector()
    for handler in (
        urllib.request.ProxyHandler(),
        _TimedHandler(deadline),
        _RedirectHandler(),
        urllib.request.HTTPDefaultErrorHandler(),
        urllib.request.HTTPErrorProcessor(),
        urllib.request.UnknownHandler(),
    ):
        opener.add_handler(handler)
    return opener


class _TimedHandler(urllib.request.HTTPHandler):
    """Opens connections to servers of http and https whose responses are read until the deadline."""

    def __init__(self, deadline: float) -> None:
        super().__init__()
        self._deadline = deadline

    def http_open(self, request: urllib.request.Request) -> HTTPResponse:
        return self.do_open(self._connection, request)

    def https_open(self, request: urllib.request.Request) -> HTTPResponse:
        return self.do_open(self._encrypted_connection, request)

    https_request = urllib.request.HTTPHandler.http_request

    def _connection(self, host: str, **options: Any) -> HTTPConnection:
        return self._with_deadline(HTTPConnection(host, **options))

    def _encrypted_connection(self, host: str, **options: Any) -> HTTPConnection:
        return self._with_deadline(HTTPSConnection(host, **options))

    def _with_deadline(self, connection: HTTPConnection) -> HTTPConnection:
        def create_response(*args: Any, **options: Any) -> HTTPResponse:
            response = HTTPResponse(*args, **options)
            response.fp = io.BufferedReader(_TimedReader(response.fp.detach(), self._deadline))
            return response

        connection.response_class = create_response  # type: ignore[assignment]
        return connection


class _TimedReader(io.RawIOBase):
    """Reads from a connection until the deadline."""

    def __init__(self, connection: io.RawIOBase, deadline: float) -> None:
        self._connection = connection
        self._deadline = deadline

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        if time.monotonic() > self._deadline:
            raise OSError(f"the download takes longer than {10 * TIMEOUT:.0f} seconds")
        return self._connection.readinto(buffer)

    def close(self) -> None:
        self._connection.close()
        super().close()


class _RedirectHandler(urllib.request.HTTPRedirectHandler):
    """Follows redirects without reading their bodies, which urllib reads to their ends, of whatever size they are."""

    def http_error_302(
        self, req: urllib.request.Request, fp: IO[bytes], code: int, msg: str, headers: HTTPMessage
    ) -> IO[bytes] | None:
        fp.close()
        return super().http_error_302(req, fp, code, msg, headers)

    http_error_301 = http_error_303 = http_error_307 = http_error_308 = http_error_302
