"""A file of a shard that is being written: it has a temporary name, and each write updates its checksum."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from ... import _core
from ...files import Draft, write_error

_READ_BYTES = 1 << 20

_WRITEBACK_BYTES = 8 << 20
"""The number of new bytes after which the system is advised to write them to the disk."""

_BytesLike: TypeAlias = "bytes | memoryview | npt.NDArray[Any]"


class ShardFile(NamedTuple):
    """The name of a finished file, its size in bytes, and its 128-bit XXH3 checksum in hexadecimal."""

    name: str
    bytes: int
    checksum: str


class OutputFile:
    """A binary file that is written from start to end, with the methods that pyarrow's writers need.

    If `seek` is called, `finish` reads the whole file to compute its checksum. All methods raise `FileError` with the
    final name of the file if the system reports an error.
    """

    closed = False

    def __init__(self, target: Path) -> None:
        self._draft = Draft(target)
        self._checksum: _core.Checksum | None = _core.Checksum()
        self._is_discarded = False
        self._advised_end = 0

    def write(self, data: _BytesLike) -> int:
        """Appends bytes and returns their number."""
        part = np.frombuffer(data, dtype=np.uint8)
        # pyarrow's writers flush their remaining data when they are garbage-collected, after the file is discarded.
        if self._is_discarded:
            return len(part)
        with self._named_errors():
            self._draft.file.write(part.data)
        if self._checksum is not None:
            self._checksum.update(part)
        self._advise_writeback()
        return len(part)

    def _advise_writeback(self) -> None:
        """Advises the system to write new bytes to the disk, and to drop bytes on the disk from the page cache.

        A shard is not read again soon, so the next shard can reuse its page cache, and finishing the shard need not
        wait for the disk. Writing 400 MB took 0.1 instead of 0.9 seconds of processor time on a virtual machine, where
        new memory is expensive.
        """
        end = self.tell()
        if end - self._advised_end >= _WRITEBACK_BYTES and hasattr(os, "posix_fadvise"):
            # The range includes the previous range, which is on the disk by now and so can leave the page cache.
            begin = max(0, self._advised_end - _WRITEBACK_BYTES)
            with suppress(OSError):  # the advice is optional
                os.posix_fadvise(self._draft.file.fileno(), begin, end - begin, os.POSIX_FADV_DONTNEED)
            self._advised_end = end

    def tell(self) -> int:
        """Returns the position of the next write."""
        return self._draft.file.tell()

    def seek(self, position: int) -> int:
        """Sets the position of the next write, to overwrite earlier bytes. Returns the position."""
        self._checksum = None
        with self._named_errors():
            return self._draft.file.seek(position)

    def read_at(self, position: int, size: int) -> bytes:
        """Reads up to ``size`` bytes from ``position`` on, then sets the position of the next write to the end."""
        with self._named_errors():
            self._draft.file.flush()
            self._draft.file.seek(position)
            data = self._draft.file.read(size)
            self._draft.file.seek(0, os.SEEK_END)
        return data

    def flush(self) -> None:
        """Passes all buffered bytes to the system."""
        with self._named_errors():
            self._draft.file.flush()

    @contextmanager
    def _named_errors(self) -> Iterator[None]:
        """Raises an error of the system as a `FileError` with the final name of the file."""
        try:
            yield
        except OSError as error:
            raise write_error(error, self._draft.target) from error

    def close(self) -> None:
        """Does nothing. Writers of pyarrow call this method, but the file stays open until `keep` or `discard`."""

    def finish(self, *, is_forced: bool = True) -> ShardFile:
        """Completes the file under its temporary name and returns its final name, size and checksum.

        If ``is_forced``, the file is on the disk on return.
        """
        self.flush()
        if is_forced:
            with self._named_errors():
                os.fsync(self._draft.file.fileno())
        size = os.fstat(self._draft.file.fileno()).st_size
        return ShardFile(self._draft.target.name, size, (self._checksum or self._checksum_from_file()).hex())

    def _checksum_from_file(self) -> _core.Checksum:
        """Computes the checksum by reading the file, which was not written in order."""
        checksum, position = _core.Checksum(), 0
        while part := self.read_at(position, _READ_BYTES):
            checksum.update(np.frombuffer(part, dtype=np.uint8))
            position += len(part)
        return checksum

    def keep(self) -> None:
        """Gives the file its final name."""
        self._draft.keep()

    def discard(self) -> None:
        """Removes the file. Later writes do nothing."""
        self._is_discarded = True
        self._draft.discard()


def force(folder: Path, names: Iterable[str]) -> None:
    """Forces files, and the folder's list of file names, to the disk. Raises `FileError`."""
    for name in names:
        _force_path(folder / name)
    if os.name != "nt":  # Windows cannot open a folder
        _force_path(folder)


def _force_path(path: Path) -> None:
    try:
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
    except OSError as error:
        raise write_error(error, path) from error


def checksum(path: Path) -> str:
    """Returns the checksum of a file, in the form of `ShardFile`."""
    with open(path, "rb", buffering=0) as file:
        return checksum_of(file)


def checksum_of(file: IO[bytes]) -> str:
    """Returns the checksum of the remaining content of an open file."""
    content_checksum = _core.Checksum()
    while data := file.read(_READ_BYTES):
        content_checksum.update(np.frombuffer(data, dtype=np.uint8))
    return content_checksum.hex()
