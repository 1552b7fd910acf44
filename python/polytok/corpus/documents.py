"""Reads the documents of a part of a plan, in blocks of some megabytes.

Memory holds one block, or one document if the document is larger, so memory does not grow with the file. Reading the
same part again returns the same documents in the same order.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import chain, islice
from typing import IO, Any

from ..errors import ArgumentError
from ..reading import BadBytes, Documents, InputOptions, SkippedText
from ..reading.blocks import Block, blocks
from ..reading.choices import Format
from ..reading.documents import (
    add_field_columns,
    apply_input_options,
    create_fields_schema,
    damaged_documents,
)
from ..reading.fields import no_fields_error, refuse_missing_fields
from ..reading.kinds import FIRST_BYTE_COUNT, format_of
from ..reading.streams import Content, DamageError, decompress, is_compressed, peek_first_bytes
from ..reading.tables import TextColumn, open_table, require_pyarrow, table_documents
from .plan import Part
from .ranges import RangeReader, next_text_start, separator_of
from .sources import Source, open_source

_MAX_CHECKED_SOURCES = 100

__all__ = ["Documents", "SkippedText", "documents", "schema_of"]


def documents(
    part: Part,
    source: Source,
    input_options: InputOptions,
    columns: Sequence[str] = (),
    *,
    needs_field: bool = False,
) -> Iterator[Documents]:
    """Yields the documents of a part in blocks of some megabytes; each block lists the documents that were skipped.

    ``columns`` names columns to return with the texts. Columns of Parquet and Arrow files keep their types; fields of
    JSON lines are converted to strings. The documents of text files, which have no fields, have no columns.

    With ``needs_field``, raises `ArgumentError` for JSON lines whose first block has no record with the field, also if
    the options skip records. Raises `FileError` if the file has changed since the job was planned; `FormatError` if the
    file is damaged or has a broken record; and `EncodeError` for a text that is not UTF-8, unless ``bad_bytes`` is
    "replace" or "skip".
    With ``damaged_files="skip"``, damage does not raise an error: the documents before the damage are yielded and the
    damage is reported.
    """
    with open_source(source) as opened_file:
        file, first_bytes = peek_first_bytes(opened_file, FIRST_BYTE_COUNT)
        try:
            yield from _read_documents(part, source, file, first_bytes, input_options, columns, needs_field)
        except DamageError as error:  # the first bytes of the file are damaged
            yield damaged_documents(error, input_options)


def schema_of(source: Source, input_options: InputOptions, columns: Sequence[str]) -> Any:
    """Returns the pyarrow.Schema of the columns that `documents` returns for ``columns``.

    Raises `DamageError` and the errors of `documents`. Also raises `ArgumentError` for a text file, and if all records
    in the first block of JSON lines lack a field in ``columns``, because the name of that field is probably wrong.
    """
    with open_source(source) as opened_file:
        file, first_bytes = peek_first_bytes(opened_file, FIRST_BYTE_COUNT)
        format = format_of(source.name, first_bytes, input_options.input_format)
        if format in ("parquet", "arrow"):
            schema = open_table(source.name, file, first_bytes, format).schema
            return TextColumn(source.name, schema, input_options.field, columns).schema
    if format == "text":
        raise no_fields_error(source.name, columns[0])
    _check_has_fields(source, input_options, columns)
    return create_fields_schema(columns, require_pyarrow(source.name))


def source_with_columns(sources: Sequence[Source], input_options: InputOptions, columns: Sequence[str]) -> Source:
    """Returns the first source that has ``columns``, which determines their types. Other sources can lack them.

    Raises `ArgumentError` if none of the first sources has them. Text files do not count, because they have no fields.
    """
    first_error: ArgumentError | DamageError | None = None
    checked_count = 0
    for source in sources:
        try:
            if _has_fields(source, input_options):
                checked_count += 1
                schema_of(source, input_options, columns)
                return source
        except (ArgumentError, DamageError) as error:
            first_error = first_error or error
        if checked_count == _MAX_CHECKED_SOURCES:
            break
    raise first_error or no_fields_error(sources[0].name, columns[0])


def _has_fields(source: Source, input_options: InputOptions) -> bool:
    with open_source(source) as file:
        first_bytes = peek_first_bytes(file, FIRST_BYTE_COUNT)[1]
        return format_of(source.name, first_bytes, input_options.input_format) != "text"


def _read_documents(
    part: Part,
    source: Source,
    file: IO[bytes],
    first_bytes: bytes,
    input_options: InputOptions,
    columns: Sequence[str],
    needs_field: bool,
) -> Iterator[Documents]:
    format = format_of(source.name, first_bytes, input_options.input_format)
    bad_bytes: BadBytes = input_options.bad_bytes or "error"
    if format in ("parquet", "arrow"):
        groups = range(part.start, part.end) if part.unit == "groups" else None
        yield from table_documents(
            source.name, file, first_bytes, format, input_options, bad_bytes=bad_bytes, columns=columns, groups=groups
        )
        return
    file_blocks = blocks(*_open_content(part, source, file, first_bytes, input_options, format), input_options, format)
    if needs_field and format == "jsonl" and part.start == 0 and input_options.bad_records == "skip":
        file_blocks = _refuse_file_without_field(source.name, file_blocks, input_options.field)
    if columns and format == "jsonl":
        file_blocks = add_field_columns(file_blocks, columns, require_pyarrow(source.name))
    place_of_byte = partial(_byte_place, source.name)
    yield from apply_input_options(file_blocks, input_options, bad_bytes, place_of_byte, is_json=format == "jsonl")


def _refuse_file_without_field(name: str, file_blocks: Iterator[Block], field: str) -> Iterator[Block]:
    """Yields the blocks of JSON lines; raises `ArgumentError` after the first block if all its records lack the field.

    Without the check, a misspelt field and ``bad_records="skip"`` would skip all documents of the file. Only the first
    block is checked, because other tasks can read the rest of the file.
    """
    return chain(refuse_missing_fields(_first_records(name), islice(file_blocks, 1), field), file_blocks)


def check_field(source: Source, input_options: InputOptions) -> None:
    """Raises `ArgumentError` if all records in the first block of JSON lines lack the field with the text.

    Tasks check every file; this check of the first file finds a misspelt field before the job writes anything.
    """
    if input_options.bad_records == "skip":
        _check_has_fields(source, input_options)


def _check_has_fields(source: Source, input_options: InputOptions, columns: Sequence[str] = ()) -> None:
    """Raises `ArgumentError` if all records in the first block of JSON lines lack the field with the text or one in
    ``columns``."""
    with open_source(source) as opened_file:
        file, first_bytes = peek_first_bytes(opened_file, FIRST_BYTE_COUNT)
        format = format_of(source.name, first_bytes, input_options.input_format)
        if format != "jsonl":
            return
        try:
            file_blocks = blocks(decompress(source.name, file, first_bytes), 0, input_options, format)
            first_blocks: Iterator[Block] = islice(file_blocks, 1)
            if columns:
                first_blocks = add_field_columns(first_blocks, columns, require_pyarrow(source.name))
            for _ in refuse_missing_fields(_first_records(source.name), first_blocks, input_options.field, columns):
                pass
        except DamageError:
            return  # the task reports the damage


def _first_records(name: str) -> str:
    return f"the first records of {name}"


def _byte_place(name: str, position: int) -> str:
    return f"{name}: byte {position}"


def _open_content(
    part: Part, source: Source, file: IO[bytes], first_bytes: bytes, input_options: InputOptions, format: Format
) -> tuple[Content, int]:
    """Returns a stream of the bytes in a part's texts, and the position in the file where these bytes begin."""
    if part.unit != "bytes":
        return decompress(source.name, file, first_bytes), 0
    separator = separator_of(input_options, format)
    if separator is None or is_compressed(first_bytes):
        raise ArgumentError(
            f"{source.name} cannot be read in byte ranges, but the plan splits it into byte ranges: create a new plan"
        )
    start, end = (next_text_start(file, at, source.size, separator) for at in (part.start, part.end))
    return RangeReader(file, start, end), start
