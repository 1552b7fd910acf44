"""Files of training texts: the texts that `polytok.reading` finds in them, and a file that is one text, in parts.

Trainers that count words as they are read accept a text of any length, so such a file is never held as a whole.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from typing import IO, Any

from ..errors import ArgumentError, FileError, FormatError, PolytokError
from ..reading import Documents, Invalid, Reading, SkippedText, remote
from ..reading.blocks import Block, blocks
from ..reading.documents import damage_report, documents_of
from ..reading.kinds import FIRST, format_of
from ..reading.names import is_url
from ..reading.streams import Content, Damaged, decompress, peek_first_bytes
from ..reading.tables import table_documents
from .counting import COUNTS

_CHUNK = 1 << 22


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a text; the remainder follows unless it is the last part. ``place`` is for reports."""

    data: bytes
    is_last: bool
    place: str


Found = Documents | Part | SkippedText
"""Texts of a file, or a part of one, or the report of a missing one."""


def open_file(name: str) -> IO[bytes]:
    """Open a file for reading; FileError if it does not exist."""
    if is_url(name):
        return remote.open_url(name, can_seek=remote.can_read_ranges(name))
    try:
        return open(name, "rb")
    except OSError as error:
        raise FileError(error.errno, f"cannot read: {error.strerror}", name) from error


def read(name: str, given: Any, reading: Reading, invalid: Invalid) -> Iterator[Found]:
    """The content of an open file of bytes or of characters. Parts are unchanged, texts are checked."""
    try:
        with remote.translated_errors(name) if is_url(name) else nullcontext():
            yield from _found(name, given, reading, invalid)
    except PolytokError:
        raise
    except OSError as error:
        raise FileError(error.errno, f"cannot read: {error.strerror or error}", name) from error
    except ValueError as error:
        raise FormatError(f"{name} cannot be read: {error}") from error


def _found(name: str, given: Any, reading: Reading, invalid: Invalid) -> Iterator[Found]:
    file, first = peek_first_bytes(given, max(FIRST, len(COUNTS)))
    if first.startswith(COUNTS):
        raise ArgumentError(
            f"{name} is a file of counts, and is taken for texts here: train from a list of such files and nothing "
            "else, or add them up with Counts.load (count-words --merge)"
        )
    format = format_of(name, first, reading.format)
    if format in ("parquet", "arrow"):
        yield from table_documents(name, file, first, format, reading, invalid=invalid)
        return
    content = decompress(name, file, first)
    if format == "text" and reading.unit == "file":
        yield from _parts(name, content, reading)
        return
    lines = _Lines(name)
    found = lines.watch(blocks(content, 0, reading, format))
    yield from documents_of(found, reading, invalid, lines.place, is_json=format == "jsonl")


class _Lines:
    """Describes lines of a file, that is of the current block, by their bytes."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._before = 1
        self._block: Block | None = None

    def watch(self, found: Iterator[Block]) -> Iterator[Block]:
        for block in found:
            self._block = block
            yield block
            self._before += block.data.count(b"\n", 0, block.end - block.start)
            self._block = None

    def place(self, number: int) -> str:
        block = self._block
        inner = block.data.count(b"\n", 0, number - block.start) if block else 0
        return f"{self._name}:{self._before + inner}"


def _parts(name: str, content: Content, reading: Reading) -> Iterator[Part | SkippedText]:
    """A whole file as one text; of a damaged file, the content before the damage."""
    data, lost = _next(name, content, reading)
    while data:
        following, lost = _next(name, content, reading)
        yield Part(data, not following, name)
        data = following
    if lost:
        yield lost


def _next(name: str, content: Content, reading: Reading) -> tuple[bytes, SkippedText | None]:
    try:
        return content.read(_CHUNK), None
    except Damaged as error:
        return b"", damage_report(error, reading, name)


def picked(record: Any, names: list[str], place: str) -> tuple[bytes | str, str] | SkippedText:
    """A field of a record by its path; a record that is a text is its own field."""
    value = record
    for name in () if isinstance(record, (str, bytes)) else names:
        value = value.get(name) if isinstance(value, dict) else None
    if isinstance(value, (str, bytes)):
        return value, place
    field = ".".join(names)
    return SkippedText(f"no field {field!r}" if value is None else f"the field {field!r} is no text", place)
