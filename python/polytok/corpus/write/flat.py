"""Writes all ids concatenated, as raw bytes (``.bin``, which nanoGPT reads) or as a numpy array (``.npy``).

A second file, ``.offsets``, has the offsets of documents in the ids as little-endian int64: document i is
``ids[offsets[i]:offsets[i + 1]]``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ...npy import NpyWriter
from .base import IntArray, ShardWriter

if TYPE_CHECKING:
    from ...arrow import pyarrow


class FlatWriter(ShardWriter):
    """Writes the files ``.bin`` and ``.offsets``."""

    kind = "flat"
    suffixes = (".bin", ".offsets")

    def _write_beginning(self, columns: pyarrow.Schema | None) -> None:
        self._files[1].write(bytes(8))

    def _write_documents(self, ids: npt.NDArray[Any], lengths: IntArray, columns: pyarrow.Table | None) -> None:
        self._write_ids(ids)
        self._files[1].write((self.tokens + np.cumsum(lengths)).astype("<i8"))

    def _write_ids(self, ids: npt.NDArray[Any]) -> None:
        self._files[0].write(ids)

    def _write_ending(self) -> None:
        pass


class NpyShardWriter(FlatWriter):
    """Writes the files ``.npy`` and ``.offsets``."""

    kind = "npy"
    suffixes = (".npy", ".offsets")

    def _write_beginning(self, columns: pyarrow.Schema | None) -> None:
        super()._write_beginning(columns)
        self._array = NpyWriter(self._files[0], self.dtype)

    def _write_ids(self, ids: npt.NDArray[Any]) -> None:
        self._array.write(ids)

    def _write_ending(self) -> None:
        self._array.finish()
