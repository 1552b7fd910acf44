"""Blocks of texts: some megabytes of a file, split into its texts, with the place of each of them.

Nothing is read twice, and only one block is held; a text longer than a block makes that block longer. The number of
texts in a block is limited too: an empty line is one byte of a file, but needs 70 bytes of bookkeeping.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import _core
from .choices import Format, Reading
from .opened import Content

BLOCK = 1 << 21
MOST_TEXTS = 1 << 17

Cut = tuple[_core.Texts, int, list[tuple[int, str]]]
Cutter = Callable[[bytes, bool], Cut]


@dataclass(frozen=True, slots=True)
class Block:
    """Texts of a file in order, and reports of what was skipped between them.

    ``numbers`` has the beginning of each text's record, int64: its byte in the file's (decompressed) content, or its
    row in a table. ``left`` has such numbers with reasons. Every text from number ``start`` to ``end`` is in one of
    them. ``data`` is the bytes that were split, from ``start`` on; for tables it is empty. ``columns`` has the columns
    of the texts.
    """

    texts: _core.Texts
    numbers: npt.NDArray[np.int64]
    left: list[tuple[int, str]]
    data: bytes = b""
    start: int = 0
    end: int = 0
    columns: Any = None


def end_of_text(reading: Reading, format: Format) -> bytes | None:
    """What ends each text of a file; None if the file is a single text, or a table."""
    if format == "jsonl" or (format == "text" and reading.unit == "line"):
        return b"\n"
    return None if format != "text" or reading.separator is None else reading.separator.encode()


def _cutter_of(reading: Reading, format: Format) -> Cutter:
    """The splitter of a text file, or of JSON lines, into texts."""
    if format == "jsonl":
        return lambda data, is_last: _core.cut_json_lines(data, reading.names, is_last)
    if reading.unit == "line":
        return lambda data, is_last: (*_core.cut_lines(data, is_last), [])
    if (separator := end_of_text(reading, format)) is not None:
        return lambda data, is_last: (*_core.cut_separated(data, separator, is_last), [])
    return _whole


def _whole(data: bytes, is_last: bool) -> Cut:
    """The whole file, once it is complete."""
    return (_core.Texts.whole(data), len(data), []) if is_last else (_core.Texts.of_list([]), 0, [])


def blocks(content: Content, start: int, reading: Reading, format: Format) -> Iterator[Block]:
    """The texts of a stream, text or JSON lines; the number of its first byte is ``start``.

    Raises `Damaged` after the last text before a damage, and any error of reading the stream.
    """
    cut = _cutter_of(reading, format)
    if (separator := end_of_text(reading, format)) is not None:
        content = _Portions(content, separator)
    yield from _blocks(content, start, cut)


class _Portions:
    """Content whose reads never have more separators than the number of texts in a block."""

    def __init__(self, content: Content, separator: bytes) -> None:
        self._content = content
        self._separator = separator
        self._data = b""
        self._at = 0

    def read(self, size: int, /) -> bytes:
        """Up to ``size`` bytes; none at the end."""
        if self._at == len(self._data):
            self._data, self._at = self._content.read(size), 0
        begin, self._at = self._at, _core.end_of_texts(self._data, self._at, self._separator, MOST_TEXTS)
        return self._data[begin : self._at]


def _blocks(content: Content, start: int, cut: Cutter) -> Iterator[Block]:
    rest = b""
    size = BLOCK
    while True:
        read = content.read(size)
        data = rest + read if rest else read
        if not data:
            return
        texts, consumed, left = cut(data, not read)
        end = start + consumed
        numbered = [(start + at, reason) for at, reason in left]
        if consumed:
            yield Block(texts, texts.places + start, numbered, data, start, end)
        if not read:
            return
        start = end
        rest = data[consumed:] if consumed else data
        # An incomplete text is split again each time; doubling keeps that linear.
        size = BLOCK if consumed else max(BLOCK, len(data))
