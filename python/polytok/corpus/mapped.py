"""Memory-maps the files of a shard, so that the ids of a document are a slice of the file without a copy.

Opening a shard checks the sizes and headers of its files. `verify` checks the contents.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import npy
from ..errors import FileError, FormatError
from .manifest import Manifest, ShardEntry
from .write.base import to_little_endian
from .write.megatron import DTYPE_CODES, INDEX_HEADER, INDEX_MAGIC


class MappedShard:
    """A shard with its files mapped.

    ``ids`` has the ids of all documents of the shard, concatenated in an array of shape (tokens,) with the dtype of the
    dataset.
    """

    def __init__(self, ids: npt.NDArray[Any], starts: npt.NDArray[np.int64], start_unit: int) -> None:
        """``starts[i] // unit`` is the index of the first id of document i in ``ids``."""
        self.ids = ids
        self._starts = starts
        self._start_unit = start_unit

    def span(self, row: int) -> tuple[int, int]:
        """Returns the start and end of document ``row`` in ``ids``."""
        end = int(self._starts[row + 1]) // self._start_unit if row + 1 < len(self._starts) else len(self.ids)
        return int(self._starts[row]) // self._start_unit, end

    def row_at(self, position: int) -> int:
        """Returns the document that contains the id at index ``position`` of ``ids``."""
        return int(np.searchsorted(self._starts, position * self._start_unit, side="right")) - 1

    def offsets(self, first: int, last: int) -> npt.NDArray[np.int64]:
        """Returns the offsets of documents ``first`` to ``last - 1`` in ``ids``: int64, shape (last - first + 1,).

        Document ``first + i`` is ``ids[offsets[i]:offsets[i + 1]]``.
        """
        offsets = self._starts[first : last + 1] // self._start_unit
        return offsets if last < len(self._starts) else np.append(offsets, len(self.ids))


def map_shard(folder: Path, manifest: Manifest, entry: ShardEntry) -> MappedShard:
    """Maps the files of a shard of kind ``megatron``, ``flat`` or ``npy``.

    Raises `FileError` if a file cannot be opened, and `FormatError` if its size or header differs from the manifest.
    """
    for file in entry.files:
        _check_size(folder / file.name, file.bytes)
    ids_path, index_path = (folder / file.name for file in entry.files[:2])
    dtype = to_little_endian(np.dtype(manifest.dtype))
    try:
        ids = _map_npy(ids_path) if manifest.kind == "npy" else _map_range(ids_path, dtype, 0, None)
        if len(ids) != entry.tokens or ids.dtype != dtype:
            raise FormatError(
                f"{ids_path}: the file has {len(ids)} ids of type {ids.dtype}, but the manifest has {entry.tokens} ids "
                f"of type {dtype}"
            )
        if manifest.kind == "megatron":
            return MappedShard(ids, _map_document_starts(index_path, dtype, entry.documents), dtype.itemsize)
        _check_size(index_path, 8 * (entry.documents + 1))
        return MappedShard(ids, _map_range(index_path, np.dtype("<i8"), 0, None), 1)
    except OSError as error:
        raise FileError(
            error.errno, f"cannot read the shard: {error.strerror}", str(error.filename or ids_path)
        ) from error


def _check_size(path: Path, size: int) -> None:
    try:
        actual_size = path.stat().st_size
    except OSError as error:
        raise FileError(error.errno, f"cannot read the shard: {error.strerror}", str(path)) from error
    if actual_size != size:
        raise FormatError(f"{path}: the file has {actual_size} bytes instead of {size}")


def _map_range(path: Path, dtype: np.dtype[Any], position: int, count: int | None) -> npt.NDArray[Any]:
    """Maps ``count`` values from byte ``position`` of a file on, or all remaining values if ``count`` is None.

    Systems cannot map an empty range, so it is returned as an ordinary empty array.
    """
    if count == 0 or path.stat().st_size <= position:
        return np.empty(0, dtype=dtype)
    shape = None if count is None else (count,)
    try:
        return np.asarray(np.memmap(path, dtype=dtype, mode="r", offset=position, shape=shape))
    except ValueError as error:
        raise FormatError(f"{path}: {error}") from error


def _map_npy(path: Path) -> npt.NDArray[Any]:
    try:
        with open(path, "rb") as file:
            _, dtype = npy.read_header(file)
            position = file.tell()
    except ValueError as error:
        raise FormatError(f"{path}: {error}") from error
    return _map_range(path, dtype, position, None)


def _map_document_starts(path: Path, dtype: np.dtype[Any], documents: int) -> npt.NDArray[np.int64]:
    """Maps the array of Megatron's index that has the byte position of each document in the ``.bin`` file."""
    _check_size(path, INDEX_HEADER.size + 20 * documents + 8)
    with open(path, "rb") as file:
        header = INDEX_HEADER.unpack(file.read(INDEX_HEADER.size))
    expected = (INDEX_MAGIC, 1, DTYPE_CODES[dtype.name], documents, documents + 1)
    if header != expected:
        raise FormatError(f"{path}: the header is {header} instead of {expected}")
    return _map_range(path, np.dtype("<i8"), INDEX_HEADER.size + 4 * documents, documents)
