"""Texts in the columns of tables: Parquet, and Arrow as a file (Feather) or a stream.

Columns are passed on as they are in memory: no Python object is created per text. A table is read batch by batch; a
batch has the rows of one block. Parquet's row groups and the record batches of an Arrow file are its *groups*, which
can be read independently; a stream is one group.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, Protocol

import numpy as np

from .. import _core
from ..errors import ArgumentError, FormatError
from .blocks import BLOCK, Block
from .choices import Format, Invalid, Reading
from .documents import Documents, documents_of
from .kinds import ARROW_FILE
from .opened import Damaged, is_compressed

# A repetitive column is longer than its encoded form: this bounds how much of it is in memory at once.
_MOST_ROWS = 1 << 14
_BUFFER = 1 << 20


class Table(Protocol):
    """An open table. ``sizes`` are the relative sizes of its groups."""

    schema: Any
    sizes: Sequence[int]

    def batches(self, group: int, columns: Sequence[str]) -> Iterator[Any]:
        """The record batches of a group, with at least these columns."""

    def place(self, group: int, row: int) -> str:
        """A row of a group, in words, for reports."""


def pyarrow_for(what: str = "a table (Parquet, Arrow)") -> Any:
    """The package, which this feature needs. Raises `ArgumentError` if it is not installed."""
    try:
        return importlib.import_module("pyarrow")
    except ImportError as error:
        raise ArgumentError(f"{what} needs pyarrow: pip install 'polytok[parquet]'") from error


def open_table(name: str, file: Any, first: bytes, format: Format) -> Table:
    """Open a table of the type that the file's first bytes show. Raises `Damaged` if it is not a valid table."""
    if is_compressed(first):
        raise Damaged(f"{name} is compressed as a whole, and cannot be read as a table: decompress it")
    arrow = pyarrow_for(name)
    if (format == "parquet" or first.startswith(ARROW_FILE)) and not file.seekable():
        raise ArgumentError(f"{name} comes as a stream, and its table stands at its end: give it as a file")
    try:
        if format == "parquet":
            return _Parquet(file)
        return _ArrowFile(arrow, file) if first.startswith(ARROW_FILE) else _ArrowStream(arrow, file)
    except (arrow.ArrowException, OSError) as error:
        raise _damaged(name, error) from error


def _damaged(name: str, error: Exception) -> Exception:
    """Convert a package's error to ours; an error of the system about a file is unchanged."""
    if isinstance(error, OSError) and error.errno is not None:
        return error
    if isinstance(error, NotImplementedError):
        return FormatError(f"{name} cannot be read, though it may be whole: {error}")
    return Damaged(f"{name} cannot be read as a table: {error}")


def _rows_of_block(rows: int, size: int) -> int:
    """The number of rows in a block, estimated from the size of some rows."""
    return min(_MOST_ROWS, max(1, rows * BLOCK // max(size, 1)))


class _Parquet:
    """Row groups, decoded a batch at a time."""

    def __init__(self, file: Any) -> None:
        parquet = importlib.import_module("pyarrow.parquet")
        options = {"pre_buffer": False, "buffer_size": _BUFFER, "page_checksum_verification": True}
        self._file = parquet.ParquetFile(file, **options)
        self.schema = self._file.schema_arrow
        metadata = self._file.metadata
        groups = [metadata.row_group(number) for number in range(metadata.num_row_groups)]
        self._rows = [group.num_rows for group in groups]
        self.sizes: Sequence[int] = [group.total_byte_size for group in groups]

    def batches(self, group: int, columns: Sequence[str]) -> Iterator[Any]:
        most = _rows_of_block(self._rows[group], self.sizes[group])
        yield from self._file.iter_batches(most, row_groups=[group], columns=list(columns), use_threads=False)

    def place(self, group: int, row: int) -> str:
        return f"row {sum(self._rows[:group]) + row}"


class _ArrowFile:
    """Record batches; reading can begin at any of them."""

    def __init__(self, arrow: Any, file: Any) -> None:
        self._arrow = arrow
        self._file = file
        self._columns: Sequence[str] | None = None
        self._reader = arrow.ipc.open_file(file)
        self.schema = self._reader.schema
        self.sizes: Sequence[int] = [1] * self._reader.num_record_batches

    def batches(self, group: int, columns: Sequence[str]) -> Iterator[Any]:
        if columns != self._columns:
            heads = {_path(self.schema, name)[0] for name in columns}
            fields = sorted(self.schema.get_field_index(name) for name in heads)
            options = self._arrow.ipc.IpcReadOptions(included_fields=fields)
            self._reader = self._arrow.ipc.open_file(self._file, options=options)
            self._columns = columns
        yield self._reader.get_batch(group)

    def place(self, group: int, row: int) -> str:
        return f"row {row} of record batch {group}"  # the sizes of the other batches are unknown without reading them


class _ArrowStream:
    """Record batches, in turn."""

    sizes: Sequence[int] = (1,)

    def __init__(self, arrow: Any, file: Any) -> None:
        self._reader = arrow.ipc.open_stream(file)
        self.schema = self._reader.schema

    def batches(self, group: int, columns: Sequence[str]) -> Iterator[Any]:
        yield from self._reader

    def place(self, group: int, row: int) -> str:
        return f"row {row}"


class TextColumn:
    """A column of texts, which can be nested in structs, and columns to return with it; ``schema`` is the schema of
    those.
    """

    def __init__(self, name: str, schema: Any, field: str, others: Sequence[str] = ()) -> None:
        """Raises `ArgumentError` for a column that is missing or is not text."""
        self._arrow = pyarrow_for(name)
        self._compute = importlib.import_module("pyarrow.compute")
        self.field = field
        self.others = others
        self.schema = self._arrow.schema([(column, self._type(name, schema, column)) for column in others])
        found = self._type(name, schema, field)
        if not self._is_text(found):
            raise ArgumentError(f"{name}: the column {field!r} is of {found}, not of text: name another as the field")

    def _type(self, name: str, schema: Any, field: str) -> Any:
        """The type of a column by its path."""
        path = _path(schema, field)
        found, known = None, schema
        for step in path:
            index = known.get_field_index(step) if known is not None else -1
            if index < 0:
                listed = ", ".join(map(repr, schema.names))
                raise ArgumentError(f"{name} has no column {field!r} but {listed}: name one as the field")
            found = known.field(index).type
            known = found if self._arrow.types.is_struct(found) else None
        return found

    def _is_text(self, type: Any) -> bool:
        types = self._arrow.types
        if types.is_dictionary(type):
            return self._is_text(type.value_type)
        tests = ("string", "large_string", "string_view", "binary", "large_binary", "binary_view", "null")
        return any(getattr(types, f"is_{test}")(type) for test in tests)

    def blocks(self, batches: Iterator[Any]) -> Iterator[Block]:
        """The texts of record batches, their rows counted from 0."""
        row = 0
        for batch in batches:
            most = _rows_of_block(batch.num_rows, batch.nbytes)
            for begin in range(0, batch.num_rows, most):
                yield self._block(batch.slice(begin, most), row + begin)
            row += batch.num_rows

    def _block(self, batch: Any, first: int) -> Block:
        texts = _core.Texts.of_arrow(self._texts(self.column(batch, self.field)))
        rows, left = np.arange(batch.num_rows), []
        if (there := texts.valid) is not None:
            left = [(first + int(row), f"no field {self.field!r}") for row in np.flatnonzero(~there)]
            rows = np.flatnonzero(there)
            texts = texts.take(rows)
        columns = None
        if self.others:
            columns = self._arrow.table({name: self.column(batch, name) for name in self.others}).take(rows)
        return Block(texts, rows + first, left, start=first, end=first + batch.num_rows, columns=columns)

    def column(self, batch: Any, field: str) -> Any:
        """A column by its path."""
        head, *inner = _path(batch.schema, field)
        found = batch.column(head)
        return self._compute.struct_field(found, inner) if inner else found

    def _texts(self, column: Any) -> Any:
        if self._arrow.types.is_dictionary(column.type):
            return column.dictionary_decode()
        return column.cast(self._arrow.string()) if self._arrow.types.is_null(column.type) else column


def _path(schema: Any, field: str) -> list[str]:
    """The path of a column. A column whose name contains dots takes precedence over one nested in structs."""
    return [field] if field in schema.names else field.split(".")


def table_blocks(name: str, table: Table, column: TextColumn, group: int) -> Iterator[Block]:
    """The texts of a group. Raises `Damaged` after the last text before a damage."""
    arrow = pyarrow_for(name)
    try:
        yield from column.blocks(table.batches(group, (column.field, *column.others)))
    except (arrow.ArrowException, OSError) as error:
        raise _damaged(name, error) from error


def table_documents(
    name: str,
    file: Any,
    first: bytes,
    format: Format,
    reading: Reading,
    *,
    invalid: Invalid,
    columns: Sequence[str] = (),
    groups: range | None = None,
) -> Iterator[Documents]:
    """The documents of an open table, or of some of its groups, and the columns requested with them."""
    table = open_table(name, file, first, format)
    column = TextColumn(name, table.schema, reading.field, columns)
    for group in range(len(table.sizes)) if groups is None else groups:
        found = table_blocks(name, table, column, group)
        yield from documents_of(found, reading, invalid, partial(_place, name, table, group), is_json=False)


def _place(name: str, table: Table, group: int, row: int) -> str:
    return f"{name}: {table.place(group, row)}"
