"""Writes Parquet files and Arrow IPC files, with a list of ids for each document and columns of the input.

Documents are collected into groups, which are row groups of Parquet or record batches of IPC. A group ends with the
document that reaches the limit of tokens or rows. So the bytes of a file do not depend on the portions in which
documents arrive.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ...errors import ArgumentError
from ...reading.tables import require_pyarrow
from .base import IntArray, ShardWriter
from .documents_table import cast_column, plain_field

if TYPE_CHECKING:
    from ...arrow import pyarrow

ID_COLUMN = "ids"
"""The name of the column of ids."""

_MAX_GROUP_TOKENS = 1 << 22
_MAX_GROUP_ROWS = 1 << 14


class _TableWriter(ShardWriter):
    """Collects documents until they fill a group, and then writes the group."""

    can_hold_columns = True
    _group_writer: Any
    _columns: tuple[pyarrow.Field, ...] = ()

    def _write_beginning(self, columns: pyarrow.Schema | None) -> None:
        arrow = require_pyarrow()
        if columns is not None and ID_COLUMN in columns.names:
            raise ArgumentError(
                f"the input column {ID_COLUMN!r} has the name of the column of ids: rename it, or remove it from "
                "columns"
            )
        self._list = arrow.list_(arrow.field("item", arrow.from_numpy_dtype(self.dtype.newbyteorder("=")), False))
        if columns is not None:
            self._columns = tuple(map(plain_field, columns))
        self._schema = arrow.schema([arrow.field(ID_COLUMN, self._list, False), *self._columns])
        self._pending: list[pyarrow.Table] = []
        self._row_count = self._token_count = 0
        self._group_writer = self._open_group_writer()

    def _write_documents(self, ids: npt.NDArray[Any], lengths: IntArray, columns: pyarrow.Table | None) -> None:
        offsets = np.concatenate(([0], np.cumsum(lengths)))
        first_row = 0
        while first_row < len(lengths):
            group_end = int(np.searchsorted(offsets, offsets[first_row] + _MAX_GROUP_TOKENS - self._token_count))
            last_row = min(max(group_end, first_row + 1), first_row + _MAX_GROUP_ROWS - self._row_count, len(lengths))
            self._add_to_group(
                ids,
                offsets[first_row : last_row + 1],
                None if columns is None else columns.slice(first_row, last_row - first_row),
            )
            first_row = last_row

    def _add_to_group(self, ids: npt.NDArray[Any], offsets: IntArray, columns: pyarrow.Table | None) -> None:
        arrow = require_pyarrow()
        list_offsets = arrow.array((offsets - offsets[0]).astype(np.int32))
        values = arrow.array(ids[offsets[0] : offsets[-1]].copy())
        lists = arrow.ListArray.from_arrays(list_offsets, values, type=self._list)
        table = arrow.table([lists], names=[ID_COLUMN])
        for field in self._columns:
            table = table.append_column(field.name, cast_column(field, columns))
        self._pending.append(table.cast(self._schema))
        self._row_count += len(lists)
        self._token_count += len(values)
        if self._row_count >= _MAX_GROUP_ROWS or self._token_count >= _MAX_GROUP_TOKENS:
            self._flush_group()

    def _flush_group(self) -> None:
        table = require_pyarrow().concat_tables(self._pending).combine_chunks()
        self._write_group(table)
        self._pending = []
        self._row_count = self._token_count = 0

    def _write_ending(self) -> None:
        if self._pending:
            self._flush_group()
        self._group_writer.close()

    def abort(self) -> None:
        """Removes the files of the shard and drops the documents of the current group."""
        super().abort()
        self._pending = []

    def _open_group_writer(self) -> Any:
        raise NotImplementedError

    def _write_group(self, table: pyarrow.Table) -> None:
        raise NotImplementedError


class ParquetShardWriter(_TableWriter):
    """Writes ``.parquet`` files compressed with zstd, without statistics of the ids, which would be useless."""

    kind = "parquet"
    suffixes = (".parquet",)

    def _open_group_writer(self) -> Any:
        from pyarrow import parquet  # type: ignore[import-not-found, import-untyped, unused-ignore]

        other_names = self._schema.names[1:]
        return parquet.ParquetWriter(self._files[0], self._schema, compression="zstd", write_statistics=other_names)

    def _write_group(self, table: pyarrow.Table) -> None:
        self._group_writer.write_table(table, row_group_size=_MAX_GROUP_ROWS)


class ArrowShardWriter(_TableWriter):
    """Writes ``.arrow`` files in Arrow's IPC file format, which can be memory-mapped."""

    kind = "arrow"
    suffixes = (".arrow",)

    def _open_group_writer(self) -> Any:
        return require_pyarrow().ipc.new_file(self._files[0], self._schema)

    def _write_group(self, table: pyarrow.Table) -> None:
        self._group_writer.write_table(table)
