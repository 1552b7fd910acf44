"""Writes pieces as text that people can read: invisible characters become visible."""

from __future__ import annotations

import unicodedata

_VISIBLE_SPACE = "\u2423"
_SHORT_ESCAPES = {"\n": "\\n", "\r": "\\r", "\t": "\\t", "\\": "\\\\", " ": _VISIBLE_SPACE, _VISIBLE_SPACE: "\\u2423"}
# The general categories of characters that are invisible or move the text around them.
_INVISIBLE_CATEGORIES = frozenset(("Cc", "Cf", "Cs", "Co", "Cn", "Zs", "Zl", "Zp"))


def visible_text(piece: bytes) -> str:
    """Returns a piece as readable text on one line; different pieces have different texts.

    A space is written as ␣. Invisible characters and bytes that are not UTF-8 are written as escapes.

    >>> visible_text(" é\\n".encode()), visible_text(b"\\xe2\\x96")
    ('␣é\\\\n', '\\\\xe2\\\\x96')
    """
    return "".join(map(visible_char, piece.decode(errors="surrogateescape")))


def visible_char(char: str) -> str:
    """Returns a character as readable text; an invisible one as an escape."""
    code_point = ord(char)
    if 0xDC80 <= code_point <= 0xDCFF:
        return f"\\x{code_point - 0xDC00:02x}"
    if char in _SHORT_ESCAPES:
        return _SHORT_ESCAPES[char]
    if unicodedata.category(char) not in _INVISIBLE_CATEGORIES:
        return char
    return f"\\u{code_point:04x}" if code_point < 0x10000 else f"\\U{code_point:08x}"
