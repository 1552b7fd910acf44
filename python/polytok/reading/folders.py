"""Finds the files in a folder, except hidden ones and those that its ``.gitignore`` files exclude."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from ..errors import ArgumentError, FileError
from .ignore_file import IgnoreFile

_IGNORE_FILE = ".gitignore"
_REPOSITORY = ".git"
_HIDDEN_PREFIX = "."
_MAX_OMITTED = 3


def files_in_folder(folder: str) -> list[str]:
    """Returns the files in a folder and its subfolders, sorted.

    Files that a ``.gitignore`` excludes are omitted, as git does: one in the folder, in a subfolder, or in a folder
    above, up to the root of the repository. So are hidden files and folders, whose names begin with a dot. Links to
    folders are not followed. Raises `ArgumentError` for a folder without files, and says which files are omitted, and
    `FileError` for a folder that cannot be read.
    """
    omitted: list[str] = []
    try:
        paths = [str(path) for path in _walk(Path(folder), _specs_above(Path(folder)), omitted)]
    except OSError as error:
        raise FileError(error.errno, f"cannot read: {error.strerror}", str(error.filename)) from error
    if paths:
        return paths
    if not omitted:
        raise ArgumentError(f"no file is in the folder {folder!r}")
    more = f" and {len(omitted) - _MAX_OMITTED} more" if len(omitted) > _MAX_OMITTED else ""
    raise ArgumentError(
        f"everything in the folder {folder!r} is left out: {', '.join(omitted[:_MAX_OMITTED])}{more}; to read such "
        f"files, name them, or write a pattern such as {os.path.join(folder, '*')!r}"
    )


def _specs_above(folder: Path) -> tuple[tuple[Path, IgnoreFile], ...]:
    """Returns the patterns of each folder above with a ``.gitignore``, from the root of the repository on.

    The root has the folder ``.git``. The result is empty outside a repository, and for a folder that the patterns
    exclude or that is in such a folder, because the caller has named it.
    """
    parents = list(Path(os.path.abspath(folder)).parents)
    root = next((index for index, path in enumerate(parents) if (path / _REPOSITORY).exists()), None)
    if root is None or (Path(folder) / _REPOSITORY).exists():
        return ()
    specs: tuple[tuple[Path, IgnoreFile], ...] = ()
    for path in reversed(parents[: root + 1]):
        if _ignoring_folder(path, True, specs):
            return ()
        specs = _with_patterns(path, specs)
    return () if _ignoring_folder(Path(folder), True, specs) else specs


def _with_patterns(folder: Path, specs: tuple[tuple[Path, IgnoreFile], ...]) -> tuple[tuple[Path, IgnoreFile], ...]:
    """Returns ``specs`` with the patterns of the folder, if it has a ``.gitignore``."""
    ignore_file = folder / _IGNORE_FILE
    return (*specs, (folder, IgnoreFile(ignore_file.read_bytes()))) if ignore_file.is_file() else specs


def _walk(folder: Path, specs: tuple[tuple[Path, IgnoreFile], ...], omitted: list[str]) -> Iterator[Path]:
    """Yields the files of a folder, and adds those that are left out to ``omitted``, with the reason.

    ``specs`` has the patterns of each folder above with a ``.gitignore``.
    """
    open_folders = [_entries(folder, specs)]  # a stack instead of recursion, because folders can be nested deeply
    while open_folders:
        entries, specs = open_folders[-1]
        if (entry := next(entries, None)) is None:
            open_folders.pop()
            continue
        path = Path(entry.path)
        is_folder = entry.is_dir(follow_symlinks=False)
        if entry.name.startswith(_HIDDEN_PREFIX):
            omitted.append(f"{path} (hidden)")
        elif ignoring_folder := _ignoring_folder(path, is_folder, specs):
            omitted.append(f"{path} (in {ignoring_folder / _IGNORE_FILE})")
        elif is_folder:
            open_folders.append(_entries(path, specs))
        elif path.is_file():
            yield path


def _entries(
    folder: Path, specs: tuple[tuple[Path, IgnoreFile], ...]
) -> tuple[Iterator[os.DirEntry[str]], tuple[tuple[Path, IgnoreFile], ...]]:
    """Returns the entries of a folder, sorted, and ``specs`` with the patterns of the folder."""
    specs = _with_patterns(folder, specs)
    return iter(sorted(os.scandir(folder), key=lambda entry: entry.name)), specs


def _ignoring_folder(path: Path, is_folder: bool, specs: tuple[tuple[Path, IgnoreFile], ...]) -> Path | None:
    """Returns the folder whose ``.gitignore`` excludes a file, or None. The patterns of the innermost folder that has
    one for the path decide."""
    for folder, patterns in reversed(specs):
        decision = patterns.excludes(os.path.relpath(path, folder), is_folder)
        if decision is not None:
            return folder if decision else None
    return None
