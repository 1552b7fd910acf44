"""Builds the page, and HTML files that show the same without a server. Both have the files of assets/."""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..trace import Trace

CONTENT_TYPES = {
    "html": "text/html; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml; charset=utf-8",
    "json": "application/json; charset=utf-8",
}
_ASSETS = (
    *("page.html", "style.css", "icon.svg", "tokens.js", "detail.js", "gguf.js", "trace.js", "walks.js"),
    *("saved.js", "page.js"),
)
_FILE_SCRIPTS = ("tokens.js", "detail.js", "trace.js", "walks.js", "saved.js")


def asset(name: str) -> str | None:
    """Returns a file of assets/; None for any other name, so no name leads to another file."""
    return _read_asset(name) if name in _ASSETS else None


@cache
def _read_asset(name: str) -> str:
    return files(__package__).joinpath("assets").joinpath(name).read_text("utf-8")


def page() -> str:
    """Returns the HTML of the local page, which loads the other assets from the server."""
    return asset("page.html") or ""


def html_of_traces(traces: Iterable[tuple[str, Trace]], title: str = "polytok trace") -> str:
    """Returns one self-contained HTML file with traces, each with the name of its tokenizer."""
    return saved_page({"title": title, "traces": [{**trace.to_json(), "name": name} for name, trace in traces]})


def saved_page(content: dict[str, Any]) -> str:
    """Returns a self-contained HTML file that shows ``content`` (see saved.js): one file, no network, no server."""
    data = json.dumps(content, separators=(",", ":")).replace("<", "\\u003c")  # so that no text ends the script
    scripts = "".join(f"<script>\n{asset(name)}</script>\n" for name in _FILE_SCRIPTS)
    title = str(content.get("title") or "polytok").translate({ord(c): f"&#{ord(c)};" for c in "<>&\"'"})
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src 'unsafe-inline'; "
        "style-src 'unsafe-inline'\">\n"
        f"<title>{title}</title>\n<style>\n{asset('style.css')}</style>\n</head>\n<body>\n"
        f"<header><h1>{title}</h1></header>\n"
        '<main id="saved"><noscript>This file draws its content with JavaScript.</noscript></main>\n'
        f'<script type="application/json" id="content">{data}</script>\n{scripts}</body>\n</html>\n'
    )
