"""Blocks of texts: some megabytes of a file, cut into its texts, with the place of each.

Nothing is read twice, and nothing is held but one block; a text that is longer than a block makes that block longer. A
block ends at so many texts, too: an empty line is one byte of a file, and 70 bytes of what is known of its text.
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
    """Texts of a file in their order, and what was left out between them.

    ``numbers`` says where each text's record begins, int64: its byte in the file's (decompressed) content, or its row
    in a table; ``left`` are such numbers with reasons. From the number ``start`` to ``end`` all texts are told.
    ``data`` is what was cut, from ``start`` on; for tables it is empty. ``columns`` is what goes with the texts.
    """

    texts: _core.Texts
    numbers: npt.NDArray[np.int64]
    left: list[tuple[int, str]]
    data: bytes = b""
    start: int = 0
    end: int = 0
    columns: Any = None


def end_of_text(reading: Reading, format: Format) -> bytes | None:
    """What ends each text of a file; None where the file is one, or is a table."""
    if format == "jsonl" or (format == "text" and reading.unit == "line"):
        return b"\n"
    return None if format != "text" or reading.separator is None else reading.separator.encode()


def _cutter_of(reading: Reading, format: Format) -> Cutter:
    """What cuts a text file, or JSON lines, into texts."""
    if format == "jsonl":
        return lambda data, is_last: _core.cut_json_lines(data, reading.names, is_last)
    if reading.unit == "line":
        return lambda data, is_last: (*_core.cut_lines(data, is_last), [])
    if (separator := end_of_text(reading, format)) is not None:
        return lambda data, is_last: (*_core.cut_separated(data, separator, is_last), [])
    return _whole


def _whole(data: bytes, is_last: bool) -> Cut:
    """The whole file, once it is there."""
    return (_core.Texts.whole(data), len(data), []) if is_last else (_core.Texts.of_list([]), 0, [])


def blocks(content: Content, start: int, reading: Reading, format: Format) -> Iterator[Block]:
    """The texts of a stream, text or JSON lines, the first byte of which has the number ``start``.

    Raises `Damaged` behind the last text before a damage, and what reading the stream raises.
    """
    cut = _cutter_of(reading, format)
    if (separator := end_of_text(reading, format)) is not None:
        content = _Portions(content, separator)
    yield from _blocks(content, start, cut)


class _Portions:
    """Content of which no read has more separators than a block may have texts."""

    def __init__(self, content: Content, separator: bytes) -> None:
        self._content = content
        self._separator = separator
        self._data = b""
        self._at = 0

    def read(self, size: int, /) -> bytes:
        """Bytes, as many or fewer; none at the end."""
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
        # A text that is not whole yet is cut again each time; doubling keeps that linear.
        size = BLOCK if consumed else max(BLOCK, len(data))
