"""The base class of shard writers, which checks ids and makes the files of a shard appear completely or not at all."""

from __future__ import annotations

from abc import ABC, abstractmethod
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

from ...errors import ArgumentError
from ...keywords import keyword
from ...values import IdArray
from .documents_table import DOCUMENTS_SUFFIX, DocumentsTable
from .output import OutputFile, ShardFile, force

if TYPE_CHECKING:
    from ...arrow import pyarrow

MAX_DOCUMENT_TOKENS = np.iinfo(np.int32).max
"""The maximum number of tokens of a document: lengths in Megatron's index and offsets of Arrow lists are int32."""

IntArray = npt.NDArray[np.int64]


class ShardWriter(ABC):
    """Writes the documents of one shard in portions; its memory does not grow with the number of documents.

    The files have temporary names until `finish` is called. The writer is a context manager that removes unfinished
    files at the end of the context.

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
    """The suffixes of the shard's files; the file of the ids is first."""
    dtypes: ClassVar[tuple[str, ...]] = ("uint16", "uint32", "int32")
    can_hold_columns: ClassVar[bool] = False

    def __init__(
        self,
        folder: Path,
        stem: str,
        dtype: np.dtype[Any],
        columns: pyarrow.Schema | None = None,
        *,
        has_documents_table: bool = False,
    ) -> None:
        """Creates the files of a shard for ids of ``dtype``; the names are ``folder/stem`` with the suffixes.

        ``columns`` is the schema of columns that are stored with the documents. If ``has_documents_table``, a format
        that cannot hold columns gets a documents table for them.

        Raises `ArgumentError` for a dtype or columns that the kind cannot hold.
        """
        suffixes = self.file_suffixes(has_documents_table)
        self.holds_columns = self.can_hold_columns or suffixes != self.suffixes
        if columns is not None and len(columns) and not self.holds_columns:
            raise ArgumentError(f"{self.kind} cannot hold columns: remove the columns, or write parquet or arrow")
        if dtype != self.stored_dtype(dtype):
            raise ArgumentError(self.unsupported_dtype(dtype.name))
        self.dtype = to_little_endian(dtype)
        self.documents = 0
        self.tokens = 0
        self._folder = folder
        self._files: list[OutputFile] = []
        try:
            for suffix in suffixes:
                self._files.append(OutputFile(folder / f"{stem}{suffix}"))
            self._documents_table = self._create_documents_table(columns)
            self._write_beginning(columns)
        except BaseException:
            self.abort()
            raise

    @classmethod
    def file_suffixes(cls, has_documents_table: bool) -> tuple[str, ...]:
        """Returns the suffixes of all files of a shard. A format that can hold columns has no documents table."""
        return (*cls.suffixes, DOCUMENTS_SUFFIX) if has_documents_table and not cls.can_hold_columns else cls.suffixes

    def _create_documents_table(self, columns: pyarrow.Schema | None) -> DocumentsTable | None:
        return None if columns is None or self.can_hold_columns else DocumentsTable(self._files[-1], columns)

    @classmethod
    def stored_dtype(cls, dtype: np.dtype[Any]) -> np.dtype[Any]:
        """Returns the dtype that the format uses for ids of ``dtype``: int32 replaces uint32 if necessary.

        Raises `ArgumentError` if the format cannot store the dtype. Every format accepts uint32.
        """
        if dtype.name in cls.dtypes:
            return dtype
        if dtype.name == "uint32":
            return np.dtype(np.int32)
        raise ArgumentError(f"ids cannot be written as {dtype}: choose uint16, uint32 or int32")

    @classmethod
    def unsupported_dtype(cls, dtype: str) -> str:
        """Returns the error message, with marked keywords, for a dtype that the format cannot store."""
        choices = " or ".join(keyword("dtype", name) for name in cls.dtypes)
        return f"{keyword('to', cls.kind)} cannot hold {dtype}: choose {choices}"

    def write(
        self, ids: IdArray | npt.NDArray[np.int32], offsets: IntArray, columns: pyarrow.Table | None = None
    ) -> None:
        """Appends documents: document i is ``ids[offsets[i]:offsets[i + 1]]``.

        Raises `ArgumentError` for an id that the dtype cannot hold and for a document of more than 2**31 - 1 tokens,
        and `FileError` if a file cannot be written. After an error, the files of the shard are removed.
        """
        if len(offsets) < 2:
            return
        try:
            lengths = np.diff(offsets)
            if lengths.max() > MAX_DOCUMENT_TOKENS:
                raise ArgumentError(
                    f"a document has {lengths.max()} tokens, which is too long: set {keyword('max_tokens')} to "
                    "truncate or split it"
                )
            self._write_documents(self._cast(ids[offsets[0] : offsets[-1]]), lengths, columns)
            if self._documents_table is not None and columns is not None:
                self._documents_table.write(columns)
        except BaseException:
            self.abort()
            raise
        self.documents += len(lengths)
        self.tokens += int(offsets[-1] - offsets[0])

    def _cast(self, ids: npt.NDArray[Any]) -> npt.NDArray[Any]:
        if ids.dtype != self.dtype:
            largest, dtype_max = int(ids.max(initial=0)), int(np.iinfo(self.dtype).max)
            if largest > dtype_max:
                raise ArgumentError(f"id {largest} does not fit into {self.dtype.name}, whose maximum is {dtype_max}")
        return np.ascontiguousarray(ids, dtype=self.dtype)

    def finish(self, *, is_forced: bool = True) -> tuple[ShardFile, ...]:
        """Writes the remaining data, gives the files their final names, and returns the files. Raises `FileError`.

        If ``is_forced``, the files are on the disk on return. Otherwise the system writes them to the disk later.
        """
        try:
            self._write_ending()
            if self._documents_table is not None:
                self._documents_table.finish()
            finished_files = tuple(file.finish(is_forced=is_forced) for file in self._files)
            for file in self._files:
                file.keep()
            if is_forced:
                force(self._folder, ())
        except BaseException:
            self.abort()
            raise
        self._files = []
        return finished_files

    def abort(self) -> None:
        """Removes the files of the shard. Does nothing after `finish`."""
        for file in self._files:
            file.discard()
        self._files = []

    def __enter__(self) -> ShardWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.abort()

    @abstractmethod
    def _write_beginning(self, columns: pyarrow.Schema | None) -> None:
        """Writes the data before the first document."""

    @abstractmethod
    def _write_documents(self, ids: npt.NDArray[Any], lengths: IntArray, columns: pyarrow.Table | None) -> None:
        """Writes documents with the concatenated ids ``ids``. ``lengths`` has the number of tokens of each document."""

    @abstractmethod
    def _write_ending(self) -> None:
        """Writes the data after the last document, and data that depends on the number of documents."""


def to_little_endian(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Returns the dtype with little-endian byte order, which is the native order on most machines."""
    little_endian_dtype: np.dtype[Any] = np.dtype(dtype.newbyteorder("<").str)
    return little_endian_dtype
