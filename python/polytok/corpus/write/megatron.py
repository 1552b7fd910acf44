"""Megatron's indexed dataset: ``.bin``, the concatenated ids, and ``.idx``, the beginnings of documents.

The index, little-endian: the magic, u64 version 1, u8 code of the dtype, u64 number of sequences, u64 number of
document borders; then i32 lengths, i64 places in the ``.bin`` in bytes, i64 document borders. A document is one
sequence here, so the borders count up from 0. Megatron's reader goes by the code, so uint16 is written for vocabularies
up to 65,536 ids; its format has no uint32, and int32 holds the ids of every vocabulary.

Only the lengths are written while documents arrive; places and bounds are derived from them when the shard ends.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from .base import Rows, ShardWriter

if TYPE_CHECKING:
    import pyarrow

MAGIC = b"MMIDIDX\0\0"
HEADER = struct.Struct("<9sQBQQ")
CODES = {"uint16": 8, "int32": 4}

_BLOCK = 1 << 17


class MegatronWriter(ShardWriter):
    """Writes the pair of ``.bin`` and ``.idx``."""

    kind = "megatron"
    suffixes = (".bin", ".idx")
    dtypes = ("uint16", "int32")

    def _begin(self, columns: pyarrow.Schema | None) -> None:
        self._files[1].write(bytes(HEADER.size))

    def _append(self, ids: npt.NDArray[Any], lengths: Rows, columns: pyarrow.Table | None) -> None:
        self._files[0].write(ids)
        self._files[1].write(lengths.astype("<i4"))

    def _end(self) -> None:
        index = self._files[1]
        place = 0
        for lengths in self._lengths():
            ends = place + np.cumsum(lengths, dtype=np.int64) * self.dtype.itemsize
            index.write(np.concatenate(([place], ends[:-1])).astype("<i8"))
            place = int(ends[-1])
        for first in range(0, self.documents + 1, _BLOCK):
            index.write(np.arange(first, min(first + _BLOCK, self.documents + 1), dtype="<i8"))
        index.seek(0)
        index.write(HEADER.pack(MAGIC, 1, CODES[self.dtype.name], self.documents, self.documents + 1))

    def _lengths(self) -> Iterator[npt.NDArray[np.int32]]:
        for first in range(0, self.documents, _BLOCK):
            count = min(_BLOCK, self.documents - first)
            yield np.frombuffer(self._files[1].read_at(HEADER.size + 4 * first, 4 * count), dtype="<i4")
