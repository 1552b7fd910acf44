"""Reads the texts of a file, of any format. A file that is a single text is read in parts.

Trainers that count words accept a text in parts, so memory never holds such a file as a whole.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from typing import IO, Any

from ..errors import FileError, FormatError, PolytokError
from ..files import similar_file
from ..keywords import keyword
from . import remote
from .blocks import Block, blocks
from .choices import BadBytes, Format, InputOptions
from .documents import Documents, add_field_columns, apply_input_options, damaged_documents
from .fields import refuse_missing_fields
from .kinds import FIRST_BYTE_COUNT, format_of
from .names import is_url
from .streams import Content, DamageError, decompress, peek_first_bytes
from .tables import require_pyarrow, table_documents

_PART_BYTES = 1 << 22


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a text. ``is_last`` is true for the last part of the text; ``place`` names the file for reports.

    A text in parts can be of any length. ``max_open_bytes`` limits the bytes that a reader of parts keeps from one part
    to the next.
    """

    data: bytes
    is_last: bool
    place: str
    max_open_bytes: int

    def check_open(self, open_bytes: int) -> None:
        """Raises `FormatError` if the reader keeps more bytes of this part and earlier parts than the limit allows."""
        if open_bytes > self.max_open_bytes:
            raise FormatError(
                f"{self.place}: {open_bytes} bytes of the text must be in memory together, more than "
                f"{keyword('max_record_bytes', self.max_open_bytes)} allows; raise this limit"
            )


def open_file(name: str) -> IO[bytes]:
    """Opens a file or URL for reading. Raises `FileError` if the file cannot be opened."""
    if is_url(name):
        return remote.open_url(name, can_seek=remote.can_read_ranges(name))
    try:
        return open(name, "rb")
    except OSError as error:
        advice = similar_file(name) if isinstance(error, FileNotFoundError) else ""
        raise FileError(error.errno, f"cannot read: {error.strerror}{advice}", name) from error


def read(
    name: str, file: Any, input_options: InputOptions, bad_bytes: BadBytes, columns: Sequence[str] = ()
) -> Iterator[Documents]:
    """Yields the texts of an open binary file or text file, in blocks.

    ``columns`` names fields to return with the texts of JSON lines and tables; texts of text files have no columns.

    Raises `MissingColumnError` after the last text if no record of the file has one of ``columns``; `FileError` if
    reading fails, and the errors of `polytok.reading`.
    """
    with translate_errors(name):
        yield from _read_documents(name, *_open_content(name, file, input_options), input_options, bad_bytes, columns)


def read_in_parts(name: str, file: Any, input_options: InputOptions, bad_bytes: BadBytes) -> Iterator[Documents | Part]:
    """Yields the texts of a file as `read` does, but yields a file that is a single text in parts.

    The bytes of parts are not checked.
    """
    with translate_errors(name):
        opened_file, first_bytes, format = _open_content(name, file, input_options)
        if format == "text" and input_options.is_whole_file:
            yield from _read_parts(name, decompress(name, opened_file, first_bytes), input_options)
        else:
            yield from _read_documents(name, opened_file, first_bytes, format, input_options, bad_bytes)


@contextmanager
def translate_errors(name: str) -> Iterator[None]:
    """Raises errors of reading the file in this context as `FileError` or `FormatError` that name the file."""
    try:
        with remote.translate_errors(name) if is_url(name) else nullcontext():
            yield
    except PolytokError:
        raise
    except OSError as error:
        raise FileError(error.errno, f"cannot read: {error.strerror or error}", name) from error
    except ValueError as error:
        raise FormatError(f"{name} cannot be read: {error}") from error


def _open_content(name: str, file: Any, input_options: InputOptions) -> tuple[IO[bytes], bytes, Format]:
    opened_file, first_bytes = peek_first_bytes(file, FIRST_BYTE_COUNT)
    return opened_file, first_bytes, format_of(name, first_bytes, input_options.input_format)


def _read_documents(
    name: str,
    file: IO[bytes],
    first_bytes: bytes,
    format: Format,
    input_options: InputOptions,
    bad_bytes: BadBytes,
    columns: Sequence[str] = (),
) -> Iterator[Documents]:
    if format in ("parquet", "arrow"):
        yield from table_documents(name, file, first_bytes, format, input_options, bad_bytes=bad_bytes, columns=columns)
        return
    line_counter = _LineCounter(name)
    file_blocks = line_counter.watch(blocks(decompress(name, file, first_bytes), 0, input_options, format))
    if columns and format == "jsonl":
        file_blocks = add_field_columns(file_blocks, columns, require_pyarrow(name))
    if format == "jsonl":
        file_blocks = refuse_missing_fields(name, file_blocks, input_options.field, columns)
    yield from apply_input_options(file_blocks, input_options, bad_bytes, line_counter.place, is_json=format == "jsonl")


class _LineCounter:
    """Counts the lines of a file, so that reports name the line of a text instead of its byte offset."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._line = 1  # the line at `_position`
        self._position = 0
        self._block: Block | None = None

    def watch(self, blocks: Iterator[Block]) -> Iterator[Block]:
        """Yields the blocks unchanged and counts their lines."""
        for block in blocks:
            first_line, self._position, self._block = self._line, block.start, block
            yield block
            self._line = first_line + block.data.count(b"\n", 0, block.end - block.start)
            self._block = None

    def place(self, position: int) -> str:
        """Returns the name of the file and the line of a position in the current block.

        Only the bytes since the position of the last call are read, so the places of all texts cost little.
        """
        if block := self._block:
            start, end = sorted((self._position - block.start, position - block.start))
            line_count = block.data.count(b"\n", start, end)
            self._line += line_count if position >= self._position else -line_count
            self._position = position
        return f"{self._name}:{self._line}"


def _read_parts(name: str, content: Content, input_options: InputOptions) -> Iterator[Documents | Part]:
    """Yields the parts of a file that is a single text; for a damaged file, the parts before the damage."""
    data, damage = _read_part(content, input_options)
    while data:
        next_data, damage = _read_part(content, input_options)
        yield Part(data, not next_data, name, input_options.max_record_bytes)
        data = next_data
    if damage is not None:
        yield damage


def _read_part(content: Content, input_options: InputOptions) -> tuple[bytes, Documents | None]:
    try:
        return content.read(_PART_BYTES), None
    except DamageError as error:
        return b"", damaged_documents(error, input_options)
