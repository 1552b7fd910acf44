"""Reads the documents of a dataset in order and in blocks, for any kind of shard, to verify and export them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import FormatError
from ..reading.tables import require_pyarrow
from .manifest import Manifest, ShardEntry
from .mapped import map_shard
from .rows import Rows
from .table_rows import TableRows, translate_errors
from .write.arrow import ID_COLUMN

if TYPE_CHECKING:
    from ..arrow import pyarrow

TABLE_KINDS = ("parquet", "arrow")
"""The kinds of datasets whose files are tables, which can hold more columns than the ids."""

_MAX_BLOCK_ROWS = 1 << 16
_BLOCK_TOKENS = 1 << 21


def blocks(folder: Path, manifest: Manifest, entry: ShardEntry) -> Iterator[Rows]:
    """Yields the documents of a shard in blocks. Raises `FileError` and `FormatError` for files that cannot be read."""
    read_blocks = _table_blocks if manifest.kind in TABLE_KINDS else _mapped_blocks
    return read_blocks(folder, manifest, entry)


def _mapped_blocks(folder: Path, manifest: Manifest, entry: ShardEntry) -> Iterator[Rows]:
    shard = map_shard(folder, manifest, entry)
    table = TableRows(folder / entry.files[-1].name) if manifest.documents else None
    if table is not None and len(table) != entry.documents:
        raise FormatError(f"{folder / entry.files[-1].name}: {len(table)} rows for {entry.documents} documents")
    for first in range(0, entry.documents, _MAX_BLOCK_ROWS):
        offsets = shard.offsets(first, min(first + _MAX_BLOCK_ROWS, entry.documents))
        if offsets[0] < 0 or offsets[-1] > len(shard.ids) or (np.diff(offsets) < 0).any():
            raise FormatError(f"{folder / entry.files[1].name}: the offsets of documents are not in order")
        start = 0
        while start < len(offsets) - 1:
            end = int(np.searchsorted(offsets, offsets[start] + _BLOCK_TOKENS))
            end = min(max(end, start + 1), len(offsets) - 1)
            block_offsets = offsets[start : end + 1]
            columns = None if table is None else table.rows(first + start, first + end)
            yield Rows(shard.ids[block_offsets[0] : block_offsets[-1]], block_offsets - block_offsets[0], columns)
            start = end


def _table_blocks(folder: Path, manifest: Manifest, entry: ShardEntry) -> Iterator[Rows]:
    path = folder / entry.files[0].name
    with translate_errors(path) as arrow:
        for batch in _batches(path, manifest.kind):
            batch.validate(full=True)
            yield rows_of_table(arrow.Table.from_batches([batch]), np.dtype(manifest.dtype))


def columns(folder: Path, manifest: Manifest) -> pyarrow.Schema | None:
    """Returns the schema of the columns other than the ids; None if the ids are the only column.

    All shards of a dataset have the same columns, so only the first shard is read.

    Raises `FileError` and `FormatError` for a file that cannot be read.
    """
    if not (manifest.kind in TABLE_KINDS or manifest.documents) or not manifest.shards:
        return None
    path = folder / manifest.shards[0].files[-1].name
    with translate_errors(path) as arrow:
        stored_fields = [field for field in _read_schema(path) if field.name != ID_COLUMN]
    return arrow.schema(stored_fields) if stored_fields else None


def _read_schema(path: Path) -> pyarrow.Schema:
    from pyarrow import ipc, memory_map, parquet  # type: ignore[import-not-found, import-untyped, unused-ignore]

    if path.suffix == ".parquet":
        return parquet.read_schema(path)
    with memory_map(str(path)) as mapped_file, ipc.open_file(mapped_file) as file:
        return file.schema


def _batches(path: Path, kind: str) -> Iterator[pyarrow.RecordBatch]:
    from pyarrow import ipc, memory_map, parquet  # type: ignore[import-not-found, import-untyped, unused-ignore]

    if kind == "parquet":
        with parquet.ParquetFile(path) as file:
            yield from file.iter_batches()
        return
    with memory_map(str(path)) as mapped_file, ipc.open_file(mapped_file) as file:
        for number in range(file.num_record_batches):
            yield file.get_batch(number)


def rows_of_table(table: pyarrow.Table, dtype: np.dtype[Any]) -> Rows:
    """Returns the documents of a table. Raises `FormatError` if the column of ids is missing or has another type."""
    arrow = require_pyarrow()
    if ID_COLUMN not in table.column_names or not arrow.types.is_list(table.schema.field(ID_COLUMN).type):
        raise FormatError(f"the file needs a column {ID_COLUMN!r} of lists of ids")
    id_lists = table[ID_COLUMN].combine_chunks()
    values = id_lists.values
    if id_lists.null_count or values.null_count or values.type != arrow.from_numpy_dtype(dtype):
        raise FormatError(f"the column {ID_COLUMN!r} has nulls, or its type {id_lists.type} is not a list of {dtype}")
    offsets = id_lists.offsets.to_numpy().astype(np.int64)
    other_names = [name for name in table.column_names if name != ID_COLUMN]
    return Rows(values.to_numpy(), offsets, table.select(other_names) if other_names else None)
