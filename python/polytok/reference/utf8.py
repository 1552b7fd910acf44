"""The three notions of "character" that the reference programs have. They differ; do not unify them.

1. The lead-byte walker (`char_end`): the length follows from the first byte alone, and continuation bytes are ignored.
   SentencePiece's models step through normalized text with it.
2. The strict decoder (`decode_strict`): Unicode's definition, except that an invalid sequence consumes exactly one byte
   (WHATWG's decoder would take the longest broken prefix). SentencePiece's normalizer and decoder.
3. The prefix matcher (`units`): a user-defined symbol where one matches, else one step of the lead-byte walker.

llama2.c has a fourth, in `llama2c`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

LEAD_LENGTH = (1,) * 12 + (2, 2, 3, 4)
"""Bytes of a character, by the high nibble of its first byte."""


def char_end(text: bytes, at: int) -> int:
    """Where the character at ``at`` ends by the lead-byte rule, clipped to the text.

    >>> char_end(b"\\xe3\\x81", 0), char_end(b"\\x81a", 0)
    (2, 1)
    """
    return min(at + LEAD_LENGTH[text[at] >> 4], len(text))


def decode_strict(text: bytes, at: int) -> tuple[str | None, int]:
    """The character at ``at`` and where it ends; None and one byte if there is none.

    >>> decode_strict("é".encode(), 0), decode_strict(b"\\xe3\\x81", 0)
    (('é', 2), (None, 1))
    """
    end = char_end(text, at)
    try:
        return text[at:end].decode(), end
    except UnicodeDecodeError:
        return None, at + 1


def longest_match(text: bytes, at: int, entries: Collection[bytes], longest: int) -> int | None:
    """Where the longest entry that starts at ``at`` ends, if any does; ``longest`` is the length of the longest."""
    for end in range(min(at + longest, len(text)), at, -1):
        if text[at:end] in entries:
            return end
    return None


def units(text: bytes, user_defined: Collection[bytes]) -> Iterator[tuple[int, int, bool]]:
    """Leftmost longest user-defined symbols and, between them, characters: ``(start, end, is a symbol)``.

    >>> list(units(b"xaby", {b"ab"}))
    [(0, 1, False), (1, 3, True), (3, 4, False)]
    """
    longest = max(map(len, user_defined), default=0)
    at = 0
    while at < len(text):
        symbol_end = longest_match(text, at, user_defined, longest)
        end = symbol_end or char_end(text, at)
        yield at, end, symbol_end is not None
        at = end
