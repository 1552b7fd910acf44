"""Splits a text by patterns: the pieces are the matches of a regular expression, left to right.

Text that the pattern does not match is dropped, as in tiktoken and minbpe. Several patterns are applied in turn, each
of them to the pieces of the previous one. Patterns have the syntax of the `regex` module (possessive quantifiers,
``\\p{...}``). Anchors and lookarounds see only the piece.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from polytok.reference.stages import Aligned


def split(patterns: Iterable[str], text: Aligned) -> list[Aligned]:
    """Returns the pieces of a text that is valid UTF-8; the whole text if there is no pattern."""
    pieces = [text] if text.text else []
    for pattern in patterns:
        pieces = [match for piece in pieces for match in matches_in(pattern, piece)]
    return pieces


def matches_in(pattern: str, piece: Aligned) -> Iterator[Aligned]:
    """Yields the matches of one pattern in one piece, except empty matches."""
    import regex  # type: ignore[import-untyped,unused-ignore] # the walks need no patterns

    text = piece.text.decode()
    byte_start = char_index = 0
    for match in regex.finditer(pattern, text):
        byte_start += len(text[char_index : match.start()].encode())
        byte_end = byte_start + len(match[0].encode())
        if byte_start < byte_end:
            yield piece.part(byte_start, byte_end)
        byte_start, char_index = byte_end, match.end()
