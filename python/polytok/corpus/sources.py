"""The inputs of a corpus job: finds the files for names and patterns, and detects files that changed since planning."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from fnmatch import fnmatch
from typing import IO, Any, TypeAlias

from ..errors import ArgumentError, FileError
from ..files import open_without_waiting
from ..reading import remote
from ..reading.names import files_named, is_url
from .journal import PLAN_NAME

Inputs: TypeAlias = "str | os.PathLike[str] | Iterable[str | os.PathLike[str]]"
"""A path, a folder, a pattern of paths, a URL that fsspec supports, or a list of these."""


@dataclass(frozen=True, slots=True)
class Source:
    """An input file.

    ``size`` is the size on the disk in bytes, 0 if it is unknown. ``stamp`` is a text that changes when the file
    changes. ``ranges`` is true if the file can be read from any position.
    """

    name: str
    size: int
    stamp: str
    ranges: bool = True

    def to_plain(self) -> dict[str, Any]:
        """Returns the source as a JSON value."""
        return {name: getattr(self, name) for name in self.__slots__}


def sources(inputs: Inputs, *, output_folder: str | os.PathLike[str] | None = None) -> tuple[Source, ...]:
    """Returns the files for all inputs, in the order of the inputs; the files of a pattern are sorted.

    Raises `ArgumentError` for a pattern that matches no file, for a file that is named twice, for a file in
    ``output_folder``, and for an input folder that contains ``output_folder``; and `FileError` for a file that cannot
    be read.
    """
    items = [os.fspath(item) for item in ([inputs] if isinstance(inputs, (str, os.PathLike)) else inputs)]
    if output_folder is not None:
        _check_outside_inputs(os.fspath(output_folder), items)
    file_names = [name for item in items for name in _file_names(item)]
    if not file_names:
        raise ArgumentError("no input: name a file, a pattern or a URL")
    seen_names: set[str] = set()
    for name in file_names:
        if name in seen_names:
            raise ArgumentError(f"{name} is named twice, so its texts would be read twice: name each file once")
        seen_names.add(name)
    if output_folder is not None:
        _check_outside_folder(file_names, os.fspath(output_folder))
    return tuple(map(_find_source, file_names))


def _file_names(name: str) -> list[str]:
    """Returns the URLs or absolute paths of the files for a name or pattern."""
    if name == "-":
        raise ArgumentError(
            "a job cannot read standard input, because an interrupted job reads its inputs again: write the input to a "
            "file"
        )
    file_names = files_named(name.removeprefix("file://"))
    return [remote.canonical_url(file) if is_url(file) else os.path.abspath(file) for file in file_names]


def _check_outside_inputs(folder: str, items: list[str]) -> None:
    """Raises `ArgumentError` if ``folder`` is in an input folder, because the job could not be continued: its own files
    would be inputs."""
    for item in items:
        input_folder = _input_folder(item.removeprefix("file://"))
        if input_folder is not None and _is_in_folder(folder, input_folder):
            raise ArgumentError(
                f"the output folder {folder} is in the input folder {item}, so its files would be read too: choose "
                "another output folder"
            )


def _input_folder(name: str) -> str | None:
    """Returns the local folder of which all files are read: the name of a folder, or a pattern such as ``data/**``."""
    if os.path.isdir(name):
        return name
    folder, stars, pattern = name.partition("**")
    is_pattern = bool(stars) and not is_url(name) and fnmatch(PLAN_NAME, os.path.basename(pattern) or "*")
    return folder or os.curdir if is_pattern else None


def _check_outside_folder(names: list[str], folder: str) -> None:
    for name in names:
        if _is_in_folder(name, folder):
            raise ArgumentError(f"the input {name} is in the output folder {folder}: choose another output folder")


def _is_in_folder(name: str, folder: str) -> bool:
    return _real_name(name).startswith(os.path.join(_real_name(folder), ""))


def _real_name(name: str) -> str:
    name = name.removeprefix("file://")
    return remote.canonical_url(name) if is_url(name) else os.path.realpath(name)


def _find_source(name: str) -> Source:
    if is_url(name):
        return Source(name, *remote.size_and_stamp(name), remote.can_read_ranges(name))
    try:
        status = os.stat(name)
    except OSError as error:
        raise FileError(error.errno, f"cannot read: {error.strerror}", name) from error
    if not os.path.isfile(name):
        raise ArgumentError(
            f"{name} is not a regular file, so an interrupted job could not read it again: copy the input to a file"
        )
    return Source(name, status.st_size, _version_stamp(status))


def _version_stamp(status: os.stat_result) -> str:
    return f"mtime_ns={status.st_mtime_ns}"


@contextmanager
def open_source(source: Source) -> Iterator[IO[bytes]]:
    """Opens a file for reading. Raises `FileError` if it cannot be opened, or has changed since the job was planned.

    A local file is opened without waiting, because a pipe that has replaced it would never open, and is checked again
    after it is read. A remote file is checked only before it is read, so a change during
    reading is detected only if the store reports the change.
    """
    if is_url(source.name):
        if (current_version := remote.size_and_stamp(source.name, is_refreshed=True)) != (source.size, source.stamp):
            raise _create_change_error(source, f"{current_version[0]} bytes, {current_version[1]}")
        with remote.open_url(source.name, can_seek=source.ranges) as file, remote.translate_errors(source.name):
            yield file
        return
    try:
        with open(source.name, "rb", opener=open_without_waiting) as local_file:
            _check_unchanged(source, local_file)
            yield local_file
            _check_unchanged(source, local_file)
    except FileError:
        raise
    except OSError as error:
        raise FileError(error.errno, f"cannot read: {error.strerror or error}", source.name) from error


def _check_unchanged(source: Source, file: IO[bytes]) -> None:
    status = os.fstat(file.fileno())
    if (status.st_size, _version_stamp(status)) != (source.size, source.stamp):
        raise _create_change_error(source, f"{status.st_size} bytes, {_version_stamp(status)}")


def _create_change_error(source: Source, current_state: str) -> FileError:
    planned_state = f"{source.size} bytes, {source.stamp}"
    return FileError(
        errno.ESTALE, f"changed since the job was planned ({planned_state}, now {current_state})", source.name
    )
