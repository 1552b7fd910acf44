"""Lists of entries that training can force into a vocabulary, even if no corpus contains them."""

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
"""An entry, or the path of a file with one entry per line."""

_SKIN_TONES = frozenset(map(chr, range(0x1F3FB, 0x1F400)))
_VARIATION_SELECTOR = "\ufe0f"  # selects the coloured presentation of a character


def emoji(which: Emoji = "all") -> list[bytes]:
    """Returns all emoji of Unicode that the installed package ``emoji`` lists.

    The list has the sequences that Unicode recommends for general interchange, the skin tones, and the same sequences
    without the variation selector U+FE0F, which many texts omit; single emoji that can have the selector are also
    listed with it. With ``"basic"``, no sequence contains a skin tone.

    Raises `ArgumentError` if the package is not installed.
    """
    if which not in ("all", "basic"):
        raise ArgumentError(f'emoji={which!r} is not "all" or "basic"')
    try:
        from emoji import EMOJI_DATA  # type: ignore[import-not-found, unused-ignore]
    except ModuleNotFoundError:
        message = "emoji of Unicode need the package emoji: pip install 'polytok[emoji]', or pass a list of entries"
        raise ArgumentError(message) from None
    # The package lists the recommended sequences, and those that lack some or all variation selectors.
    with_selector = (text + _VARIATION_SELECTOR for text, data in EMOJI_DATA.items() if "variant" in data)
    all_texts = [*EMOJI_DATA, *(text for text in with_selector if 2 * _VARIATION_SELECTOR not in text)]
    return _sorted_by_length(text.encode() for text in all_texts if which == "all" or not _SKIN_TONES & set(text))


def kaomoji() -> list[bytes]:
    """Returns kaomoji: about a hundred faces written with ordinary characters.

    >>> "(^_^)".encode() in kaomoji()
    True
    """
    return _sorted_by_length(_nonempty_lines((resources.files(__package__) / "data" / "kaomoji.txt").read_bytes()))


def collect_entries(entries: Entry | Iterable[Entry]) -> list[bytes]:
    """Returns all entries, including those in files, sorted by length and then by bytes, without duplicates.

    >>> collect_entries(["né", b"\\n\\n", "a", "a"])
    [b'a', b'\\n\\n', b'n\\xc3\\xa9']
    """
    if isinstance(entries, (str, bytes)):
        raise ArgumentError("give a list of entries, or a pathlib.Path of a file with one entry per line")
    if isinstance(entries, os.PathLike):
        entries = [entries]
    all_entries: list[bytes] = []
    for entry in entries:
        if isinstance(entry, os.PathLike):
            all_entries += _nonempty_lines(files.read(Path(entry), "the list of entries"))
        elif isinstance(entry, (str, bytes)):
            all_entries.append(entry.encode() if isinstance(entry, str) else entry)
        else:
            raise ArgumentError(f"{entry!r} is not an entry; pass texts, bytes, or paths of lists")
    if b"" in all_entries:
        raise ArgumentError("an entry cannot be empty")
    return _sorted_by_length(all_entries)


def _nonempty_lines(data: bytes) -> list[bytes]:
    return [line for line in data.replace(b"\r\n", b"\n").split(b"\n") if line]


def _sorted_by_length(entries: Iterable[bytes]) -> list[bytes]:
    return sorted(set(entries), key=lambda entry: (len(entry), entry))
