"""Reads a file and the other files in the same folder, and writes files so that a reader never sees an incomplete
file."""

from __future__ import annotations

import errno
import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from itertools import chain, islice, takewhile
from typing import IO, TYPE_CHECKING

from .errors import ArgumentError, FileError

if TYPE_CHECKING:
    from pathlib import Path  # loading a file does not need this module, whose import takes 4 ms


_MAX_COMPARED_FILES = 1000


class Siblings(Mapping[str, bytes]):
    """Maps the names of the files in a folder to their contents. A file is read when its content is looked up.

    The files with the names in ``hidden`` are left out. ``contents`` has files that replace those of the folder.
    """

    def __init__(
        self,
        folder: str | os.PathLike[str],
        hidden: Collection[str] = (),
        contents: Mapping[str, bytes] | None = None,
    ) -> None:
        self._folder = folder
        self._contents = contents or {}
        self._hidden = frozenset(hidden) - self._contents.keys()

    def __getitem__(self, name: str) -> bytes:
        if name not in self:
            raise KeyError(name)
        if name in self._contents:
            return self._contents[name]
        return read(os.path.join(self._folder, name))

    def __contains__(self, name: object) -> bool:
        if name in self._contents:
            return True
        return isinstance(name, str) and name not in self._hidden and os.path.isfile(os.path.join(self._folder, name))

    def __iter__(self) -> Iterator[str]:
        try:
            all_names = os.listdir(self._folder)
        except OSError as error:
            raise read_error(error, self._folder, "the folder") from error
        names = (name for name in all_names if name not in self._contents and name in self)
        return chain(self._contents, names)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def names_in(self, folder: str) -> list[str]:
        """Returns the names of the files in a folder of this folder, such as ``"folder/name"``."""
        try:
            names = os.listdir(os.path.join(self._folder, folder))
        except OSError:
            return []
        return [name for name in (f"{folder}/{name}" for name in sorted(names)) if name in self]


def system_path(path: str | os.PathLike[str], action: str) -> str:
    """Returns a path that the system can look up, whether or not the file exists.

    Raises `FileError` if the name is too long or has an invalid character, or if a folder in the path cannot be
    entered. ``action`` names the failed action in the error.
    """
    try:
        os.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        pass
    except OSError as error:
        raise FileError(error.errno, f"cannot {action}: {error.strerror}", os.fspath(path)) from error
    except ValueError as error:
        message = f"cannot {action}: the path has a character that no file name can have"
        raise FileError(errno.EINVAL, message, os.fspath(path)) from error
    return os.fspath(path)


def read(path: str | os.PathLike[str], file_name: str = "the tokenizer file") -> bytes:
    """Returns the bytes of a file. ``file_name`` is the word for the file in errors."""
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError as error:
        raise read_error(error, path, file_name) from error


def open_without_waiting(name: str, flags: int) -> int:
    """Opens a file for the function `open`, whose opener this is, and does not wait for the other end of a pipe."""
    return os.open(name, flags | getattr(os, "O_NONBLOCK", 0))  # Windows has no O_NONBLOCK


def read_error(error: OSError, path: str | os.PathLike[str], file_name: str = "the tokenizer file") -> FileError:
    """Returns the error for a file that cannot be read; for a missing file, with the name of a similar one."""
    advice = similar_file(path) if isinstance(error, FileNotFoundError) else ""
    return FileError(error.errno, f"cannot read {file_name}: {error.strerror}{advice}", os.fspath(path))


def similar_file(path: str | os.PathLike[str]) -> str:
    """Returns the end of a message about a missing file: the file of its folder whose name is almost the same.

    A name without its suffix is almost the same, too. Empty if the folder has no such file.
    """
    from difflib import get_close_matches  # only an error needs it

    folder, name = os.path.split(os.fspath(path))
    try:
        with os.scandir(folder or ".") as entries:
            names = {entry.name.lower(): entry.name for entry in islice(entries, _MAX_COMPARED_FILES)}
    except OSError:
        return ""
    without_suffix = [other for other in names if os.path.splitext(other)[0] == name.lower()]
    matches = [*without_suffix, *get_close_matches(name.lower(), names, 1, cutoff=0.85)]
    return f"; did you mean {os.path.join(folder, names[matches[0]])!r}?" if matches else ""


def create_folder(folder: Path) -> None:
    """Creates a folder and its parents if they are missing. Raises `FileError` if the system refuses."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(error.errno, f"cannot create the folder: {error.strerror}", str(folder)) from error


@contextmanager
def created_folder(folder: Path) -> Iterator[None]:
    """Creates a folder and its parents if they are missing, and removes those that are still empty at the end.

    So a failed write leaves no empty folder. Raises `FileError` if the system refuses.
    """
    missing_folders = list(takewhile(lambda path: not os.path.exists(path), (folder, *folder.parents)))
    try:
        create_folder(folder)
        yield
    finally:
        with suppress(OSError):  # an error if a folder has files
            for missing_folder in missing_folders:
                missing_folder.rmdir()


def check_folder(folder: Path) -> None:
    """Raises `FileError` if a folder is missing and cannot be created, before any work for the files in it begins."""
    if folder.is_dir():
        return
    parent = next(path for path in (folder, *folder.parents) if os.path.lexists(path))
    if not parent.is_dir():
        raise FileError(errno.ENOTDIR, f"cannot create the folder: {parent} is not a folder", str(folder))
    if not os.access(parent, os.W_OK):
        message = f"cannot create the folder: {os.strerror(errno.EACCES)} in {parent}"
        raise FileError(errno.EACCES, message, str(folder))


class Draft:
    """A file under a temporary name in the folder of its target: `keep` renames it to the target, `discard` removes it.

    The file has the permissions of the file that it replaces, even before the first byte is written. Raises `FileError`
    with the target's name if the system cannot create or rename the file.
    """

    def __init__(self, target: Path) -> None:
        self.target = target
        self._path = target.with_name(f".{target.name}.{os.urandom(4).hex()}")
        try:
            mode = _permissions_of(target)
            opener = partial(os.open, mode=0o666 if mode is None else mode)
            self.file = open(self._path, "x+b", opener=opener)  # noqa: SIM115
        except OSError as error:
            raise write_error(error, target) from error
        except MemoryError:  # for the buffer (128 KiB since Python 3.14), which is created after the file
            self._path.unlink(missing_ok=True)
            raise
        if mode is not None:
            self._restore_permissions(mode)

    def _restore_permissions(self, mode: int) -> None:
        """Sets the file's permissions again, because the process's umask can have removed some of them."""
        try:
            if _permissions_of(self._path) != mode:
                os.chmod(self._path, mode)
        except OSError as error:
            self.discard()
            raise write_error(error, self.target) from error

    def keep(self) -> None:
        """Closes the file and renames it to the target, which is replaced if it exists."""
        try:
            self.file.close()
            os.replace(self._path, self.target)
        except OSError as error:
            raise write_error(error, self.target) from error

    def discard(self) -> None:
        """Removes the file."""
        # Closing writes buffered data, which fails on a full disk.
        with suppress(OSError):
            self.file.close()
        self._path.unlink(missing_ok=True)

    def is_named(self, name: object) -> bool:
        """Reports whether an error that names this file name, or no file name, is about this draft."""
        return name in (None, str(self._path))


def _permissions_of(path: Path) -> int | None:
    """Returns the permissions of a file; None if the file does not exist."""
    try:
        return os.stat(path).st_mode & 0o777
    except FileNotFoundError:
        return None


@contextmanager
def open_replacement(path: Path) -> Iterator[IO[bytes]]:
    """Opens a binary file under a temporary name, which is renamed to the target at the end and removed on any error.

    The folder of the target is created if it is missing. A target that is a device or a pipe is written directly.
    Raises `FileError` if the system cannot write the file.
    """
    from pathlib import Path

    target = Path(os.path.realpath(system_path(path, "write")))
    if target.exists() and not target.is_file():
        with _open_for_writing(target, path) as file:
            yield file
        return
    with created_folder(target.parent):
        draft = Draft(target)
        try:
            yield draft.file
            draft.keep()
        except BaseException as error:
            draft.discard()
            # An error about another file keeps the name of that file.
            if isinstance(error, OSError) and not isinstance(error, FileError) and draft.is_named(error.filename):
                raise write_error(error, path) from error
            raise


def _open_for_writing(target: Path, path: Path) -> IO[bytes]:
    try:
        return open(target, "wb")
    except OSError as error:
        raise write_error(error, path) from error


def write_error(error: OSError, path: Path) -> FileError:
    """Converts a system error during a write to the error to raise."""
    return FileError(error.errno, f"cannot write: {error.strerror}", str(path))


def companion_paths(target: Path, companions: Iterable[str]) -> list[Path]:
    """Returns the paths of the files that accompany a file: a key is a name in the same folder, or another suffix."""
    return [target.with_suffix(key) if key.startswith(".") else target.with_name(key) for key in companions]


def save_all(target: Path, data: bytes, companions: Mapping[str, bytes]) -> None:
    """Writes a file and its companion files, which have the target's name with another suffix, or a name of their
    own."""
    paths = companion_paths(target, companions)
    if target in paths:
        raise ArgumentError(f"{target} is also the name of an additional file that is written; choose another name")
    for path, content in zip([*paths, target], [*companions.values(), data], strict=True):
        with open_replacement(path) as file:
            file.write(content)


def distinct_ends(names: Sequence[str]) -> list[str]:
    """Returns the shortest end of each path that no other path has.

    >>> distinct_ends(["a/x/tokenizer.json", "a/y/tokenizer.json", "b/gpt2"])
    ['x/tokenizer.json', 'y/tokenizer.json', 'gpt2']
    """
    return [_distinct_end(name, [other for other in names if other != name]) for name in names]


def _distinct_end(name: str, other_names: Sequence[str]) -> str:
    parts, other_parts = name.split(os.sep), [other.split(os.sep) for other in other_names]
    for count in range(1, len(parts)):
        if all(other[-count:] != parts[-count:] for other in other_parts):
            return os.sep.join(parts[-count:])
    return name
