"""What shard writers share: their files, checks of what is written, and shards that appear completely or not at all."""

from __future__ import annotations

from abc import ABC, abstractmethod
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

from ...errors import ArgumentError
from ...values import IdArray
from .output import OutputFile, ShardFile, force

if TYPE_CHECKING:
    import pyarrow

LONGEST = np.iinfo(np.int32).max
"""The most tokens of a document that the lengths of Megatron's index and the offsets of an Arrow list can represent."""

Rows = npt.NDArray[np.int64]


class ShardWriter(ABC):
    """Writes the documents of one shard as they arrive; its memory does not grow with them.

    The files have temporary names until `finish`. As a context manager it removes unfinished files.

    >>> import tempfile
    >>> from polytok.corpus.write import WRITERS
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with WRITERS["flat"](Path(folder), "00000", np.dtype("uint16")) as writer:
    ...         writer.write(np.array([5, 6, 7], dtype=np.uint16), np.array([0, 2, 2, 3]))
    ...         files = writer.finish()
    ...     np.fromfile(f"{folder}/00000.bin", dtype="<u2").tolist(), [file.name for file in files]
    ([5, 6, 7], ['00000.bin', '00000.offsets'])
    """

    kind: ClassVar[str]
    suffixes: ClassVar[tuple[str, ...]]
    """The suffixes of the shard's files; the first is that of the ids."""
    dtypes: ClassVar[tuple[str, ...]] = ("uint16", "uint32", "int32")
    takes_columns: ClassVar[bool] = False

    def __init__(self, folder: Path, stem: str, dtype: np.dtype[Any], columns: pyarrow.Schema | None = None) -> None:
        """Begin a shard: ``folder/stem`` with the suffixes. ``columns`` are stored with the documents.

        Raises `ArgumentError` for a dtype or columns that the kind cannot hold.
        """
        if columns is not None and len(columns) and not self.takes_columns:
            raise ArgumentError(f"{self.kind} holds ids alone: leave the columns out, or write parquet or arrow")
        if dtype != self.stored(dtype):
            raise ArgumentError(f"{self.kind} cannot hold {dtype}, but {', '.join(self.dtypes)}")
        self.dtype = little(dtype)
        self.documents = 0
        self.tokens = 0
        self._folder = folder
        self._files: list[OutputFile] = []
        try:
            for suffix in self.suffixes:
                self._files.append(OutputFile(folder / f"{stem}{suffix}"))
            self._begin(columns)
        except BaseException:
            self.abort()
            raise

    @classmethod
    def stored(cls, dtype: np.dtype[Any]) -> np.dtype[Any]:
        """The dtype that the kind uses for such ids; int32 if it has no uint32.

        Raises `ArgumentError` if it has none.
        """
        if dtype.name in cls.dtypes:
            return dtype
        if dtype.name == "uint32":
            return np.dtype(np.int32)
        raise ArgumentError(f"ids cannot be written as {dtype}: choose uint16, uint32 or int32")

    def write(self, ids: IdArray | npt.NDArray[np.int32], offsets: Rows, columns: pyarrow.Table | None = None) -> None:
        """Append documents: row i is ``ids[offsets[i]:offsets[i + 1]]``.

        Raises `ArgumentError` for an id that the dtype cannot hold and for a document of more than 2**31 - 1 tokens,
        `FileError` if the system cannot write. The shard is then abandoned.
        """
        if len(offsets) < 2:
            return
        try:
            lengths = np.diff(offsets)
            if lengths.max() > LONGEST:
                raise ArgumentError(f"a document has {lengths.max()} tokens: a maximum length can cut it")
            self._append(self._cast(ids[offsets[0] : offsets[-1]]), lengths, columns)
        except BaseException:
            self.abort()
            raise
        self.documents += len(lengths)
        self.tokens += int(offsets[-1] - offsets[0])

    def _cast(self, ids: npt.NDArray[Any]) -> npt.NDArray[Any]:
        if ids.dtype != self.dtype:
            largest, fits = int(ids.max(initial=0)), int(np.iinfo(self.dtype).max)
            if largest > fits:
                raise ArgumentError(f"id {largest} does not fit into {self.dtype.name}, which ends at {fits}")
        return np.ascontiguousarray(ids, dtype=self.dtype)

    def finish(self, *, forced: bool = True) -> tuple[ShardFile, ...]:
        """Write the remainder, and give the files their names. Raises `FileError`.

        If ``forced``, everything is then on the disk. Otherwise the system writes it there when it finds time.
        """
        try:
            self._end()
            finished = tuple(file.finish(forced=forced) for file in self._files)
            for file in self._files:
                file.keep()
            if forced:
                force(self._folder, ())
        except BaseException:
            self.abort()
            raise
        self._files = []
        return finished

    def abort(self) -> None:
        """Remove what was written. Does nothing after `finish`."""
        for file in self._files:
            file.discard()
        self._files = []

    def __enter__(self) -> ShardWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.abort()

    @abstractmethod
    def _begin(self, columns: pyarrow.Schema | None) -> None:
        """Write the header, before the documents."""

    @abstractmethod
    def _append(self, ids: npt.NDArray[Any], lengths: Rows, columns: pyarrow.Table | None) -> None:
        """Write documents: their concatenated ids, and the length of each of them."""

    @abstractmethod
    def _end(self) -> None:
        """Write what follows the documents, or depends on their number."""


def little(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The dtype with little-endian bytes; on a little-endian machine, the native dtype."""
    ordered: np.dtype[Any] = np.dtype(dtype.newbyteorder("<").str)
    return ordered
