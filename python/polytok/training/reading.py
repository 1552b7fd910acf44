"""Reads files of training texts with `polytok.reading`, and reads a file that is a single text in parts.

Trainers that count words accept a text in parts, so memory never holds such a file as a whole.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from typing import IO, Any

from ..errors import ArgumentError, FileError, FormatError, PolytokError
from ..reading import BadBytes, Documents, InputOptions, SkippedText, remote
from ..reading.blocks import Block, blocks
from ..reading.documents import apply_input_options, damage_report
from ..reading.kinds import FIRST_BYTE_COUNT, format_of
from ..reading.names import is_url
from ..reading.streams import Content, DamageError, decompress, peek_first_bytes
from ..reading.tables import table_documents
from .counting import COUNTS_MAGIC

_PART_BYTES = 1 << 22


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a text. ``is_last`` is true for the last part of the text; ``place`` names the file for reports."""

    data: bytes
    is_last: bool
    place: str


ReadResult = Documents | Part | SkippedText
"""Texts of a file, a part of a text, or the report of a skipped text."""


def open_file(name: str) -> IO[bytes]:
    """Opens a file or URL for reading. Raises `FileError` if the file cannot be opened."""
    if is_url(name):
        return remote.open_url(name, can_seek=remote.can_read_ranges(name))
    try:
        return open(name, "rb")
    except OSError as error:
        raise FileError(error.errno, f"cannot read: {error.strerror}", name) from error


def read(name: str, file: Any, input_options: InputOptions, bad_bytes: BadBytes) -> Iterator[ReadResult]:
    """Yields the texts of an open binary file or text file, or the parts of a single text, which are not checked.

    Raises `FileError` if reading fails, and the errors of `polytok.reading`.
    """
    try:
        with remote.translate_errors(name) if is_url(name) else nullcontext():
            yield from _read_texts(name, file, input_options, bad_bytes)
    except PolytokError:
        raise
    except OSError as error:
        raise FileError(error.errno, f"cannot read: {error.strerror or error}", name) from error
    except ValueError as error:
        raise FormatError(f"{name} cannot be read: {error}") from error


def _read_texts(name: str, opened_file: Any, input_options: InputOptions, bad_bytes: BadBytes) -> Iterator[ReadResult]:
    file, first_bytes = peek_first_bytes(opened_file, max(FIRST_BYTE_COUNT, len(COUNTS_MAGIC)))
    if first_bytes.startswith(COUNTS_MAGIC):
        raise ArgumentError(
            f"{name} is a file of counts, but texts are expected here: to train from counts, name only files of "
            "counts; to add counts up, use Counts.load (count-words --merge)"
        )
    format = format_of(name, first_bytes, input_options.input_format)
    if format in ("parquet", "arrow"):
        yield from table_documents(name, file, first_bytes, format, input_options, bad_bytes=bad_bytes)
        return
    content = decompress(name, file, first_bytes)
    if format == "text" and not input_options.lines and input_options.separator is None:
        yield from _read_parts(name, content, input_options)
        return
    line_counter = _LineCounter(name)
    counted_blocks = line_counter.watch(blocks(content, 0, input_options, format))
    yield from apply_input_options(
        counted_blocks, input_options, bad_bytes, line_counter.place, is_json=format == "jsonl"
    )


class _LineCounter:
    """Counts the lines of a file, so that reports name the line of a text instead of its byte offset."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._first_line = 1
        self._block: Block | None = None

    def watch(self, blocks: Iterator[Block]) -> Iterator[Block]:
        """Yields the blocks unchanged and counts their lines."""
        for block in blocks:
            self._block = block
            yield block
            self._first_line += block.data.count(b"\n", 0, block.end - block.start)
            self._block = None

    def place(self, position: int) -> str:
        """Returns the name of the file and the line of a position in the current block."""
        block = self._block
        lines_before = block.data.count(b"\n", 0, position - block.start) if block else 0
        return f"{self._name}:{self._first_line + lines_before}"


def _read_parts(name: str, content: Content, input_options: InputOptions) -> Iterator[Part | SkippedText]:
    """Yields the parts of a file that is a single text; for a damaged file, the parts before the damage."""
    data, damage = _read_part(name, content, input_options)
    while data:
        next_data, damage = _read_part(name, content, input_options)
        yield Part(data, not next_data, name)
        data = next_data
    if damage:
        yield damage


def _read_part(name: str, content: Content, input_options: InputOptions) -> tuple[bytes, SkippedText | None]:
    try:
        return content.read(_PART_BYTES), None
    except DamageError as error:
        return b"", damage_report(error, input_options, name)


def text_of_record(record: Any, names: list[str], place: str) -> tuple[bytes | str, str] | SkippedText:
    """Returns the text of a record and its place: the field at the path ``names``, or the record if it is a text.

    Returns a `SkippedText` if the record has no such field, or if the field is not a text.
    """
    value = record
    for name in () if isinstance(record, (str, bytes)) else names:
        value = value.get(name) if isinstance(value, dict) else None
    if isinstance(value, (str, bytes)):
        return value, place
    field = ".".join(names)
    return SkippedText(f"no field {field!r}" if value is None else f"the field {field!r} is not a text", place)
