"""Shards memory-mapped from the disk: the ids of a document are a slice of the file, without a copy.

Opening a shard checks sizes and headers, so that no index leads out of a file. `verify` checks the contents.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import FileError, FormatError
from .manifest import Manifest, ShardEntry
from .write.base import little
from .write.megatron import CODES, HEADER, MAGIC


class MappedShard:
    """A shard of ids in one stream: ``ids`` are all of them, row i is document i."""

    def __init__(self, ids: npt.NDArray[Any], places: npt.NDArray[np.int64], unit: int) -> None:
        self.ids = ids
        self._places = places
        self._unit = unit

    def span(self, row: int) -> tuple[int, int]:
        """Where document ``row`` begins and ends in ``ids``."""
        end = int(self._places[row + 1]) // self._unit if row + 1 < len(self._places) else len(self.ids)
        return int(self._places[row]) // self._unit, end

    def offsets(self, first: int, last: int) -> npt.NDArray[np.int64]:
        """The bounds of documents ``first`` to ``last``, int64 of shape (last - first + 1,)."""
        borders = self._places[first : last + 1] // self._unit
        return borders if last < len(self._places) else np.append(borders, len(self.ids))


def map_shard(folder: Path, manifest: Manifest, entry: ShardEntry) -> MappedShard:
    """A shard of a kind that can be mapped.

    Raises `FileError` if a file cannot be opened, and `FormatError` if its size or header is not the one in the
    manifest.
    """
    for file in entry.files:
        _check_size(folder / file.name, file.bytes)
    data, index = (folder / file.name for file in entry.files)
    dtype = little(np.dtype(manifest.dtype))
    try:
        ids = _array(data) if manifest.kind == "npy" else _mapped(data, dtype, 0, None)
        if len(ids) != entry.tokens or ids.dtype != dtype:
            raise FormatError(f"{data}: {len(ids)} ids of {ids.dtype}; the manifest has {entry.tokens} of {dtype}")
        if manifest.kind == "megatron":
            return MappedShard(ids, _pointers(index, dtype, entry.documents), dtype.itemsize)
        _check_size(index, 8 * (entry.documents + 1))
        return MappedShard(ids, _mapped(index, np.dtype("<i8"), 0, None), 1)
    except OSError as error:
        raise FileError(error.errno, f"cannot read the shard: {error.strerror}", str(error.filename or data)) from error


def _check_size(path: Path, size: int) -> None:
    try:
        found = path.stat().st_size
    except OSError as error:
        raise FileError(error.errno, f"cannot read the shard: {error.strerror}", str(path)) from error
    if found != size:
        raise FormatError(f"{path}: {found} bytes, but it should have {size}")


def _mapped(path: Path, dtype: np.dtype[Any], place: int, count: int | None) -> npt.NDArray[Any]:
    """A part of a file. (An empty part cannot be mapped.)"""
    if count == 0 or path.stat().st_size <= place:
        return np.empty(0, dtype=dtype)
    shape = None if count is None else (count,)
    try:
        return np.asarray(np.memmap(path, dtype=dtype, mode="r", offset=place, shape=shape))
    except ValueError as error:
        raise FormatError(f"{path}: {error}") from error


def _array(path: Path) -> npt.NDArray[Any]:
    try:
        with open(path, "rb") as file:
            if (version := np.lib.format.read_magic(file)) != (1, 0):
                raise FormatError(f"version {version} of the .npy format")
            shape, _, dtype = np.lib.format.read_array_header_1_0(file)
            place = file.tell()
    except ValueError as error:
        raise FormatError(f"{path}: {error}") from error
    if len(shape) != 1 or dtype.hasobject:
        raise FormatError(f"{path}: no row of ids, but {shape} of {dtype}")
    return _mapped(path, dtype, place, None)


def _pointers(path: Path, dtype: np.dtype[Any], documents: int) -> npt.NDArray[np.int64]:
    """The places of documents from an index, in bytes."""
    _check_size(path, HEADER.size + 20 * documents + 8)
    with open(path, "rb") as file:
        header = HEADER.unpack(file.read(HEADER.size))
    expected = (MAGIC, 1, CODES[dtype.name], documents, documents + 1)
    if header != expected:
        raise FormatError(f"{path}: the header says {header}, but should say {expected}")
    return _mapped(path, np.dtype("<i8"), HEADER.size + 4 * documents, documents)
