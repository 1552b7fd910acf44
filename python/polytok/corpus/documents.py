"""The documents of a part of a plan, as a stream of blocks.

Memory does not grow with the file: it holds some megabytes, or one document if that is larger. The same part always
gives the same documents in the same order.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import IO, Any

from ..errors import ArgumentError
from ..reading import Documents, Invalid, Left, Reading
from ..reading.blocks import Block, blocks
from ..reading.choices import Format
from ..reading.documents import damage, documents_of, nothing, schema_of_fields, with_fields
from ..reading.kinds import FIRST, format_of
from ..reading.opened import Content, Damaged, begun, decompressed, is_compressed
from ..reading.tables import TextColumn, open_table, pyarrow_for, table_documents
from .plan import Part
from .ranges import Range, border, separator_of
from .sources import Source, opened

__all__ = ["Documents", "Left", "documents", "schema_of"]


def documents(part: Part, source: Source, reading: Reading, columns: Sequence[str] = ()) -> Iterator[Documents]:
    """The documents of a part, some megabytes at a time, and reports of the documents skipped between them.

    ``columns`` names columns to return with the texts: those of Parquet and Arrow keep their types, those of JSON lines
    become strings.

    Raises `FileError` if the file has changed since the job was planned; `FormatError` if it is damaged (with
    ``broken="skip"``, the texts before the damage are given and the loss is reported) or has a broken record;
    `EncodeError` for a text that is not UTF-8, unless ``invalid`` is "replace" or "skip".
    """
    with opened(source) as opened_file:
        file, first = begun(opened_file, FIRST)
        try:
            yield from _found(part, source, file, first, reading, columns)
        except Damaged as error:  # the file is damaged at its very beginning
            yield nothing(damage(error, reading, source.name))


def schema_of(source: Source, reading: Reading, columns: Sequence[str]) -> Any:
    """The pyarrow.Schema of the columns that `documents` gives.

    Raises what `documents` raises, and `Damaged`. Raises `ArgumentError` if none of the first JSON lines has a field of
    that name, because the name is probably a mistake.
    """
    with opened(source) as opened_file:
        file, first = begun(opened_file, FIRST)
        format = format_of(source.name, first, reading.format)
        if format in ("parquet", "arrow"):
            schema = open_table(source.name, file, first, format).schema
            return TextColumn(source.name, schema, reading.field, columns).schema
    _check_has_columns(source.name, format, columns)
    _check_has_fields(source, reading, columns)
    return schema_of_fields(columns, pyarrow_for(source.name))


def _found(
    part: Part, source: Source, file: IO[bytes], first: bytes, reading: Reading, columns: Sequence[str]
) -> Iterator[Documents]:
    format = format_of(source.name, first, reading.format)
    invalid: Invalid = reading.invalid or "error"
    if format in ("parquet", "arrow"):
        groups = range(part.start, part.end) if part.unit == "groups" else None
        yield from table_documents(
            source.name, file, first, format, reading, invalid=invalid, columns=columns, groups=groups
        )
        return
    found = blocks(*_content(part, source, file, first, reading, format), reading, format)
    if columns:
        found = _with_columns(found, source.name, format, columns)
    yield from documents_of(found, reading, invalid, partial(_byte, source.name), is_json=format == "jsonl")


def _check_has_columns(name: str, format: Format, columns: Sequence[str]) -> None:
    if format == "text":
        raise ArgumentError(f"{name} is text and has no columns: leave columns={list(columns)} out")


def _check_has_fields(source: Source, reading: Reading, columns: Sequence[str]) -> None:
    part = Part(0, 0, source.size, "whole", source.size)
    first = next((found for found in documents(part, source, reading, columns) if len(found)), None)
    for name in columns:
        if first is not None and first.columns[name].null_count == len(first):
            raise ArgumentError(
                f"{source.name}: none of the first {len(first):,} records has a field {name!r}: is that its "
                "name? If only other inputs have it, name one of them first"
            )


def _byte(name: str, number: int) -> str:
    return f"{name}: byte {number}"


def _content(
    part: Part, source: Source, file: IO[bytes], first: bytes, reading: Reading, format: Format
) -> tuple[Content, int]:
    """The bytes of the texts of a part, and the position of the first byte."""
    if part.unit != "bytes":
        return decompressed(source.name, file, first), 0
    separator = separator_of(reading, format)
    if separator is None or is_compressed(first):
        raise ArgumentError(f"{source.name} is planned as ranges of bytes, and cannot be read so: plan anew")
    start, end = (border(file, at, source.size, separator) for at in (part.start, part.end))
    return Range(file, start, end), start


def _with_columns(found: Iterator[Block], name: str, format: Format, columns: Sequence[str]) -> Iterator[Block]:
    _check_has_columns(name, format, columns)
    return with_fields(found, columns, pyarrow_for(name))
