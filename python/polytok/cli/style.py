"""Shows pieces: exactly, readably, and with visible borders."""

from __future__ import annotations

import re
import sys
import unicodedata
from collections.abc import Iterable
from typing import IO

RESET = "\x1b[0m"
_PIECE_COLORS = ("\x1b[38;5;16;48;5;153m", "\x1b[38;5;16;48;5;223m")
_SPECIAL_COLOR = "\x1b[1;38;5;231;48;5;125m"
_SPACE = "\u2423"
_SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t", "\\": "\\\\", " ": _SPACE, _SPACE: "\\u2423"}
# Invisible characters, and those that move the text around them.
_INVISIBLE = frozenset(("Cc", "Cf", "Cs", "Co", "Cn", "Zs", "Zl", "Zp"))


def visible(piece: bytes) -> str:
    """A piece on one line, in an unambiguous form: spaces as ␣, invisible characters and non-UTF-8 as escapes.

    >>> visible(" é\\n".encode()), visible(b"\\xe2\\x96")
    ('␣é\\\\n', '\\\\xe2\\\\x96')
    """
    return "".join(map(_visible, piece.decode(errors="surrogateescape")))


def _visible(char: str) -> str:
    code = ord(char)
    if 0xDC80 <= code <= 0xDCFF:
        return f"\\x{code - 0xDC00:02x}"
    if char in _SHORT:
        return _SHORT[char]
    if unicodedata.category(char) not in _INVISIBLE:
        return char
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def colored(pieces: Iterable[tuple[bytes, bool]]) -> str:
    """Pieces in alternating colours, special ones in a colour of their own; lines break where those of the text do."""
    shown = []
    for number, (piece, is_special) in enumerate(pieces):
        color = _SPECIAL_COLOR if is_special else _PIECE_COLORS[number % 2]
        ends_line = piece.endswith(b"\n")
        shown.append(f"{color}{visible(piece)}{RESET}" + "\n" * ends_line)
    return "".join(shown)


def json_piece(piece: bytes) -> str | list[int]:
    """A piece for JSON: a string, or a list of its bytes if it is not UTF-8."""
    try:
        return piece.decode()
    except UnicodeDecodeError:
        return list(piece)


def one_line(text: str) -> str:
    """A text without line breaks and control characters."""
    return re.sub(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]", lambda found: _visible(found[0]), text)


def show(line: str, out: IO[str] | None = None) -> None:
    """Print a line, with escapes for anything that UTF-8 cannot encode: names of files can hold any bytes."""
    print(line.encode(errors="backslashreplace").decode(), file=out or sys.stdout)
