"""Matches paths with the patterns of a ``.gitignore``, as git does (gitignore(5)).

pathspec compiles the patterns. A few rare ones differ from git: classes such as ``[[:alpha:]]``, a backslash in
brackets, and ``**`` beside other characters in the name of a folder.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

_CONTENTS = ("/**", "/**/")


class IgnoreFile:
    """The patterns of a ``.gitignore``. A pattern matches a path itself, not what the path contains: git does not look
    into an excluded folder.

    >>> rules = IgnoreFile(b"/data/**\\n!/data/keep.txt\\n")
    >>> [rules.excludes(path, is_folder=False) for path in ("data/a.txt", "data/keep.txt", "b.txt")]
    [True, False, None]
    >>> rules.excludes("data", is_folder=True) is None
    True
    """

    def __init__(self, data: bytes) -> None:
        lines = os.fsdecode(data.removeprefix(b"\xef\xbb\xbf")).split("\n")
        self._patterns = [pattern for line in lines if (pattern := _pattern(line.removesuffix("\r")))]

    def excludes(self, path: str, is_folder: bool) -> bool | None:
        """Returns whether a path, relative to the folder of the file, is excluded; None if no pattern matches. The last
        pattern that matches decides."""
        name = Path(path).as_posix() + "/" * is_folder
        for text, pattern in reversed(self._patterns):
            if (is_folder or not text.endswith("/")) and _matches(text, pattern.regex, name):
                excludes: bool = pattern.include
                return excludes
        return None


def _pattern(line: str) -> tuple[str, Any] | None:
    """Returns a line without spaces at its end, and its pattern; None for a line that matches nothing, as in git."""
    import pathspec  # only folders with a .gitignore need it

    try:
        patterns = pathspec.GitIgnoreSpec.from_lines([line]).patterns
    except (ValueError, re.error):
        return None
    return (line.rstrip(" "), patterns[0]) if patterns and patterns[0].include is not None else None


def _matches(text: str, regex: re.Pattern[str], name: str) -> bool:
    """Reports whether a pattern matches the path itself.

    The regular expressions of pathspec also match what a folder contains: then they end at the slash of the folder.
    Those of ``folder/**`` end there too, but must not match the folder.
    """
    ends = {match.end() for match in regex.finditer(name)}
    return bool(ends - {len(name)}) if text.endswith(_CONTENTS) else len(name) in ends
