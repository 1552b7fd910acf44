"""Finds the texts that begin in a byte range of a file.

Reading a range starts with the first text that begins at or after the start of the range, and stops before the first
text that begins at or after the end of the range. Where a text begins depends only on the file. So adjacent ranges
neither miss nor repeat a text, wherever the file was split.
"""

from __future__ import annotations

from typing import IO

from ..reading import Format, InputOptions
from ..reading.blocks import text_terminator

_FIRST_SCAN_BYTES = 1 << 16


def separator_of(input_options: InputOptions, format: Format) -> bytes | None:
    """Returns the bytes that end each text of a file; None if the file cannot be split into ranges.

    A file cannot be split if its separator can overlap itself, because which occurrences separate texts then depends on
    all preceding bytes. For example, a separator of two line feeds overlaps itself in a run of five line feeds.

    >>> separator_of(InputOptions(lines=True), "text"), separator_of(InputOptions(separator="<|a|>"), "text")
    (b'\\n', b'<|a|>')
    >>> separator_of(InputOptions(separator="aba"), "text")
    """
    separator = text_terminator(input_options, format)
    if separator is None:
        return None
    overlaps = any(separator.startswith(separator[start:]) for start in range(1, len(separator)))
    return None if overlaps else separator


def next_text_start(file: IO[bytes], position: int, size: int, separator: bytes) -> int:
    """Returns the start of the first text that begins at or after ``position``; ``size``, the file's size, if no text
    does."""
    if position <= 0:
        return 0
    start = max(0, position - len(separator))
    file.seek(start)
    overlap, scan_bytes = b"", _FIRST_SCAN_BYTES
    while start < size and (data := file.read(scan_bytes)):
        data = overlap + data
        if (offset := data.find(separator)) >= 0:
            return start + offset + len(separator)
        overlap = data[len(data) - len(separator) + 1 :] if len(separator) > 1 else b""
        start += len(data) - len(overlap)
        scan_bytes = min(2 * scan_bytes, 1 << 22)
    return size


class RangeReader:
    """Reads the bytes of a file from position ``start`` to ``end``."""

    def __init__(self, file: IO[bytes], start: int, end: int) -> None:
        self._file = file
        self._remaining = max(0, end - start)
        file.seek(start)

    def read(self, size: int, /) -> bytes:
        """Reads up to ``size`` bytes; returns no bytes at the end of the range."""
        data = self._file.read(min(size, self._remaining)) if self._remaining else b""
        self._remaining -= len(data)
        return data
