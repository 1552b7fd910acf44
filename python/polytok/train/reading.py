"""Training texts as they stand in files: which bytes are a text, without an opinion on what is done with them.

A file's compression and whether it is Parquet are told by its first bytes; that it is JSON lines, by its name. Nothing
is read twice and nothing longer than a text is held, and not even that where a text may be handed on in parts.
"""

from __future__ import annotations

import importlib
import json
import lzma
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Literal

from ..errors import ArgumentError, FileError, FormatError
from .counting import COUNTS
from .opened import begun, decompressed

Format = Literal["text", "jsonl", "parquet"]
Unit = Literal["file", "line"]

_CHUNK = 1 << 22
_PARQUET = b"PAR1"
_JSON_LINES = (".jsonl", ".ndjson", ".jsonlines")
_COMPRESSED = (".gz", ".zst", ".zstd", ".bz2", ".xz")


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a text, the rest of which follows unless it is the last; ``place`` is for reports."""

    data: bytes
    is_last: bool
    place: str


@dataclass(frozen=True, slots=True)
class Left:
    """A text that is not there, and why."""

    reason: str
    place: str


Found = tuple[bytes | str, str] | Part | Left
"""A text with its place, or a part of one, or the lack of one."""


def format_of(path: Path) -> Format:
    """What the name says."""
    name = path.name.lower()
    for suffix in _COMPRESSED:
        name = name.removesuffix(suffix)
    if name.endswith(_JSON_LINES):
        return "jsonl"
    return "parquet" if name.endswith(".parquet") else "text"


def open_file(path: Path) -> IO[bytes]:
    """A file for reading; FileError if there is none."""
    try:
        return open(path, "rb")
    except OSError as error:
        raise FileError(error.errno, f"cannot read: {error.strerror}", str(path)) from error


def read(path: Path, given: Any, format: Format | None, field: str, unit: Unit) -> Iterator[Found]:
    """The texts of a file that is open, be it one of bytes or of characters."""
    try:
        yield from _found(path, given, format, field, unit)
    except (lzma.LZMAError, EOFError, ValueError, OSError) as error:
        if isinstance(error, (FormatError, ArgumentError, FileError)):
            raise
        if isinstance(error, OSError) and error.errno is not None:
            raise FileError(error.errno, f"cannot read: {error.strerror}", str(path)) from error
        raise FormatError(f"{path} cannot be decompressed: {error}") from error


def _found(path: Path, given: Any, format: Format | None, field: str, unit: Unit) -> Iterator[Found]:
    file, first = begun(given, len(COUNTS))
    if first == COUNTS:
        raise ArgumentError(
            f"{path} is a file of counts, and is taken for texts here: train from a list of such files and nothing "
            "else, or add them up with Counts.load (count-words --merge)"
        )
    if format == "parquet" or (format is None and first.startswith(_PARQUET)):
        yield from _parquet(path, file, field)
        return
    chosen = format or format_of(path)
    content = decompressed(path, file, first)
    if chosen == "parquet":
        raise FormatError(f"{path} does not begin as a Parquet file does")
    if chosen == "jsonl":
        yield from _json_lines(path, content, field)
    elif unit == "line":
        yield from ((line, f"{path}:{number}") for number, line in enumerate(_lines(content), 1))
    else:
        yield from _parts(path, content)


def _parts(path: Path, content: IO[bytes]) -> Iterator[Found]:
    """A whole file as one text."""
    data = content.read(_CHUNK)
    while data:
        following = content.read(_CHUNK)
        yield Part(data, not following, str(path))
        data = following


def _lines(content: IO[bytes]) -> Iterator[bytes]:
    """Lines without their line feeds, of any length. A line feed at the end does not begin another line."""
    begun: list[bytes] = []
    while data := content.read(_CHUNK):
        first, *others = data.split(b"\n")
        begun.append(first)
        if others:
            yield b"".join(begun)
            begun = [others.pop()]
            yield from others
    if last := b"".join(begun):
        yield last


def _json_lines(path: Path, content: IO[bytes], field: str) -> Iterator[Found]:
    names = field.split(".")
    for number, line in enumerate(_lines(content), 1):
        if not line.strip():
            continue
        place = f"{path}:{number}"
        try:
            record = json.loads(line)
        except (ValueError, RecursionError) as error:
            yield Left(f"not JSON: {error}", place)
            continue
        yield picked(record, names, place)


def picked(record: Any, names: list[str], place: str) -> Found:
    """A field of a record by its path; a record that is a text is its own."""
    value = record
    for name in () if isinstance(record, (str, bytes)) else names:
        value = value.get(name) if isinstance(value, dict) else None
    if isinstance(value, (str, bytes)):
        return value, place
    field = ".".join(names)
    return Left(f"no field {field!r}" if value is None else f"the field {field!r} is no text", place)


def _parquet(path: Path, file: IO[bytes], field: str) -> Iterator[Found]:
    try:
        arrow = importlib.import_module("pyarrow")
        parquet = importlib.import_module("pyarrow.parquet")
    except ImportError as error:
        raise ArgumentError(f"{path} is a Parquet file: pip install 'polytok[parquet]' to read it") from error
    names = field.split(".")
    try:
        table = parquet.ParquetFile(file)
        if names[0] not in table.schema_arrow.names:
            known = ", ".join(map(repr, table.schema_arrow.names))
            raise ArgumentError(f"{path} has no column {names[0]!r} but {known}: name one as the field")
        row = 0
        for batch in table.iter_batches(batch_size=4096, columns=[field]):
            for record in batch.to_pylist():
                yield picked(record, names, f"{path}: row {row}")
                row += 1
    except arrow.ArrowException as error:
        raise FormatError(f"{path} cannot be read as Parquet: {error}") from error
