"""Matches paths with the patterns of a ``.gitignore``, as git does (gitignore(5))."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_UNESCAPED_END = re.compile(rb"((?:\\.|[^\\])*?) *", re.DOTALL)
_STARS = re.compile(rb"\*+")
_WILDCARD = re.compile(rb"[*?\[\\]")
_CLASS_ITEM = re.compile(rb"\[:(?P<name>[a-z]*):\]|(?P<first>\\.|[^\\])(?:-(?P<last>\\.|[^\\\]]))?", re.DOTALL)
_BYTES_OF_CLASS = {
    b"alnum": rb"0-9A-Za-z",
    b"alpha": rb"A-Za-z",
    b"blank": rb"\t ",
    b"cntrl": rb"\x00-\x1f\x7f",
    b"digit": rb"0-9",
    b"graph": rb"!-~",
    b"lower": rb"a-z",
    b"print": rb" -~",
    b"punct": rb"!-/:-@\[-`{-~",
    b"space": rb"\t-\r ",
    b"upper": rb"A-Z",
    b"xdigit": rb"0-9A-Fa-f",
}


class _Rule(NamedTuple):
    """A line of the file: whether a path that matches is excluded, and what matches."""

    excludes: bool
    only_folders: bool
    only_name: bool
    pattern: re.Pattern[bytes]


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
        lines = data.removeprefix(_BYTE_ORDER_MARK).split(b"\n")
        self._rules = [rule for line in lines if (rule := _rule(line.removesuffix(b"\r")))]

    def excludes(self, path: str, is_folder: bool) -> bool | None:
        """Returns whether a path, relative to the folder of the file, is excluded; None if no pattern matches. The last
        pattern that matches decides."""
        data = os.fsencode(Path(path).as_posix())
        name = data.rpartition(b"/")[2]
        for rule in reversed(self._rules):
            if (is_folder or not rule.only_folders) and rule.pattern.fullmatch(name if rule.only_name else data):
                return rule.excludes
        return None


def _rule(line: bytes) -> _Rule | None:
    """Returns the rule of a line; None for a comment, an empty line and a pattern that matches nothing."""
    if line.startswith(b"#"):
        return None
    text = _without_last_spaces(line)
    excludes = not text.startswith(b"!")
    text = text.removeprefix(b"!")
    only_folders = text.endswith(b"/")
    text = text.removesuffix(b"/")
    try:
        pattern = b"".join(_regex_parts(text.removeprefix(b"/")))
    except ValueError:
        return None
    return _Rule(excludes, only_folders, b"/" not in text, re.compile(pattern, re.DOTALL)) if pattern else None


def _without_last_spaces(line: bytes) -> bytes:
    match = _UNESCAPED_END.fullmatch(line)
    return match[1] if match else line


def _regex_parts(pattern: bytes) -> Iterator[bytes]:
    """Yields the parts of a regex for a pattern. Raises ValueError for a pattern that matches nothing."""
    position = 0
    while position < len(pattern):
        byte = pattern[position : position + 1]
        if byte == b"*":
            part, position = _regex_of_stars(pattern, position)
        elif byte == b"[":
            part, position = _regex_of_brackets(pattern, position + 1)
        else:
            position += byte == b"\\"
            if position == len(pattern):
                raise ValueError("the pattern ends with a backslash")
            part = b"[^/]" if byte == b"?" else re.escape(pattern[position : position + 1])
            position += 1
        yield part


def _regex_of_stars(pattern: bytes, start: int) -> tuple[bytes, int]:
    """Returns the regex for stars, and the end of what it stands for. Between slashes, ``**`` matches any folders.

    So it does if only literal text precedes it, because git compares this text on its own.
    """
    match = _STARS.match(pattern, start)
    assert match
    end = match.end()
    begins_name = pattern[:start].endswith(b"/") or not _WILDCARD.search(pattern, 0, start)
    if end - start == 1 or not begins_name or pattern[end : end + 1] not in (b"", b"/"):
        return b"[^/]*", end
    return (b".*", end) if end == len(pattern) else (b"(?:.*/)?", end + 1)


def _regex_of_brackets(pattern: bytes, start: int) -> tuple[bytes, int]:
    """Returns the regex for brackets, whose content begins at ``start``, and their end. They match no slash."""
    is_negated = pattern[start : start + 1] in (b"!", b"^")
    position = start + is_negated
    parts: list[bytes] = []
    while not parts or pattern[position : position + 1] != b"]":
        match = _CLASS_ITEM.match(pattern, position)
        if not match:
            raise ValueError("a bracket is not closed")
        parts.append(_regex_of_class_item(match))
        position = match.end()
    matched_bytes = b"".join(parts)
    if not matched_bytes:  # a range such as z-a
        return b"[^/]" if is_negated else b"(?!)", position + 1
    return b"(?!/)[" + b"^" * is_negated + matched_bytes + b"]", position + 1


def _regex_of_class_item(item: re.Match[bytes]) -> bytes:
    if item["name"] is not None:
        if item["name"] not in _BYTES_OF_CLASS:
            raise ValueError("the class is unknown")
        return _BYTES_OF_CLASS[item["name"]]
    first = item["first"][-1:]
    last = item["last"][-1:] if item["last"] else first
    return b"".join(re.escape(bytes([byte])) for byte in range(first[0], last[0] + 1))
