"""Splits files into blocks: some megabytes of texts, with the position of each text in its file.

No byte is read twice, and memory holds only one block. A text longer than a block makes its block longer, up to the
limit of ``max_record_bytes``: of a longer record, memory holds only the bytes up to the limit, however far the file
expands when it is decompressed. The number of texts in a block is limited too, because an empty line is one byte of a
file but needs 70 bytes of memory.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import _core
from .choices import Format, InputOptions
from .skipped import too_long_reason
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

    def without(self, reasons: dict[int, str]) -> Block:
        """Returns the block without some texts, which are skipped: ``reasons`` has a reason for each of their rows."""
        is_kept = np.ones(len(self.numbers), bool)
        is_kept[list(reasons)] = False
        rows = np.flatnonzero(is_kept)
        skipped = [(int(self.numbers[row]), reason) for row, reason in reasons.items()]
        columns = None if self.columns is None else self.columns.take(rows)
        return replace(
            self,
            texts=self.texts.take(rows),
            numbers=self.numbers[rows],
            skipped=sorted([*self.skipped, *skipped]),
            columns=columns,
        )


def text_terminator(input_options: InputOptions, format: Format) -> bytes | None:
    """Returns the bytes that end each text of a file; None for a file with one text, and for a table."""
    if format == "jsonl" or (format == "text" and input_options.lines):
        return b"\n"
    return None if format != "text" or input_options.separator is None else input_options.separator.encode()


def _choose_splitter(input_options: InputOptions, format: Format) -> Splitter:
    """Returns the function that splits a text file, or JSON lines, into texts."""
    if format == "jsonl":
        names, max_bytes = input_options.names, input_options.max_record_bytes
        return lambda data, is_last: _core.cut_json_lines(data, names, is_last, max_bytes)
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

    Records of more than ``max_record_bytes`` are skipped. Raises `DamageError` after the last text before damage, and
    any error of reading the stream.
    """
    splitter = _choose_splitter(input_options, format)
    if (separator := text_terminator(input_options, format)) is not None:
        content = _LimitedContent(content, separator)
    for block in _split_blocks(content, start, splitter, separator, input_options.max_record_bytes):
        yield without_long_texts(block, input_options.max_record_bytes)


def without_long_texts(block: Block, max_bytes: int) -> Block:
    """Returns a block without the texts that are longer than the limit, which are skipped."""
    if block.texts.longest <= max_bytes:
        return block
    rows = np.flatnonzero(block.texts.ends - block.texts.starts > max_bytes)
    return block.without(dict.fromkeys(map(int, rows), too_long_reason(max_bytes)))


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


def _split_blocks(
    content: Content, start: int, splitter: Splitter, separator: bytes | None, max_bytes: int
) -> Iterator[Block]:
    remaining_data = b""
    size = BLOCK_BYTES
    max_open_bytes = max_bytes + len(separator or b"x") - 1  # the first bytes of a separator can follow the record
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
        if not byte_count and len(data) > max_open_bytes:
            reason = too_long_reason(max_bytes)
            if separator is None:  # the rest of the file belongs to the same text
                yield _block_without_texts(data, start, len(data), reason)
                return
            start, remaining_data = yield from _skip_record(content, start, data, separator, reason)
        # An incomplete text is split again after each read; doubling the size keeps the total time linear.
        size = min(len(remaining_data), max_open_bytes + 1 - len(remaining_data))
        size = BLOCK_BYTES if byte_count else max(BLOCK_BYTES, size)


def _skip_record(
    content: Content, start: int, data: bytes, separator: bytes, reason: str | None
) -> Generator[Block, None, tuple[int, bytes]]:
    """Reads a record to its end without keeping it; ``data`` has its first bytes.

    Yields blocks without texts, the first of which reports the record. Returns the position after the record, and the
    bytes that were read after it.
    """
    while (offset := data.find(separator)) < 0 and (new_data := content.read(BLOCK_BYTES)):
        byte_count = max(0, len(data) - len(separator) + 1)  # the first bytes of a separator can be at the end
        yield _block_without_texts(data, start, byte_count, reason)
        start, data, reason = start + byte_count, data[byte_count:] + new_data, None
    byte_count = len(data) if offset < 0 else offset + len(separator)
    yield _block_without_texts(data, start, byte_count, reason)
    return start + byte_count, data[byte_count:]


def _block_without_texts(data: bytes, start: int, byte_count: int, reason: str | None) -> Block:
    """Returns a block of bytes that are skipped; with a reason, it reports the record at ``start``."""
    skipped = [] if reason is None else [(start, reason)]
    return Block(_core.Texts.of_list([]), np.zeros(0, np.int64), skipped, data, start, start + byte_count)
