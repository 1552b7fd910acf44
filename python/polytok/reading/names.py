"""Finds the files for names, which are paths, patterns of paths, or URLs, and reads lists of names."""

from __future__ import annotations

import glob
import os
import re
from pathlib import Path

from ..errors import ArgumentError, FileError
from . import remote
from .folders import files_in_folder

_URL_SCHEME = re.compile(r"[A-Za-z0-9+.:-]+://")


def is_url(name: str) -> bool:
    """Reports whether a name is a URL and not the path of an existing file.

    >>> is_url("s3://bucket/a.jsonl"), is_url("simplecache::s3://bucket/a.jsonl"), is_url("a/b.txt")
    (True, True, False)
    """
    return _URL_SCHEME.match(name) is not None and not os.path.exists(name)


def files_named(name: str) -> list[str]:
    """Returns the files that match a pattern or are in a folder, sorted; or the name itself if it is neither.

    Raises `ArgumentError` if no file matches a pattern, if ``**`` meets folders that are nested too deeply for the
    package glob, and for a folder without files.
    """
    if is_url(name):
        matches = remote.matching_urls(name)
    elif os.path.isdir(name):
        matches = files_in_folder(name)
    elif os.path.exists(name) or not glob.has_magic(name):
        matches = None
    else:
        matches = _matching_files(name)
    if matches == []:
        raise ArgumentError(f"no file matches {name!r}")
    return [name] if matches is None else matches


def _matching_files(pattern: str) -> list[str]:
    try:
        return sorted(path for path in glob.glob(pattern, recursive=True) if not os.path.isdir(path))
    except RecursionError as error:
        raise ArgumentError(
            f"the folders that match {pattern!r} are nested too deeply: name the folder, without **"
        ) from error


def read_name_list(path: str | os.PathLike[str]) -> list[str]:
    """Returns the names that a file lists, one per line; blank lines are skipped.

    Raises `FileError` if the file cannot be read, `ArgumentError` if it is not UTF-8.
    """
    try:
        lines = Path(path).read_text("utf-8").splitlines()
    except OSError as error:
        raise FileError(error.errno, f"cannot read the list of files: {error.strerror}", str(path)) from error
    except UnicodeDecodeError as error:
        raise ArgumentError(f"{path} is not a text file that lists names, one a line: {error}") from error
    return [line for line in lines if line.strip()]
