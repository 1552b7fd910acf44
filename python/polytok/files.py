"""Files: reading what stands beside one, and writing one so that a reader never sees half of it."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from .errors import ArgumentError, FileError


class Siblings(Mapping[str, bytes]):
    """The files of a folder by name, read when they are asked for."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def __getitem__(self, name: str) -> bytes:
        if name not in self:
            raise KeyError(name)
        return read(self._folder / name)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and (self._folder / name).is_file()

    def __iter__(self) -> Iterator[str]:
        return (path.name for path in self._folder.iterdir() if path.is_file())

    def __len__(self) -> int:
        return sum(1 for _ in self)


def read(path: Path) -> bytes:
    """A tokenizer file's bytes."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise FileError(error.errno, f"cannot read the tokenizer file: {error.strerror}", str(path)) from error


@contextmanager
def replacing(path: Path) -> Iterator[IO[bytes]]:
    """A binary file under a temporary name beside the target, renamed to it at the end and removed on any error.

    A target that is a device or a pipe is written as it is. Raises `FileError` where the system does not let it be
    written.
    """
    target = Path(os.path.realpath(path))
    try:
        is_file = target.is_file() or not target.exists()
        temporary = target.with_name(f".{target.name}.{secrets.token_hex(4)}") if is_file else None
        file = open(temporary, "x+b") if temporary else open(target, "wb")  # noqa: SIM115
    except OSError as error:
        raise _not_written(error, path) from error
    if temporary is None:
        with file:
            yield file
        return
    try:
        with file:
            yield file
        os.replace(temporary, target)
    except BaseException as error:
        os.unlink(temporary)
        # Another file's error, raised while this one was being written, keeps its name.
        if isinstance(error, OSError) and error.filename in (None, str(temporary)):
            raise _not_written(error, path) from error
        raise


def _not_written(error: OSError, path: Path) -> FileError:
    return FileError(error.errno, f"cannot write: {error.strerror}", str(path))


def save_all(target: Path, data: bytes, companions: Mapping[str, bytes]) -> None:
    """Write a file, and those that belong beside it."""
    if any(target.with_suffix(suffix) == target for suffix in companions):
        raise ArgumentError(f"{target} is the name of a file that is written beside it; choose another")
    for path, content in [*((target.with_suffix(suffix), data) for suffix, data in companions.items()), (target, data)]:
        with replacing(path) as file:
            file.write(content)
