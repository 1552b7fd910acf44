"""The documents of a dataset of any kind, in order, block by block. Verifying and exporting read them this way."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import FileError, FormatError
from ..reading.tables import pyarrow_for
from .manifest import Manifest, ShardEntry
from .mapped import map_shard
from .rows import Rows
from .write.arrow import COLUMN

if TYPE_CHECKING:
    import pyarrow

TABLES = ("parquet", "arrow")
"""The kinds whose files are tables, which hold columns beside the ids."""

_ROWS = 1 << 16
_TOKENS = 1 << 21


def blocks(folder: Path, manifest: Manifest, entry: ShardEntry) -> Iterator[Rows]:
    """The documents of a shard. Raises `FileError` and `FormatError` for files that cannot be read."""
    read = _tables if manifest.kind in TABLES else _mapped
    return read(folder, manifest, entry)


def _mapped(folder: Path, manifest: Manifest, entry: ShardEntry) -> Iterator[Rows]:
    shard = map_shard(folder, manifest, entry)
    for first in range(0, entry.documents, _ROWS):
        offsets = shard.offsets(first, min(first + _ROWS, entry.documents))
        if offsets[0] < 0 or offsets[-1] > len(shard.ids) or (np.diff(offsets) < 0).any():
            raise FormatError(f"{folder / entry.files[-1].name}: borders of documents that are in no order")
        start = 0
        while start < len(offsets) - 1:
            end = int(np.searchsorted(offsets, offsets[start] + _TOKENS))
            end = min(max(end, start + 1), len(offsets) - 1)
            borders = offsets[start : end + 1]
            yield Rows(shard.ids[borders[0] : borders[-1]], borders - borders[0])
            start = end


def _tables(folder: Path, manifest: Manifest, entry: ShardEntry) -> Iterator[Rows]:
    path = folder / entry.files[0].name
    with _reading(path) as arrow:
        for batch in _batches(path, manifest.kind):
            batch.validate(full=True)
            yield _block(arrow.Table.from_batches([batch]), np.dtype(manifest.dtype))


@contextmanager
def _reading(path: Path) -> Iterator[Any]:
    """Yield pyarrow and raise its errors as those of polytok."""
    arrow = pyarrow_for(str(path))
    try:
        yield arrow
    except FormatError:
        raise
    except OSError as error:
        raise FileError(error.errno, f"cannot read the shard: {error.strerror or error}", str(path)) from error
    except (arrow.ArrowException, ValueError) as error:
        raise FormatError(f"{path}: {error}") from error


def columns(folder: Path, manifest: Manifest) -> pyarrow.Schema | None:
    """The columns beside the ids, if any. They are those of the first shard, because all shards have the same columns.

    Raises `FileError` and `FormatError` for a file that cannot be read.
    """
    if manifest.kind not in TABLES or not manifest.shards:
        return None
    path = folder / manifest.shards[0].files[0].name
    with _reading(path) as arrow:
        rest = [field for field in _schema(path, manifest.kind) if field.name != COLUMN]
    return arrow.schema(rest) if rest else None


def _schema(path: Path, kind: str) -> pyarrow.Schema:
    from pyarrow import ipc, memory_map, parquet

    if kind == "parquet":
        return parquet.read_schema(path)
    with memory_map(str(path)) as mapped, ipc.open_file(mapped) as file:
        return file.schema


def _batches(path: Path, kind: str) -> Iterator[pyarrow.RecordBatch]:
    from pyarrow import ipc, memory_map, parquet

    if kind == "parquet":
        with parquet.ParquetFile(path) as file:
            yield from file.iter_batches()
        return
    with memory_map(str(path)) as mapped, ipc.open_file(mapped) as file:
        for number in range(file.num_record_batches):
            yield file.get_batch(number)


def _block(table: pyarrow.Table, dtype: np.dtype[Any]) -> Rows:
    arrow = pyarrow_for()
    if COLUMN not in table.column_names or not arrow.types.is_list(table.schema.field(COLUMN).type):
        raise FormatError(f"there is no column {COLUMN!r} of lists")
    lists = table[COLUMN].combine_chunks()
    values = lists.values
    if lists.null_count or values.null_count or values.type != arrow.from_numpy_dtype(dtype):
        raise FormatError(f"the column {COLUMN!r} is of {lists.type}, or has nulls")
    offsets = lists.offsets.to_numpy().astype(np.int64)
    rest = [name for name in table.column_names if name != COLUMN]
    return Rows(values.to_numpy(), offsets, table.select(rest) if rest else None)
