"""Splits files into blocks: some megabytes of texts, with the position of each text in its file.

No byte is read twice, and memory holds only one block. A text longer than a block makes its block longer. The number of
texts in a block is limited too, because an empty line is one byte of a file but needs 70 bytes of memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import _core
from .choices import Format, InputOptions
from .streams import Content

BLOCK_BYTES = 1 << 21
MAX_BLOCK_TEXTS = 1 << 17

SplitResult = tuple[_core.Texts, int, list[tuple[int, str]]]
"""The complete texts in some bytes, the number of bytes that they cover, and positions and reasons of skipped texts."""
Splitter = Callable[[bytes, bool], SplitResult]
"""A function that splits bytes into texts. Its second argument is true if the file has no more bytes."""


@dataclass(frozen=True, slots=True)
class Block:
    """Consecutive texts of a file, and the texts between them that were skipped.

    ``numbers`` has the number of each text's record, int64 of shape (texts,): the position of its first byte in the
    file's decompressed content, or its row in a table. ``skipped`` has the numbers of skipped texts, with reasons.
    The block covers the records with numbers from ``start`` to ``end - 1``. ``data`` has the bytes from position
    ``start`` on; it is empty for tables. ``columns`` is a pyarrow.Table with a row for each text, or None.
    """

    texts: _core.Texts
    numbers: npt.NDArray[np.int64]
    skipped: list[tuple[int, str]]
    data: bytes = b""
    start: int = 0
    end: int = 0
    columns: Any = None


def text_terminator(input_options: InputOptions, format: Format) -> bytes | None:
    """Returns the bytes that end each text of a file; None for a file with one text, and for a table."""
    if format == "jsonl" or (format == "text" and input_options.lines):
        return b"\n"
    return None if format != "text" or input_options.separator is None else input_options.separator.encode()


def _choose_splitter(input_options: InputOptions, format: Format) -> Splitter:
    """Returns the function that splits a text file, or JSON lines, into texts."""
    if format == "jsonl":
        return lambda data, is_last: _core.cut_json_lines(data, input_options.names, is_last)
    if input_options.lines:
        return lambda data, is_last: (*_core.cut_lines(data, is_last), [])
    if (separator := text_terminator(input_options, format)) is not None:
        return lambda data, is_last: (*_core.cut_separated(data, separator, is_last), [])
    return _split_whole_file


def _split_whole_file(data: bytes, is_last: bool) -> SplitResult:
    """Returns the whole file as one text; returns no text as long as the file is not complete."""
    return (_core.Texts.from_bytes(data), len(data), []) if is_last else (_core.Texts.of_list([]), 0, [])


def blocks(content: Content, start: int, input_options: InputOptions, format: Format) -> Iterator[Block]:
    """Yields the texts of a stream of text or JSON lines in blocks. ``start`` is the position of the first byte.

    Raises `DamageError` after the last text before damage, and any error of reading the stream.
    """
    splitter = _choose_splitter(input_options, format)
    if (separator := text_terminator(input_options, format)) is not None:
        content = _LimitedContent(content, separator)
    yield from _split_blocks(content, start, splitter)


class _LimitedContent:
    """A stream of bytes; each read returns at most `MAX_BLOCK_TEXTS` separators."""

    def __init__(self, content: Content, separator: bytes) -> None:
        self._content = content
        self._separator = separator
        self._data = b""
        self._position = 0

    def read(self, size: int, /) -> bytes:
        """Reads up to ``size`` bytes; returns no bytes at the end."""
        if self._position == len(self._data):
            self._data, self._position = self._content.read(size), 0
        start, self._position = (
            self._position,
            _core.end_of_texts(self._data, self._position, self._separator, MAX_BLOCK_TEXTS),
        )
        return self._data[start : self._position]


def _split_blocks(content: Content, start: int, splitter: Splitter) -> Iterator[Block]:
    remaining_data = b""
    size = BLOCK_BYTES
    while True:
        new_data = content.read(size)
        data = remaining_data + new_data if remaining_data else new_data
        if not data:
            return
        texts, byte_count, skipped_texts = splitter(data, not new_data)
        end = start + byte_count
        skipped_texts = [(start + offset, reason) for offset, reason in skipped_texts]
        if byte_count:
            yield Block(texts, texts.places + start, skipped_texts, data, start, end)
        if not new_data:
            return
        start = end
        remaining_data = data[byte_count:] if byte_count else data
        # An incomplete text is split again after each read; doubling the size keeps the total time linear.
        size = BLOCK_BYTES if byte_count else max(BLOCK_BYTES, len(data))
