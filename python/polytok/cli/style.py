"""Formats pieces and texts for people in a terminal: colours show where pieces end."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from typing import IO

from ..visible import visible_char, visible_text

RESET_COLOR = "\x1b[0m"
_PIECE_COLORS = ("\x1b[38;5;16;48;5;153m", "\x1b[38;5;16;48;5;223m")
_SPECIAL_COLOR = "\x1b[1;38;5;231;48;5;125m"
_MAX_LIST_LINES = 20


def color_pieces(pieces: Iterable[tuple[bytes, bool]]) -> str:
    """Returns pieces in two alternating colours and special pieces in a third colour, with the line breaks of the text.

    ``pieces`` are pairs of a piece and whether it is special.
    """
    parts = []
    for piece_number, (piece, is_special) in enumerate(pieces):
        parts.append(color_piece(visible_text(piece), piece_number, is_special) + "\n" * piece.endswith(b"\n"))
    return "".join(parts)


def color_piece(text: str, number: int, is_special: bool) -> str:
    """Returns the text of piece ``number`` of a row in its colour."""
    color = _SPECIAL_COLOR if is_special else _PIECE_COLORS[number % 2]
    return f"{color}{text}{RESET_COLOR}"


def origin_color(origin: int) -> str:
    """Returns the colour of a text in a chat: that of special pieces for the template's own (-1), and for messages and
    other inputs one of two alternating colours.

    >>> origin_color(-1) == origin_color(0), origin_color(0) == origin_color(2)
    (False, True)
    """
    return _SPECIAL_COLOR if origin == -1 else _PIECE_COLORS[origin % 2]


def piece_to_json(piece: bytes) -> str | list[int]:
    """Returns a piece as a JSON value: a string, or a list of bytes if the piece is not UTF-8."""
    try:
        return piece.decode()
    except UnicodeDecodeError:
        return list(piece)


def escape_line_breaks(text: str) -> str:
    """Returns the text with escapes for line breaks and control characters."""
    return re.sub(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]", lambda match: visible_char(match[0]), text)


def shorten_list(lines: Iterable[str]) -> list[str]:
    """Returns the first 20 lines, then one with the number of the others, which ``--json`` prints.

    >>> shorten_list(map(str, range(684)))[18:]
    ['18', '19', 'and 664 more (--json has all)']
    """
    all_lines = list(lines)
    omitted_count = len(all_lines) - _MAX_LIST_LINES
    shown_lines = all_lines[:_MAX_LIST_LINES]
    return shown_lines if omitted_count <= 0 else [*shown_lines, f"and {omitted_count:,} more (--json has all)"]


def print_line(line: str, out: IO[str] | None = None) -> None:
    """Prints a line to ``out``, with escapes for characters that UTF-8 cannot encode, which file names can contain."""
    print(line.encode(errors="backslashreplace").decode(), file=out or sys.stdout)
