"""Reads a file with the first candidates of Unigram's training: a line has a piece, a tab, and the piece's count."""

from __future__ import annotations

import os
import re
from pathlib import Path

from ...errors import ArgumentError

_COUNT_PATTERN = re.compile(rb"[ \t\r\v\f]*\+?([0-9]+)[ \t\r\v\f]*")
_MAX_COUNT = 2**63 - 1


def read_seeds(path: str | os.PathLike[str]) -> list[tuple[bytes, int]]:
    """Returns the pieces and counts of a file, in order. Raises `ArgumentError` for a line that is not valid."""
    lines = Path(path).read_bytes().split(b"\n")
    if lines[-1] == b"":
        lines.pop()
    return [_parse_seed(line, f"{os.fspath(path)}, line {number}") for number, line in enumerate(lines, 1)]


def _parse_seed(line: bytes, place: str) -> tuple[bytes, int]:
    piece, *other_fields = line.split(b"\t")
    match = _COUNT_PATTERN.fullmatch(other_fields[0]) if other_fields else None
    count = int(match[1]) if match and len(match[1]) < 20 else 0
    if not 0 < count <= _MAX_COUNT:
        raise ArgumentError(f"{place}: a line must have a piece, a tab and a count from 1 on")
    try:
        piece.decode()
    except UnicodeDecodeError as error:
        raise ArgumentError(f"{place}: the piece is not UTF-8 ({error})") from error
    return piece, count
