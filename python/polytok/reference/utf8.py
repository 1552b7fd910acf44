"""The reference programs' three definitions of a character. They differ on purpose; do not unify them.

1. The lead-byte walker (`char_end`): the first byte alone determines the length; continuation bytes are not checked.
   SentencePiece's models walk through normalized text by this definition.
2. The strict decoder (`decode_strict`): Unicode's definition, except that an invalid sequence consumes exactly one byte
   (WHATWG's decoder consumes the longest broken prefix). SentencePiece's normalizer and decoder use this definition.
3. The prefix matcher (`units`): the longest user-defined symbol that matches, else one step of the lead-byte walker.

llama2.c has a fourth definition, in `llama2c`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from typing import TypeAlias

Counts: TypeAlias = Callable[[int, int], bool]

LEAD_LENGTH = (1,) * 12 + (2, 2, 3, 4)
"""The number of bytes of a character, by the high nibble of its first byte."""


def char_end(text: bytes, at: int) -> int:
    """Returns the end of the character at ``at`` by the lead-byte rule, clipped to the text.

    >>> char_end(b"\\xe3\\x81", 0), char_end(b"\\x81a", 0)
    (2, 1)
    """
    return min(at + LEAD_LENGTH[text[at] >> 4], len(text))


def decode_strict(text: bytes, at: int) -> tuple[str | None, int]:
    """Returns the character at ``at`` and its end. If the bytes are not UTF-8: None, and the end of one byte.

    >>> decode_strict("é".encode(), 0), decode_strict(b"\\xe3\\x81", 0)
    (('é', 2), (None, 1))
    """
    end = char_end(text, at)
    try:
        return text[at:end].decode(), end
    except UnicodeDecodeError:
        return None, at + 1


def longest_match(
    text: bytes, at: int, entries: Collection[bytes], max_length: int, counts: Counts | None = None
) -> int | None:
    """Returns the end of the longest entry (of up to ``max_length`` bytes) that starts at ``at``, or None. ``counts``
    reports whether the entry from one offset to another counts."""
    for end in range(min(at + max_length, len(text)), at, -1):
        if text[at:end] in entries and (counts is None or counts(at, end)):
            return end
    return None


def units(
    text: bytes, user_defined: Collection[bytes], counts: Counts | None = None
) -> Iterator[tuple[int, int, bool]]:
    """Yields the units of a text as ``(start, end, is_symbol)``: the longest user-defined symbols, else characters.
    ``counts`` reports whether the symbol from one offset to another counts.

    >>> list(units(b"xaby", {b"ab"}))
    [(0, 1, False), (1, 3, True), (3, 4, False)]
    """
    max_length = max(map(len, user_defined), default=0)
    at = 0
    while at < len(text):
        symbol_end = longest_match(text, at, user_defined, max_length, counts)
        end = symbol_end or char_end(text, at)
        yield at, end, symbol_end is not None
        at = end
