"""Split patterns: the pieces are the matches of a regular expression, left to right.

Text that the pattern does not match is dropped, as tiktoken and minbpe do. Several patterns are applied in turn, each
to the pieces of the previous one. The patterns are those of the `regex` module (possessive quantifiers, ``\\p{...}``);
anchors and lookarounds see nothing outside the piece.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import regex  # type: ignore[import-untyped,unused-ignore]

from polytok.reference.stages import Aligned


def split(patterns: Iterable[str], text: Aligned) -> list[Aligned]:
    """The pieces of a text that is valid UTF-8; the whole text if there is no pattern."""
    pieces = [text] if text.text else []
    for pattern in patterns:
        pieces = [match for piece in pieces for match in matches(pattern, piece)]
    return pieces


def matches(pattern: str, piece: Aligned) -> Iterator[Aligned]:
    """The matches of one pattern in one piece; empty matches are skipped."""
    text = piece.text.decode()
    start = chars = 0
    for match in regex.finditer(pattern, text):
        start += len(text[chars : match.start()].encode())
        end = start + len(match[0].encode())
        if start < end:
            yield piece.part(start, end)
        start, chars = end, match.end()
