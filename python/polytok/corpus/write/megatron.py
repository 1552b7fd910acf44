"""Writes Megatron's indexed dataset: ``.bin`` has the concatenated ids, and ``.idx`` is an index of documents.

The index is little-endian. The header of the index has the magic, the version 1 (u64), the code of the dtype (u8), the
number of sequences (u64) and the length of the last array (u64). Three arrays follow: the length of each sequence
(i32), the position of each sequence in the ``.bin`` file in bytes (i64), and the index of the first sequence of each
document (i64), followed by the number of sequences. Each document is one sequence here, so the last array counts up
from 0.

Megatron's reader supports uint16 and int32, so uint16 is written for vocabularies up to 65,536 ids. The format has no
uint32; int32 holds the ids of every vocabulary.

Only the lengths are written while documents arrive. The positions are computed from the lengths when the shard ends.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ...keywords import keyword
from .base import IntArray, ShardWriter

if TYPE_CHECKING:
    from ...arrow import pyarrow

INDEX_MAGIC = b"MMIDIDX\0\0"
INDEX_HEADER = struct.Struct("<9sQBQQ")
DTYPE_CODES = {"uint16": 8, "int32": 4}

_BLOCK_DOCUMENTS = 1 << 17


class MegatronWriter(ShardWriter):
    """Writes the files ``.bin`` and ``.idx``."""

    kind = "megatron"
    suffixes = (".bin", ".idx")
    dtypes = ("uint16", "int32")

    @classmethod
    def unsupported_dtype(cls, dtype: str) -> str:
        """Returns the error message, with marked keywords, for a dtype that the format cannot store.

        >>> from polytok.keywords import without_marks
        >>> without_marks(MegatronWriter.unsupported_dtype("uint32"))
        "to='megatron' cannot hold uint32, because Megatron's index has no code for it: choose dtype='int32', which can
        hold the ids of every vocabulary, or another format, such as to='flat'"
        """
        return (
            f"{keyword('to', 'megatron')} cannot hold {dtype}, because Megatron's index has no code for it: choose "
            f"{keyword('dtype', 'int32')}, which can hold the ids of every vocabulary, or another format, such as "
            f"{keyword('to', 'flat')}"
        )

    def _write_beginning(self, columns: pyarrow.Schema | None) -> None:
        self._files[1].write(bytes(INDEX_HEADER.size))

    def _write_documents(self, ids: npt.NDArray[Any], lengths: IntArray, columns: pyarrow.Table | None) -> None:
        self._files[0].write(ids)
        self._files[1].write(lengths.astype("<i4"))

    def _write_ending(self) -> None:
        index = self._files[1]
        position = 0
        for lengths in self._lengths():
            ends = position + np.cumsum(lengths, dtype=np.int64) * self.dtype.itemsize
            index.write(np.concatenate(([position], ends[:-1])).astype("<i8"))
            position = int(ends[-1])
        for first_document in range(0, self.documents + 1, _BLOCK_DOCUMENTS):
            index.write(
                np.arange(first_document, min(first_document + _BLOCK_DOCUMENTS, self.documents + 1), dtype="<i8")
            )
        index.seek(0)
        index.write(INDEX_HEADER.pack(INDEX_MAGIC, 1, DTYPE_CODES[self.dtype.name], self.documents, self.documents + 1))

    def _lengths(self) -> Iterator[npt.NDArray[np.int32]]:
        """Yields the lengths of documents in blocks, read from the unfinished index."""
        for first_document in range(0, self.documents, _BLOCK_DOCUMENTS):
            count = min(_BLOCK_DOCUMENTS, self.documents - first_document)
            yield np.frombuffer(self._files[1].read_at(INDEX_HEADER.size + 4 * first_document, 4 * count), dtype="<i4")
