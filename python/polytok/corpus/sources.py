"""Inputs of a corpus job: finds the files that names stand for, and detects files changed since planning."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, TypeAlias

from ..errors import ArgumentError, FileError
from ..reading import remote
from ..reading.names import files_named, is_url

Inputs: TypeAlias = "str | os.PathLike[str] | Iterable[str | os.PathLike[str]]"
"""A name or several: of a file, a pattern of names, or an address that fsspec knows."""


@dataclass(frozen=True, slots=True)
class Source:
    """A file. ``stamp`` changes when the file does; ``ranges`` is true if it can be read from any position.

    ``size`` is the size on the disk, 0 if it is unknown.
    """

    name: str
    size: int
    stamp: str
    ranges: bool = True

    def to_plain(self) -> dict[str, Any]:
        """As JSON has it."""
        return {name: getattr(self, name) for name in self.__slots__}


def sources(inputs: Inputs, *, outside: str | os.PathLike[str] | None = None) -> tuple[Source, ...]:
    """The files that inputs stand for, in the order of the inputs; those of a pattern are sorted.

    Raises `ArgumentError` for a pattern that matches nothing, for a file that is named twice, and for one in the folder
    ``outside``, which the output goes to; `FileError` for a file that cannot be read.
    """
    given = [inputs] if isinstance(inputs, (str, os.PathLike)) else list(inputs)
    found = [name for item in given for name in _names(os.fspath(item))]
    if not found:
        raise ArgumentError("no input: name a file, a pattern or an address")
    seen: set[str] = set()
    for name in found:
        if name in seen:
            raise ArgumentError(f"{name} is named twice: leave one out, or texts would be there twice")
        seen.add(name)
    if outside is not None:
        _check_outside(found, os.fspath(outside))
    return tuple(map(_source, found))


def names_in(path: str | os.PathLike[str]) -> list[str]:
    """The names listed in a file, one per line; blank lines are skipped."""
    try:
        lines = Path(path).read_text("utf-8").splitlines()
    except OSError as error:
        raise FileError(error.errno, f"cannot read the list of files: {error.strerror}", str(path)) from error
    except UnicodeDecodeError as error:
        raise ArgumentError(f"{path} is no list of files, one in a line: {error}") from error
    return [line for line in lines if line.strip()]


def _names(name: str) -> list[str]:
    """The files that a name stands for; local files by their absolute paths, so that any process finds them."""
    if name == "-":
        raise ArgumentError("standard input cannot be read again after an interruption: write it to a file")
    found = files_named(name.removeprefix("file://"))
    return [remote.canonical(one) if is_url(one) else os.path.abspath(one) for one in found]


def _check_outside(names: list[str], folder: str) -> None:
    folder = folder.removeprefix("file://")
    inner = os.path.join(remote.canonical(folder) if is_url(folder) else os.path.realpath(folder), "")
    for name in names:
        if (name if is_url(name) else os.path.realpath(name)).startswith(inner):
            raise ArgumentError(f"{name} lies in {folder}, which is where the output goes: choose another folder")


def _source(name: str) -> Source:
    if is_url(name):
        return Source(name, *remote.facts(name), remote.takes_ranges(name))
    try:
        status = os.stat(name)
    except OSError as error:
        raise FileError(error.errno, f"cannot read: {error.strerror}", name) from error
    if os.path.isdir(name):
        raise FileError(errno.EISDIR, f"is a folder: give a pattern, such as {os.path.join(name, '*')!r}", name)
    if not os.path.isfile(name):
        raise ArgumentError(f"{name} is no file, and could not be read again after an interruption")
    return Source(name, status.st_size, _stamp(status))


def _stamp(status: os.stat_result) -> str:
    return f"mtime_ns={status.st_mtime_ns}"


@contextmanager
def opened(source: Source) -> Iterator[IO[bytes]]:
    """Open a file for reading, if it has not changed since the job was planned.

    A local file is checked again after everything is read. A remote one is checked only before, so a change during
    reading is noticed only if the store reports it. Raises `FileError` if the file cannot be opened, or has changed.
    """
    if is_url(source.name):
        if (now := remote.facts(source.name, anew=True)) != (source.size, source.stamp):
            raise _changed(source, f"{now[0]} bytes, {now[1]}")
        with remote.open_url(source.name, ranges=source.ranges) as file, remote.reading(source.name):
            yield file
        return
    try:
        with open(source.name, "rb") as local:
            _check_same(source, local)
            yield local
            _check_same(source, local)
    except FileError:
        raise
    except OSError as error:
        raise FileError(error.errno, f"cannot read: {error.strerror or error}", source.name) from error


def _check_same(source: Source, file: IO[bytes]) -> None:
    status = os.fstat(file.fileno())
    if (status.st_size, _stamp(status)) != (source.size, source.stamp):
        raise _changed(source, f"{status.st_size} bytes, {_stamp(status)}")


def _changed(source: Source, now: str) -> FileError:
    planned = f"{source.size} bytes, {source.stamp}"
    return FileError(errno.ESTALE, f"changed since the job was planned ({planned}, now {now})", source.name)
