"""A file of substrings to start Unigram's training from: lines with a piece, a tab, and how often it occurs."""

from __future__ import annotations

import os
import re
from pathlib import Path

from ...errors import ArgumentError

_COUNT = re.compile(rb"[ \t\r\v\f]*\+?([0-9]+)[ \t\r\v\f]*")
_MOST = 2**63 - 1


def seeds(path: str | os.PathLike[str]) -> list[tuple[bytes, int]]:
    """The pieces and counts, in order; ArgumentError if SentencePiece would reject the file."""
    lines = Path(path).read_bytes().split(b"\n")
    if lines[-1] == b"":
        lines.pop()
    return [_seed(line, f"{os.fspath(path)}, line {number}") for number, line in enumerate(lines, 1)]


def _seed(line: bytes, where: str) -> tuple[bytes, int]:
    piece, *others = line.split(b"\t")
    found = _COUNT.fullmatch(others[0]) if others else None
    count = int(found[1]) if found and len(found[1]) < 20 else 0
    if not 0 < count <= _MOST:
        raise ArgumentError(f"{where}: a line is a piece, a tab and its count, 1 or more")
    try:
        piece.decode()
    except UnicodeDecodeError as error:
        raise ArgumentError(f"{where}: the piece is no UTF-8 ({error})") from error
    return piece, count
