"""Writes the documents table beside a shard: a Parquet file with a row for each document."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...errors import ArgumentError
from ...reading.tables import require_pyarrow
from .output import OutputFile

if TYPE_CHECKING:
    from ...arrow import pyarrow

DOCUMENTS_SUFFIX = ".documents.parquet"
"""The suffix of the file's name."""

_MAX_GROUP_ROWS = 1 << 14


class DocumentsTable:
    """A Parquet file that is written in row groups of a fixed size.

    So the bytes of the file do not depend on the portions in which documents arrive.
    """

    def __init__(self, file: OutputFile, schema: pyarrow.Schema) -> None:
        from pyarrow import parquet  # type: ignore[import-not-found, import-untyped, unused-ignore]

        arrow = require_pyarrow("documents=True")
        self._schema = arrow.schema([plain_field(field) for field in schema])
        self._writer = parquet.ParquetWriter(file, self._schema, compression="zstd")
        self._pending: Any = self._schema.empty_table()

    def write(self, columns: pyarrow.Table) -> None:
        """Appends rows."""
        arrow = require_pyarrow("documents=True")
        rows = arrow.table([cast_column(field, columns) for field in self._schema], schema=self._schema)
        self._pending = arrow.concat_tables([self._pending, rows])
        while len(self._pending) >= _MAX_GROUP_ROWS:
            self._writer.write_table(self._pending.slice(0, _MAX_GROUP_ROWS).combine_chunks())
            self._pending = self._pending.slice(_MAX_GROUP_ROWS)

    def finish(self) -> None:
        """Writes the remaining rows and the end of the file."""
        if len(self._pending):
            self._writer.write_table(self._pending.combine_chunks())
        self._writer.close()


def cast_column(field: pyarrow.Field, columns: pyarrow.Table | None) -> pyarrow.ChunkedArray:
    """Returns a column, cast to the type of the shard's column.

    Raises `ArgumentError` if the column is missing or its type cannot be cast.
    """
    if columns is None or field.name not in columns.column_names:
        raise ArgumentError(f"an input has no column {field.name!r}, which other inputs have: remove it from columns")
    try:
        return columns[field.name].cast(field.type)
    except require_pyarrow().ArrowException as error:
        raise ArgumentError(f"the column {field.name!r} of an input cannot be cast to {field.type}: {error}") from error


def plain_field(field: pyarrow.Field) -> pyarrow.Field:
    """Returns a field without the metadata of the input, and without dictionary encoding, which differs between
    groups."""
    is_dictionary = require_pyarrow().types.is_dictionary(field.type)
    return field.with_type(field.type.value_type if is_dictionary else field.type).remove_metadata()
