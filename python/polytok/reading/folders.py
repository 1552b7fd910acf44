"""Finds the files in a folder, except hidden ones and those that its ``.gitignore`` files exclude."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

_IGNORE_FILE = ".gitignore"
_HIDDEN_PREFIX = "."


def files_in_folder(folder: str) -> list[str]:
    """Returns the files in a folder and its subfolders, sorted.

    Files that a ``.gitignore`` in the folder or in a subfolder excludes are omitted, as git does; so are
    hidden files and folders, whose names begin with a dot. Links to folders are not followed.
    """
    return [str(path) for path in _walk(Path(folder), ())]


def _walk(folder: Path, specs: tuple[tuple[Path, Any], ...]) -> Iterator[Path]:
    """Yields the files of a folder. ``specs`` has the patterns of each folder above with a ``.gitignore``."""
    if (ignore_file := folder / _IGNORE_FILE).is_file():
        specs = (*specs, (folder, _read_patterns(ignore_file)))
    for entry in sorted(os.scandir(folder), key=lambda entry: entry.name):
        path = Path(entry.path)
        is_folder = entry.is_dir(follow_symlinks=False)
        if entry.name.startswith(_HIDDEN_PREFIX) or _is_ignored(path, is_folder, specs):
            continue
        if is_folder:
            yield from _walk(path, specs)
        elif path.is_file():
            yield path


def _read_patterns(path: Path) -> Any:
    import pathspec  # only folders with a .gitignore need it

    return pathspec.GitIgnoreSpec.from_lines(path.read_text("utf-8", "surrogateescape").splitlines())


def _is_ignored(path: Path, is_folder: bool, specs: tuple[tuple[Path, Any], ...]) -> bool:
    """Reports whether a file is excluded. The patterns of the innermost folder that has one for the path decide."""
    for folder, patterns in reversed(specs):
        name = path.relative_to(folder).as_posix() + ("/" if is_folder else "")
        decision = patterns.check_file(name).include
        if decision is not None:
            return bool(decision)
    return False
