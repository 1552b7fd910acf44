"""The embedded default vocabulary: its entries, the split pattern and the special tokens.

``default.pairs`` has a fifth of the size of a rank file: every entry after the 256 bytes consists of two earlier
entries, and the file has the ids of these two. ``default_entries`` joins them.

``DEFAULT_PATTERN`` has alternatives, which are tried in this order at every position. Every character matches an
alternative, so no text is dropped. Marks count as letters, so that the vowel signs of Indic, Thai and Arabic scripts
stay in their words. A word can begin with one character that is not a letter, digit or line break, such as a space, a
quote or an apostrophe. So the pattern needs no list of contractions and treats ``'`` and ``’`` equally in every
language.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Final

DEFAULT_NAME: Final = "default"
DEFAULT_FILE: Final = "default.pairs"
DEFAULT_SIZE: Final = 32_768
DEFAULT_RANKS_SHA256: Final = "ce995792f6d33864600e4f81f39c32fae5b262aa35e2566e38a1b09098957027"

_PATTERN_ALTERNATIVES: Final = (
    # A word of capitals, if any, and then small or caseless letters, so that camelCase is split before the C.
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+",
    # A word in capitals.
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}]+",
    # Groups of up to three digits, from the left.
    r"\p{N}{1,3}",
    # Punctuation, symbols, emoji and all other characters, with the line breaks that follow.
    r" ?[^\s\p{L}\p{N}]+[\r\n]*",
    # White space up to its last line break.
    r"\s*[\r\n]+",
    # Other white space, except its last character if text follows; a following word begins with that character.
    r"\s+(?!\S)",
    r"\s+",
)

DEFAULT_PATTERN: Final = "|".join(_PATTERN_ALTERNATIVES)
DEFAULT_SPECIAL_TOKENS: Final[dict[str, int]] = {"<|endoftext|>": DEFAULT_SIZE - 1}


def default_entries() -> list[bytes]:
    """Returns the bytes of the entries, in the order of their ids: the 256 bytes, then the merges.

    The file has four columns of a byte for each merge, which compress better than numbers in turn: the high bytes of
    the left ids, the high bytes of the right ids, and the low bytes of both.
    """
    # Importing importlib.resources or pathlib takes longer than reading the file.
    with open(os.path.join(os.path.dirname(__file__), DEFAULT_FILE), "rb") as file:
        data = file.read()
    count = len(data) // 4
    left_high, right_high, left_low, right_low = (data[at * count :][:count] for at in range(4))
    entries = [bytes([byte]) for byte in range(256)]
    for a, b, c, d in zip(left_high, right_high, left_low, right_low, strict=True):
        entries.append(entries[a << 8 | c] + entries[b << 8 | d])
    return entries


def pairs_file(pairs: Iterable[tuple[int, int]]) -> bytes:
    """Returns the content of the file for the two ids of each merge; what `default_entries` reads."""
    left, right = zip(*pairs, strict=True)
    return b"".join(bytes(id >> shift & 255 for id in ids) for shift in (8, 0) for ids in (left, right))


def default_ranks() -> bytes:
    """Returns the vocabulary as tiktoken's rank file."""
    return rank_file(default_entries())


def rank_file(entries: Iterable[bytes]) -> bytes:
    """Returns entries in the order of their ids as a rank file: lines of the bytes as base64, a space, and the id."""
    from base64 import b64encode

    return b"".join(b"%s %d\n" % (b64encode(entry), id) for id, entry in enumerate(entries))
