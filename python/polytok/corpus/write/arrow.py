"""Arrow: Parquet files and Arrow IPC files with a list of ids per document, and columns of the input beside it.

Rows are regrouped, so that the bytes of a file do not depend on the portions in which documents arrive: a group (row
group of Parquet, record batch of IPC) ends with the document that fills its limit of tokens or rows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ...errors import ArgumentError
from ...reading.tables import pyarrow_for
from .base import Rows, ShardWriter

if TYPE_CHECKING:
    import pyarrow

COLUMN = "ids"
"""The name of the column of ids."""

_GROUP_TOKENS = 1 << 22
_GROUP_ROWS = 1 << 14


class _TableWriter(ShardWriter):
    """Collects documents until they fill a group, and passes the group on."""

    takes_columns = True
    _sink: Any
    _columns: tuple[pyarrow.Field, ...] = ()

    def _begin(self, columns: pyarrow.Schema | None) -> None:
        arrow = pyarrow_for()
        if columns is not None and COLUMN in columns.names:
            raise ArgumentError(f"a column {COLUMN!r} cannot be passed through: it is the name of the ids' column")
        self._list = arrow.list_(arrow.field("item", arrow.from_numpy_dtype(self.dtype.newbyteorder("=")), False))
        if columns is not None:
            self._columns = tuple(map(_plain, columns))
        self._schema = arrow.schema([arrow.field(COLUMN, self._list, False), *self._columns])
        self._waiting: list[pyarrow.Table] = []
        self._rows = self._tokens = 0
        self._sink = self._opened()

    def _append(self, ids: npt.NDArray[Any], lengths: Rows, columns: pyarrow.Table | None) -> None:
        offsets = np.concatenate(([0], np.cumsum(lengths)))
        first = 0
        while first < len(lengths):
            enough = int(np.searchsorted(offsets, offsets[first] + _GROUP_TOKENS - self._tokens))
            last = min(max(enough, first + 1), first + _GROUP_ROWS - self._rows, len(lengths))
            self._wait(ids, offsets[first : last + 1], None if columns is None else columns.slice(first, last - first))
            first = last

    def _wait(self, ids: npt.NDArray[Any], offsets: Rows, columns: pyarrow.Table | None) -> None:
        arrow = pyarrow_for()
        borders = arrow.array((offsets - offsets[0]).astype(np.int32))
        values = arrow.array(ids[offsets[0] : offsets[-1]].copy())
        lists = arrow.ListArray.from_arrays(borders, values, type=self._list)
        table = arrow.table([lists], names=[COLUMN])
        for field in self._columns:
            table = table.append_column(field.name, _column(field, columns))
        self._waiting.append(table.cast(self._schema))
        self._rows += len(lists)
        self._tokens += len(values)
        if self._rows >= _GROUP_ROWS or self._tokens >= _GROUP_TOKENS:
            self._hand_over()

    def _hand_over(self) -> None:
        table = pyarrow_for().concat_tables(self._waiting).combine_chunks()
        self._write_group(table)
        self._waiting = []
        self._rows = self._tokens = 0

    def _end(self) -> None:
        if self._waiting:
            self._hand_over()
        self._sink.close()

    def abort(self) -> None:
        """Remove what was written."""
        super().abort()
        self._waiting = []

    def _opened(self) -> Any:
        raise NotImplementedError

    def _write_group(self, table: pyarrow.Table) -> None:
        raise NotImplementedError


class ParquetShardWriter(_TableWriter):
    """Writes ``.parquet``, compressed with zstd. It omits minima and maxima of ids, which are of no use."""

    kind = "parquet"
    suffixes = (".parquet",)

    def _opened(self) -> Any:
        from pyarrow import parquet

        rest = self._schema.names[1:]
        return parquet.ParquetWriter(self._files[0], self._schema, compression="zstd", write_statistics=rest)

    def _write_group(self, table: pyarrow.Table) -> None:
        self._sink.write_table(table, row_group_size=_GROUP_ROWS)


class ArrowShardWriter(_TableWriter):
    """Writes ``.arrow``: an IPC file, which can be mapped."""

    kind = "arrow"
    suffixes = (".arrow",)

    def _opened(self) -> Any:
        return pyarrow_for().ipc.new_file(self._files[0], self._schema)

    def _write_group(self, table: pyarrow.Table) -> None:
        self._sink.write_table(table)


def _column(field: pyarrow.Field, columns: pyarrow.Table | None) -> pyarrow.ChunkedArray:
    """Cast a column to the type of the shard. Raises `ArgumentError` if it is missing, or of another type."""
    if columns is None or field.name not in columns.column_names:
        raise ArgumentError(f"the column {field.name!r} is not in all inputs")
    try:
        return columns[field.name].cast(field.type)
    except pyarrow_for().ArrowException as error:
        raise ArgumentError(f"the column {field.name!r} is not of {field.type} in all inputs: {error}") from error


def _plain(field: pyarrow.Field) -> pyarrow.Field:
    """Remove the dictionary, which differs in each group, and the metadata of the input file."""
    is_coded = pyarrow_for().types.is_dictionary(field.type)
    return field.with_type(field.type.value_type if is_coded else field.type).remove_metadata()
