"""The storage that a job writes to: a local folder, or a folder of an object store with a URL.

A file is written completely or not at all: a local folder renames the finished file, and object stores (S3, GCS, Azure)
guarantee this themselves. If fsspec writes to a file system of another machine (sftp, smb), a lost connection can leave
an incomplete file. No record mentions such a file, so the task is done again.
"""

from __future__ import annotations

import errno
import hashlib
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from pathlib import Path
from typing import IO, Any, Protocol, cast

from ..errors import ArgumentError, FileError, PolytokError
from ..extras import import_extra
from ..files import created_folder, open_replacement
from . import lock
from .write import force


class Storage(Protocol):
    """A set of files with names; ``/`` in a name separates folders."""

    url: str
    """The absolute path or URL of the storage, which any process can use."""
    name: str
    """The path or URL that the caller has named."""
    has_lock: bool
    """Whether `hold_lock` keeps other jobs from writing."""

    def names(self) -> set[str]:
        """Returns the names of all files."""

    def read(self, name: str) -> bytes | None:
        """Returns the content of a small file, or None if the file is missing."""

    def open(self, name: str) -> AbstractContextManager[IO[bytes]]:
        """Opens a file for reading. Errors of the storage in this context are raised as `FileError`."""

    def write(self, name: str, data: bytes, *, is_forced: bool = True) -> None:
        """Writes a small file. If ``is_forced``, the file and its name are on the disk on return; object stores always
        do this."""

    def create(self, name: str, data: bytes) -> bool:
        """Writes a small file and forces it to the disk, unless the file exists; then returns False.

        In a storage without locks, only one of several processes that create a file at the same time gets True.
        """

    def force(self, names: Iterable[str]) -> None:
        """Forces files that were written with ``is_forced=False`` to the disk, and all names and removals of files."""

    def remove(self, name: str) -> None:
        """Removes a file, if it exists."""

    def local_copy(self, name: str) -> AbstractContextManager[Path]:
        """Yields the path of a local file with the content of file ``name``."""

    def output_folder(self) -> AbstractContextManager[Path]:
        """Yields a local folder whose files are added to the storage if the context ends without an error."""

    def hold_lock(self) -> AbstractContextManager[int | None]:
        """Prevents other jobs from writing; yields the descriptor of the lock file, or None if the storage has no
        locks."""


def open_storage(location: str | os.PathLike[str]) -> Storage:
    """Returns the storage for a path or URL. Raises `ArgumentError` for a URL that fsspec does not support."""
    name = os.fspath(location)
    if "://" not in name:
        return FolderStorage(name)
    return FolderStorage(name.removeprefix("file://")) if name.startswith("file://") else ObjectStore(name)


class FolderStorage:
    """The storage in a folder of a file system, which several machines can share."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path = Path(os.path.abspath(path))
        self.url, self.name = str(self._path), os.fspath(path)
        self.has_lock = True

    def names(self) -> set[str]:
        """Returns the names of all files."""
        with self._translate_errors("list"):
            paths = self._path.rglob("*") if self._path.is_dir() else ()
            return {path.relative_to(self._path).as_posix() for path in paths if path.is_symlink() or not path.is_dir()}

    def read(self, name: str) -> bytes | None:
        """Returns the content of a small file, or None if the file is missing."""
        with self._translate_errors("read", name):
            try:
                return (self._path / name).read_bytes()
            except FileNotFoundError:
                return None

    @contextmanager
    def open(self, name: str) -> Iterator[IO[bytes]]:
        """Opens a file for reading. Errors of the system in this context are raised as `FileError`."""
        with self._translate_errors("read", name), open(self._path / name, "rb") as file:
            yield file

    def write(self, name: str, data: bytes, *, is_forced: bool = True) -> None:
        """Writes a small file. If ``is_forced``, the file and its name are on the disk on return."""
        path = self._path / name
        with open_replacement(path) as file:
            file.write(data)
            if is_forced:
                file.flush()
                os.fsync(file.fileno())
        if is_forced:
            force(path.parent, ())

    def create(self, name: str, data: bytes) -> bool:
        """Writes a small file and forces it to the disk, unless the file exists; then returns False."""
        if (self._path / name).exists():
            return False
        self.write(name, data)
        return True

    def force(self, names: Iterable[str]) -> None:
        """Forces files, and the folder's list of their names, to the disk."""
        force(self._path, names)

    def remove(self, name: str) -> None:
        """Removes a file if it exists, and then its subfolder if that is empty."""
        path = self._path / name
        with self._translate_errors("remove", name):
            path.unlink(missing_ok=True)
            if path.parent != self._path and not any(path.parent.iterdir()):
                path.parent.rmdir()

    def local_copy(self, name: str) -> AbstractContextManager[Path]:
        """Yields the path of the file itself, because it is local."""
        return nullcontext(self._path / name)

    def output_folder(self) -> AbstractContextManager[Path]:
        """Yields the folder itself, because it is local."""
        return nullcontext(self._path)

    @contextmanager
    def hold_lock(self) -> Iterator[int | None]:
        """Prevents other jobs from writing; yields the descriptor of the lock file. Creates the folder if it is
        missing, and removes it at the end if it is still empty."""
        with created_folder(self._path), lock.hold_lock(self._path) as file:
            yield file

    @contextmanager
    def _translate_errors(self, action: str, name: str = "") -> Iterator[None]:
        """Converts an error of the system to a `FileError` that names the action."""
        try:
            yield
        except FileError:
            raise
        except OSError as error:
            raise FileError(
                error.errno, f"cannot {action}: {error.strerror or error}", str(self._path / name)
            ) from error


class ObjectStore:
    """The storage in a folder of an object store, accessed with fsspec."""

    def __init__(self, url: str) -> None:
        fsspec_core = import_extra("fsspec.core", "remote", f"writing to the URL {url}")
        try:
            self._filesystem, root = cast("tuple[Any, str]", fsspec_core.url_to_fs(url))
        except (ImportError, ValueError) as error:
            raise ArgumentError(f"cannot write to {url}: {error}") from error
        self._root = root.rstrip("/")
        self.url = self.name = url
        self.has_lock = False
        self._prefix = f"polytok-{hashlib.sha256(url.encode()).hexdigest()[:16]}-"

    def names(self) -> set[str]:
        """Returns the names of all files."""
        self._filesystem.invalidate_cache()
        with self._translate_errors("list"):
            try:
                paths = self._filesystem.find(self._root)
            except FileNotFoundError:
                return set()
        # If the first file is written while s3fs lists an empty folder, s3fs returns the folder itself.
        return {path[len(self._root) + 1 :] for path in paths if path != self._root}

    def read(self, name: str) -> bytes | None:
        """Returns the content of a small file, or None if the file is missing."""
        with self._translate_errors("read", name):
            try:
                return cast("bytes", self._filesystem.cat_file(self._path_of(name)))
            except FileNotFoundError:
                return None

    @contextmanager
    def open(self, name: str) -> Iterator[IO[bytes]]:
        """Opens a file for reading. Errors of the store in this context are raised as `FileError`."""
        with self._translate_errors("read", name), self._filesystem.open(self._path_of(name), "rb") as file:
            yield file

    def write(self, name: str, data: bytes, *, is_forced: bool = True) -> None:
        """Writes a small file."""
        with self._translate_errors("write", name):
            self._filesystem.pipe_file(self._path_of(name), data)

    def create(self, name: str, data: bytes) -> bool:
        """Writes a small file, unless the file exists; then returns False."""
        with self._translate_errors("write", name):
            try:
                self._filesystem.pipe_file(self._path_of(name), data, mode="create")
            except FileExistsError:
                return False
            except (NotImplementedError, TypeError, ValueError):  # the file system cannot exclude other writers
                if self._filesystem.exists(self._path_of(name)):
                    return False
                self._filesystem.pipe_file(self._path_of(name), data)
        return True

    def force(self, names: Iterable[str]) -> None:
        """Does nothing, because an object store does not lose files that it has accepted."""

    def remove(self, name: str) -> None:
        """Removes a file, if it exists."""
        with self._translate_errors("remove", name), suppress(FileNotFoundError):
            self._filesystem.rm_file(self._path_of(name))

    @contextmanager
    def local_copy(self, name: str) -> Iterator[Path]:
        """Yields the path of a temporary copy of a file."""
        with self._temporary_folder() as folder:
            with self._translate_errors("read", name):
                self._filesystem.get_file(self._path_of(name), str(folder / name))
            yield folder / name

    @contextmanager
    def output_folder(self) -> Iterator[Path]:
        """Yields a temporary folder whose files are copied to the store at the end."""
        with self._temporary_folder() as folder:
            yield folder
            for path in sorted(folder.iterdir()):
                with self._translate_errors("write", path.name):
                    self._filesystem.put_file(str(path), self._path_of(path.name))

    def hold_lock(self) -> AbstractContextManager[int | None]:
        """Yields None, because object stores have no locks. Also removes temporary folders of killed jobs."""
        for path in Path(tempfile.gettempdir()).glob(f"{self._prefix}*"):
            if not _is_running(path.name.removeprefix(self._prefix).partition("-")[0]):
                shutil.rmtree(path, ignore_errors=True)
        return nullcontext(None)

    @contextmanager
    def _temporary_folder(self) -> Iterator[Path]:
        """Yields a temporary folder. The name of the folder contains the process id, so that a later job can remove the
        folder."""
        with tempfile.TemporaryDirectory(prefix=f"{self._prefix}{os.getpid()}-") as name:
            yield Path(name)

    @contextmanager
    def _translate_errors(self, action: str, name: str = "") -> Iterator[None]:
        """Converts any error of the store to a `FileError` that names the action, because stores raise errors of
        different classes."""
        try:
            yield
        except PolytokError:
            raise
        except Exception as error:
            code, reason = getattr(error, "errno", None), getattr(error, "strerror", None)
            reason = reason or f"{type(error).__name__}: {error}"
            raise FileError(
                code or errno.EIO, f"cannot {action}: {reason}", f"{self.url}/{name}".rstrip("/")
            ) from error

    def _path_of(self, name: str) -> str:
        return f"{self._root}/{name}"


def _is_running(process_id: str) -> bool:
    if not hasattr(os, "getpgid"):
        return True  # On Windows, os.kill would send Ctrl-C to the process, so its folder stays.
    try:
        os.kill(int(process_id), 0)
    except (ProcessLookupError, ValueError, OverflowError):
        return False
    except PermissionError:
        pass
    return True
