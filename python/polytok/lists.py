"""Strings to force as entries even if a corpus does not contain them: emoji, kaomoji, lists of the user's own."""

from __future__ import annotations

import os
from collections.abc import Iterable
from importlib import resources
from pathlib import Path
from typing import Literal, TypeAlias

from . import files
from .errors import ArgumentError

Emoji = Literal["all", "basic"]
Entry: TypeAlias = "str | bytes | os.PathLike[str]"
"""One entry, or the path of a file with an entry on each line."""

_SKIN_TONES = frozenset(map(chr, range(0x1F3FB, 0x1F400)))
_COMPONENT, _FULLY_QUALIFIED = 1, 2


def emoji(which: Emoji = "all") -> list[bytes]:
    """All emoji of Unicode, as listed by the installed package ``emoji``: every sequence that is recommended for
    general interchange, and the skin tones; ``basic`` are those without a skin tone.

    Raises `ArgumentError` if the package is not installed.
    """
    if which not in ("all", "basic"):
        raise ArgumentError(f'emoji={which!r} is neither "all" nor "basic"')
    try:
        from emoji import EMOJI_DATA
    except ModuleNotFoundError:
        message = "the emoji of Unicode come from the package emoji: pip install 'polytok[emoji]', or give a list"
        raise ArgumentError(message) from None
    wanted = (text for text, data in EMOJI_DATA.items() if data["status"] in (_COMPONENT, _FULLY_QUALIFIED))
    return _sorted(text.encode() for text in wanted if which == "all" or not _SKIN_TONES & set(text))


def kaomoji() -> list[bytes]:
    """Faces made of characters, about a hundred.

    >>> "(^_^)".encode() in kaomoji()
    True
    """
    return _sorted(_lines((resources.files(__package__) / "data" / "kaomoji.txt").read_bytes()))


def listed(entries: Entry | Iterable[Entry]) -> list[bytes]:
    """The entries and those of the files, sorted by length and then by bytes, without duplicates.

    >>> listed(["né", b"\\n\\n", "a", "a"])
    [b'a', b'\\n\\n', b'n\\xc3\\xa9']
    """
    if isinstance(entries, (str, bytes)):
        raise ArgumentError("give a list of entries, or a pathlib.Path of a file with an entry on each line")
    if isinstance(entries, os.PathLike):
        entries = [entries]
    found: list[bytes] = []
    for entry in entries:
        if isinstance(entry, os.PathLike):
            found += _lines(files.read(Path(entry)))
        elif isinstance(entry, (str, bytes)):
            found.append(entry.encode() if isinstance(entry, str) else entry)
        else:
            raise ArgumentError(f"{entry!r} is no entry: give texts, bytes, or paths of lists")
    if b"" in found:
        raise ArgumentError("an entry cannot be empty")
    return _sorted(found)


def _lines(data: bytes) -> list[bytes]:
    return [line for line in data.replace(b"\r\n", b"\n").split(b"\n") if line]


def _sorted(entries: Iterable[bytes]) -> list[bytes]:
    return sorted(set(entries), key=lambda entry: (len(entry), entry))
