"""Byte ranges of a file: finds the texts that begin in a range.

The *border* of a position is the beginning of the first text that begins there or after it. It depends only on the
position and the file. A range is read from the border of its start to the border of its end. So adjacent ranges neither
miss a text nor repeat one, wherever the file was split.
"""

from __future__ import annotations

from typing import IO

from ..reading import Format, Reading
from ..reading.blocks import end_of_text

_SCAN = 1 << 16


def separator_of(reading: Reading, format: Format) -> bytes | None:
    """What ends each text of a file that can be split; None if the file cannot be split.

    A separator that ends as it begins (two line feeds, in a row of five) can overlap itself: which of its occurrences
    count then depends on the preceding bytes.

    >>> separator_of(Reading(unit="line"), "text"), separator_of(Reading(unit="separator", separator="<|a|>"), "text")
    (b'\\n', b'<|a|>')
    >>> separator_of(Reading(unit="separator", separator="aba"), "text")
    """
    separator = end_of_text(reading, format)
    if separator is None:
        return None
    overlaps = any(separator.startswith(separator[start:]) for start in range(1, len(separator)))
    return None if overlaps else separator


def border(file: IO[bytes], at: int, size: int, separator: bytes) -> int:
    """The beginning of the first text that begins at a position or after it; the file's size if none does."""
    if at <= 0:
        return 0
    start = max(0, at - len(separator))
    file.seek(start)
    kept, scan = b"", _SCAN
    while start < size and (data := file.read(scan)):
        data = kept + data
        if (found := data.find(separator)) >= 0:
            return start + found + len(separator)
        kept = data[len(data) - len(separator) + 1 :] if len(separator) > 1 else b""
        start += len(data) - len(kept)
        scan = min(2 * scan, 1 << 22)
    return size


class Range:
    """The bytes of a file from one place to another."""

    def __init__(self, file: IO[bytes], start: int, end: int) -> None:
        self._file = file
        self._left = max(0, end - start)
        file.seek(start)

    def read(self, size: int, /) -> bytes:
        """Up to ``size`` bytes; none at the end."""
        data = self._file.read(min(size, self._left)) if self._left else b""
        self._left -= len(data)
        return data
