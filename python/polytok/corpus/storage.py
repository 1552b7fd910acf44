"""Where a job writes: a local folder, or a folder of an object store by its URL.

A file is written completely or not at all: a local folder renames the finished file, and a store of objects (S3, GCS,
Azure) works this way itself. If fsspec writes to files of another machine (sftp, smb), a lost connection can leave half
a file; no record mentions it, so it is written again.
"""

from __future__ import annotations

import errno
import hashlib
import importlib
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from pathlib import Path
from typing import IO, Any, Protocol, cast

from ..errors import ArgumentError, FileError
from ..files import replacing
from . import lock
from .write import force


class Storage(Protocol):
    """Files by their names; ``/`` separates folders."""

    url: str
    """The location, for any process."""
    name: str
    """The location, as the caller gave it."""

    def names(self) -> set[str]:
        """The names of all files."""

    def read(self, name: str) -> bytes | None:
        """A small file, or None if it is missing."""

    def open(self, name: str) -> IO[bytes]:
        """A file for reading."""

    def write(self, name: str, data: bytes, *, forced: bool = True) -> None:
        """Write a small file. If it is ``forced`` (stores always do this), it is on the disk on return."""

    def force(self, names: Iterable[str]) -> None:
        """Force files to the disk that were written unforced."""

    def remove(self, name: str) -> None:
        """Remove a file, if it exists."""

    def fetched(self, name: str) -> AbstractContextManager[Path]:
        """A file as a local file."""

    def filled(self) -> AbstractContextManager[Path]:
        """A local folder; its files are added to the storage when the context ends without an error."""

    def locked(self) -> AbstractContextManager[int | None]:
        """Keep other jobs out; yields the locked open file, if there is one."""


def storage(place: str | os.PathLike[str]) -> Storage:
    """The storage of a path or URL."""
    name = os.fspath(place)
    if "://" not in name:
        return Folder(name)
    return Folder(name.removeprefix("file://")) if name.startswith("file://") else ObjectStore(name)


class Folder:
    """A folder of a file system; machines can share it."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path = Path(os.path.abspath(path))
        self.url, self.name = str(self._path), os.fspath(path)

    def names(self) -> set[str]:
        """The names of all files."""
        paths = self._path.rglob("*") if self._path.is_dir() else ()
        return {path.relative_to(self._path).as_posix() for path in paths if path.is_symlink() or not path.is_dir()}

    def read(self, name: str) -> bytes | None:
        """A small file, or None if it is missing."""
        try:
            return (self._path / name).read_bytes()
        except FileNotFoundError:
            return None

    def open(self, name: str) -> IO[bytes]:
        """A file for reading."""
        return open(self._path / name, "rb")

    def write(self, name: str, data: bytes, *, forced: bool = True) -> None:
        """Write a small file. If it is ``forced``, it is on the disk on return."""
        path = self._path / name
        _make(path.parent)
        with replacing(path) as file:
            file.write(data)
            if forced:
                file.flush()
                os.fsync(file.fileno())

    def force(self, names: Iterable[str]) -> None:
        """Force files and their names to the disk."""
        force(self._path, names)

    def remove(self, name: str) -> None:
        """Remove a file, and its folder if that is then empty."""
        path = self._path / name
        path.unlink(missing_ok=True)
        if path.parent != self._path and not any(path.parent.iterdir()):
            path.parent.rmdir()

    def fetched(self, name: str) -> AbstractContextManager[Path]:
        """The file itself."""
        return nullcontext(self._path / name)

    def filled(self) -> AbstractContextManager[Path]:
        """The folder itself."""
        return nullcontext(self._path)

    @contextmanager
    def locked(self) -> Iterator[int | None]:
        """Keep other jobs out."""
        _make(self._path)
        with lock.locked(self._path) as file:
            yield file


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(error.errno, f"cannot make the folder: {error.strerror}", str(folder)) from error


class ObjectStore:
    """A folder that fsspec opens."""

    def __init__(self, url: str) -> None:
        try:
            core = importlib.import_module("fsspec.core")
        except ImportError as error:
            raise ArgumentError(f"{url} is a URL: pip install 'polytok[remote]' to write there") from error
        try:
            self._system, root = cast("tuple[Any, str]", core.url_to_fs(url))
        except (ImportError, ValueError) as error:
            raise ArgumentError(f"{url} cannot be written: {error}") from error
        self._root = root.rstrip("/")
        self.url = self.name = url
        self._prefix = f"polytok-{hashlib.sha256(url.encode()).hexdigest()[:16]}-"

    def names(self) -> set[str]:
        """The names of all files."""
        self._system.invalidate_cache()
        with self._trying("list"):
            try:
                found = self._system.find(self._root)
            except FileNotFoundError:
                return set()
        return {path[len(self._root) + 1 :] for path in found}

    def read(self, name: str) -> bytes | None:
        """A small file, or None if it is missing."""
        with self._trying("read", name):
            try:
                return cast("bytes", self._system.cat_file(self._at(name)))
            except FileNotFoundError:
                return None

    def open(self, name: str) -> IO[bytes]:
        """A file for reading."""
        with self._trying("read", name):
            return cast("IO[bytes]", self._system.open(self._at(name), "rb"))

    def write(self, name: str, data: bytes, *, forced: bool = True) -> None:
        """Write a small file."""
        with self._trying("write", name):
            self._system.pipe_file(self._at(name), data)

    def force(self, names: Iterable[str]) -> None:
        """Do nothing: a store keeps what it has accepted."""

    def remove(self, name: str) -> None:
        """Remove a file, if it exists."""
        with self._trying("remove", name), suppress(FileNotFoundError):
            self._system.rm_file(self._at(name))

    @contextmanager
    def fetched(self, name: str) -> Iterator[Path]:
        """A copy of a file."""
        with self._temporary() as folder:
            with self._trying("read", name):
                self._system.get_file(self._at(name), str(folder / name))
            yield folder / name

    @contextmanager
    def filled(self) -> Iterator[Path]:
        """A temporary folder; its files are copied to the store at the end."""
        with self._temporary() as folder:
            yield folder
            for path in sorted(folder.iterdir()):
                with self._trying("write", path.name):
                    self._system.put_file(str(path), self._at(path.name))

    def locked(self) -> AbstractContextManager[int | None]:
        """Take no lock, because stores have none. Remove what killed jobs left on this machine."""
        for path in Path(tempfile.gettempdir()).glob(f"{self._prefix}*"):
            if not _is_running(path.name.removeprefix(self._prefix).partition("-")[0]):
                shutil.rmtree(path, ignore_errors=True)
        return nullcontext(None)

    @contextmanager
    def _temporary(self) -> Iterator[Path]:
        """A local folder whose name shows its owner, so that it can be removed if this process cannot do it."""
        with tempfile.TemporaryDirectory(prefix=f"{self._prefix}{os.getpid()}-") as name:
            yield Path(name)

    @contextmanager
    def _trying(self, what: str, name: str = "") -> Iterator[None]:
        """Raise errors of a store, whose classes vary, as a `FileError` that names the failed action."""
        try:
            yield
        except Exception as error:
            code, reason = getattr(error, "errno", None), getattr(error, "strerror", None)
            reason = reason or f"{type(error).__name__}: {error}"
            raise FileError(code or errno.EIO, f"cannot {what}: {reason}", f"{self.url}/{name}".rstrip("/")) from error

    def _at(self, name: str) -> str:
        return f"{self._root}/{name}"


def _is_running(process: str) -> bool:
    try:
        os.kill(int(process), 0)
    except (ProcessLookupError, ValueError, OverflowError):
        return False
    except PermissionError:
        pass
    return True
