"""Decides which requests the local page answers: only those of its own page, and only bodies within the limits.

Any program of this machine, and any web page that is open in a browser, can send requests to a port of the loopback
address. So the address of the page has a random token, which other pages do not know. The header ``Host`` must name the
page's own address, or a page could reach the server by a name of its own that it points to the loopback address (DNS
rebinding). The header ``Origin``, which browsers add to requests of other pages, must be the page's own.
"""

from __future__ import annotations

import hmac
from email.message import Message
from http import HTTPStatus
from typing import NamedTuple

MAX_TEXT_BYTES = 16 << 20
"""The longest JSON body: a text, or ids."""
MAX_MODEL_BYTES = 512 << 20
"""The longest tokenizer file."""

HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-store",
}
"""The headers of each answer: the page loads only its own files, no page shows it in a frame, and nothing is cached."""


class Refusal(Exception):
    """A request that is not answered: the status and the reason."""

    def __init__(self, status: HTTPStatus, reason: str) -> None:
        super().__init__(reason)
        self.status = status


class Guard(NamedTuple):
    """The address and the token of one server."""

    port: int
    token: str

    @property
    def hosts(self) -> tuple[str, ...]:
        return tuple(f"{name}:{self.port}" for name in ("127.0.0.1", "localhost"))

    def path_of(self, path: str, headers: Message) -> str:
        """Returns the part of the path after the token. Raises `Refusal` for a request of another page or program."""
        if headers.get("Host") not in self.hosts:
            raise Refusal(HTTPStatus.FORBIDDEN, "this server answers only to its own address")
        origin = headers.get("Origin")
        if origin is not None and origin not in [f"http://{host}" for host in self.hosts]:
            raise Refusal(HTTPStatus.FORBIDDEN, "this server answers only to its own page")
        token, _, rest = path.removeprefix("/").partition("/")
        if not path.startswith("/") or not hmac.compare_digest(token.encode(), self.token.encode()):
            raise Refusal(HTTPStatus.FORBIDDEN, "the address lacks the token that `polytok web` printed")
        return rest


def body_length(headers: Message, limit: int) -> int:
    """Returns the length of a request's body in bytes. Raises `Refusal` if it is not given or above the limit."""
    text = headers.get("Content-Length") or ""
    if headers.get("Transfer-Encoding") is not None or not (text.isascii() and text.isdigit()):
        raise Refusal(HTTPStatus.LENGTH_REQUIRED, "the request must say how long its body is")
    if len(text) > 12 or int(text) > limit:
        raise Refusal(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"the body has more than {limit:,} bytes")
    return int(text)
