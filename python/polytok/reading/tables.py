"""Reads texts from columns of tables: Parquet files, Arrow files (Feather) and Arrow streams.

Columns stay in Arrow's memory format: no Python object is created for a text. A table is read in batches of the rows of
one block. A table consists of *groups* that can be read independently: row groups of Parquet, record batches of an
Arrow file. An Arrow stream is a single group.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from .. import _core
from ..errors import ArgumentError, FormatError
from ..extras import import_extra
from .blocks import BLOCK_BYTES, Block
from .choices import BadBytes, Format, InputOptions
from .documents import Documents, apply_input_options
from .fields import fields_text
from .kinds import ARROW_FILE_MAGIC
from .skipped import too_long_reason
from .streams import DamageError, is_compressed

# The maximum number of rows in a batch. It limits the memory for columns that expand a lot when they are decoded.
_MAX_BATCH_ROWS = 1 << 14
_BUFFER_BYTES = 1 << 20
# The number of rows that pyarrow decodes at a time from a Parquet file. A few bytes of a page can repeat a long text in
# every row (of a dictionary, or by delta encoding), and nothing in the file's metadata limits the length of this text.
_MAX_DECODED_ROWS = 256


class Table(Protocol):
    """An open table. ``schema`` is its pyarrow.Schema, and ``sizes`` has the relative sizes of its groups."""

    schema: Any
    sizes: Sequence[int]

    def batches(self, group: int, columns: Sequence[str]) -> Iterator[Any]:
        """Yields the record batches of a group, with at least these columns."""

    def place(self, group: int, row: int) -> str:
        """Describes the place of a row of a group, for reports."""


def require_pyarrow(feature: str = "a table (Parquet, Arrow)") -> Any:
    """Returns the module pyarrow. Raises `ArgumentError`, which names the feature, if pyarrow cannot be imported."""
    return import_extra("pyarrow", "parquet", feature)


def open_table(name: str, file: Any, first_bytes: bytes, format: Format) -> Table:
    """Opens a table of the format. The first bytes distinguish an Arrow file from an Arrow stream.

    Raises `DamageError` if the file is not a valid table, and `ArgumentError` if the file needs seeking and cannot
    seek.
    """
    if is_compressed(first_bytes):
        raise DamageError(f"{name} cannot be read as a table, because the file is compressed as a whole: decompress it")
    arrow = require_pyarrow(name)
    if (format == "parquet" or first_bytes.startswith(ARROW_FILE_MAGIC)) and not file.seekable():
        raise ArgumentError(
            f"{name} is a stream, but reading this table begins at the end of the file: name a file instead"
        )
    try:
        if format == "parquet":
            return _ParquetTable(arrow, file)
        return (
            _ArrowFileTable(arrow, file) if first_bytes.startswith(ARROW_FILE_MAGIC) else _ArrowStreamTable(arrow, file)
        )
    except (arrow.ArrowException, OSError) as error:
        raise _table_error(name, error) from error


def _table_error(name: str, error: Exception) -> Exception:
    """Converts an error of pyarrow to `FormatError` or `DamageError`; returns an error of the system unchanged."""
    if isinstance(error, OSError) and error.errno is not None:
        return error
    if isinstance(error, NotImplementedError):
        return FormatError(f"{name} uses a feature that pyarrow does not support: {error}")
    return DamageError(f"{name} cannot be read as a table: {error}")


def _rows_per_block(rows: int, size: int) -> int:
    """Estimates the number of rows in a block from a sample of ``rows`` rows with ``size`` bytes in total."""
    return min(_MAX_BATCH_ROWS, max(1, rows * BLOCK_BYTES // max(size, 1)))


class _ParquetTable:
    """A Parquet file, whose row groups are decoded in batches."""

    def __init__(self, arrow: Any, file: Any) -> None:
        parquet = importlib.import_module("pyarrow.parquet")
        options = {"pre_buffer": False, "buffer_size": _BUFFER_BYTES, "page_checksum_verification": True}
        self._arrow = arrow
        self._file = parquet.ParquetFile(file, **options)
        self.schema = self._file.schema_arrow
        metadata = self._file.metadata
        groups = [metadata.row_group(number) for number in range(metadata.num_row_groups)]
        self._row_counts = [group.num_rows for group in groups]
        self.sizes: Sequence[int] = [group.total_byte_size for group in groups]

    def batches(self, group: int, columns: Sequence[str]) -> Iterator[Any]:
        block_rows = _rows_per_block(self._row_counts[group], self.sizes[group])
        types = (self.schema.field(_column_path(self.schema, name)[0]).type for name in columns)
        rows = min(block_rows, _MAX_DECODED_ROWS) if any(map(self._can_repeat, types)) else block_rows
        batches = self._file.iter_batches(rows, row_groups=[group], columns=list(columns), use_threads=False)
        yield from self._joined(batches, block_rows)

    def _can_repeat(self, column_type: Any) -> bool:
        """Reports whether decoding can repeat long values: not numbers, and not what is decoded to a dictionary."""
        types = self._arrow.types
        return not (types.is_dictionary(column_type) or types.is_primitive(column_type))

    def _joined(self, batches: Iterator[Any], block_rows: int) -> Iterator[Any]:
        """Joins consecutive batches until they have the rows or the bytes of a block."""
        parts: list[Any] = []
        rows = size = 0
        for batch in batches:
            parts.append(batch)
            rows, size = rows + batch.num_rows, size + batch.nbytes
            if rows >= block_rows or size >= BLOCK_BYTES:
                yield from self._join(parts)
                parts, rows, size = [], 0, 0
        yield from self._join(parts)

    def _join(self, batches: list[Any]) -> list[Any]:
        if len(batches) < 2:
            return batches
        joined: list[Any] = self._arrow.Table.from_batches(batches).combine_chunks().to_batches()
        return joined

    def place(self, group: int, row: int) -> str:
        return f"row {sum(self._row_counts[:group]) + row}"


class _ArrowFileTable:
    """An Arrow file, whose record batches can be read in any order."""

    def __init__(self, arrow: Any, file: Any) -> None:
        self._arrow = arrow
        self._file = file
        self._columns: Sequence[str] | None = None
        self._reader = arrow.ipc.open_file(file)
        self.schema = self._reader.schema
        self.sizes: Sequence[int] = [1] * self._reader.num_record_batches

    def batches(self, group: int, columns: Sequence[str]) -> Iterator[Any]:
        if columns != self._columns:
            top_names = {_column_path(self.schema, name)[0] for name in columns}
            field_indices = sorted(self.schema.get_field_index(name) for name in top_names)
            options = self._arrow.ipc.IpcReadOptions(included_fields=field_indices)
            self._reader = self._arrow.ipc.open_file(self._file, options=options)
            self._columns = columns
        yield self._reader.get_batch(group)

    def place(self, group: int, row: int) -> str:
        return f"row {row} of record batch {group}"  # the sizes of the other batches are unknown without reading them


class _ArrowStreamTable:
    """An Arrow stream, which is one group of record batches."""

    sizes: Sequence[int] = (1,)

    def __init__(self, arrow: Any, file: Any) -> None:
        self._reader = arrow.ipc.open_stream(file)
        self.schema = self._reader.schema

    def batches(self, group: int, columns: Sequence[str]) -> Iterator[Any]:
        yield from self._reader

    def place(self, group: int, row: int) -> str:
        return f"row {row}"


class TextColumn:
    """A column of texts in a table, and other columns to return with the texts.

    Columns can be nested in structs. ``schema`` is the pyarrow.Schema of the other columns.
    """

    def __init__(self, name: str, schema: Any, field: str, other_columns: Sequence[str] = ()) -> None:
        """Finds the columns in ``schema``; ``name`` is the name of the file.

        Raises `ArgumentError` if a column is missing, or if the column ``field`` does not hold texts.
        """
        self._arrow = require_pyarrow(name)
        self._compute = importlib.import_module("pyarrow.compute")
        self.field = field
        self.other_columns = other_columns
        self.schema = self._arrow.schema(
            [(column, self._column_type(name, schema, column)) for column in other_columns]
        )
        text_type = self._column_type(name, schema, field)
        if not self._is_text(text_type):
            raise ArgumentError(
                f"{name}: the column {field!r} is of type {text_type}, not text: choose another column with the field "
                "option"
            )

    def _column_type(self, name: str, schema: Any, field: str) -> Any:
        """Returns the type of a column. Raises `ArgumentError` if the column is missing."""
        path = _column_path(schema, field)
        column_type, parent_type = None, schema
        for field_name in path:
            index = parent_type.get_field_index(field_name) if parent_type is not None else -1
            if index < 0:
                raise ArgumentError(f"{name} has no column {field!r}; {fields_text(schema.names, field)}")
            column_type = parent_type.field(index).type
            parent_type = column_type if self._arrow.types.is_struct(column_type) else None
        return column_type

    def _is_text(self, column_type: Any) -> bool:
        arrow_types = self._arrow.types
        if arrow_types.is_dictionary(column_type):
            return self._is_text(column_type.value_type)
        type_names = ("string", "large_string", "string_view", "binary", "large_binary", "binary_view", "null")
        return any(getattr(arrow_types, f"is_{type_name}")(column_type) for type_name in type_names)

    def blocks(self, batches: Iterator[Any], max_record_bytes: int) -> Iterator[Block]:
        """Yields the texts of record batches in blocks. The numbers of texts are rows, counted from 0.

        Rows whose texts have more than ``max_record_bytes`` together are skipped.
        """
        row = 0
        for batch in batches:
            for start, end in pairwise(self._block_starts(batch)):
                block = self._create_block(batch.slice(start, end - start), row + start)
                yield self._without_long_rows(block, max_record_bytes)
            row += batch.num_rows

    def _block_starts(self, batch: Any) -> Sequence[int]:
        """Returns the rows of a record batch at which its blocks begin, and the number of its rows.

        A dictionary can have few bytes and many long texts, so the lengths of its texts are added up.
        """
        column = self.column(batch, self.field)
        if not self._arrow.types.is_dictionary(column.type):
            block_rows = _rows_per_block(batch.num_rows, batch.nbytes)
            return [*range(0, batch.num_rows, block_rows), batch.num_rows]
        total_lengths = np.cumsum(self._text_lengths(column))
        starts = [0]
        while starts[-1] < batch.num_rows:
            length_before = total_lengths[starts[-1] - 1] if starts[-1] else 0
            end = int(np.searchsorted(total_lengths, length_before + BLOCK_BYTES, side="right"))
            starts.append(min(max(end, starts[-1] + 1), starts[-1] + _MAX_BATCH_ROWS, batch.num_rows))
        return starts

    def _without_long_rows(self, block: Block, max_record_bytes: int) -> Block:
        lengths = block.texts.ends - block.texts.starts
        for name in self.other_columns:
            if self._is_text(block.columns[name].type):
                lengths += self._text_lengths(block.columns[name])
        rows = np.flatnonzero(lengths > max_record_bytes)
        return block.without(dict.fromkeys(rows.tolist(), too_long_reason(max_record_bytes))) if len(rows) else block

    def _text_lengths(self, column: Any) -> npt.NDArray[np.int64]:
        """Returns the number of bytes of each text of a column; 0 for null."""
        if isinstance(column, self._arrow.ChunkedArray):
            return np.concatenate([np.zeros(0, np.int64), *map(self._text_lengths, column.chunks)])
        if self._arrow.types.is_dictionary(column.type):
            lengths = np.append(self._text_lengths(column.dictionary), 0)  # the index -1 selects the 0
            indices = self._compute.fill_null(column.indices.cast(self._arrow.int64()), -1)
            text_lengths: npt.NDArray[np.int64] = lengths[indices.to_numpy()]
            return text_lengths
        texts = _core.Texts.of_arrow(self._texts(column))
        return np.subtract(texts.ends, texts.starts)

    def _create_block(self, batch: Any, first_row: int) -> Block:
        texts = _core.Texts.of_arrow(self._texts(self.column(batch, self.field)))
        columns = None
        if self.other_columns:
            columns = self._arrow.table({name: self.column(batch, name) for name in self.other_columns})
        rows = np.arange(first_row, first_row + batch.num_rows)
        block = Block(texts, rows, [], start=first_row, end=first_row + batch.num_rows, columns=columns)
        if (is_valid := texts.validity) is None:
            return block
        return block.without(dict.fromkeys(np.flatnonzero(~is_valid).tolist(), f"the field {self.field!r} is null"))

    def column(self, batch: Any, field: str) -> Any:
        """Returns a column of a record batch; the parts of a nested column's name are separated by dots."""
        top_name, *nested_names = _column_path(batch.schema, field)
        top_column = batch.column(top_name)
        return self._compute.struct_field(top_column, nested_names) if nested_names else top_column

    def _texts(self, column: Any) -> Any:
        if self._arrow.types.is_dictionary(column.type):
            return column.dictionary_decode()
        return column.cast(self._arrow.string()) if self._arrow.types.is_null(column.type) else column


def _column_path(schema: Any, field: str) -> list[str]:
    """Returns the path to a column as a list of names. A column whose own name contains dots is preferred."""
    return [field] if field in schema.names else field.split(".")


def table_blocks(name: str, table: Table, column: TextColumn, group: int, max_record_bytes: int) -> Iterator[Block]:
    """Yields the texts of a group in blocks. Raises `DamageError` after the last text before damage."""
    arrow = require_pyarrow(name)
    try:
        yield from column.blocks(table.batches(group, (column.field, *column.other_columns)), max_record_bytes)
    except (arrow.ArrowException, OSError) as error:
        raise _table_error(name, error) from error


def table_documents(
    name: str,
    file: Any,
    first_bytes: bytes,
    format: Format,
    input_options: InputOptions,
    *,
    bad_bytes: BadBytes,
    columns: Sequence[str] = (),
    groups: range | None = None,
) -> Iterator[Documents]:
    """Yields the documents of a table in blocks; with ``groups``, only the documents of these groups.

    ``columns`` names other columns to return with the texts. Raises the errors of `open_table` and
    `apply_reading_options`.
    """
    table = open_table(name, file, first_bytes, format)
    column = TextColumn(name, table.schema, input_options.field, columns)
    for group in range(len(table.sizes)) if groups is None else groups:
        group_blocks = table_blocks(name, table, column, group, input_options.max_record_bytes)
        place = partial(_describe_place, name, table, group)
        for documents in apply_input_options(group_blocks, input_options, bad_bytes, place, is_json=False):
            yield replace(documents, group=group)


def _describe_place(name: str, table: Table, group: int, row: int) -> str:
    return f"{name}: {table.place(group, row)}"
