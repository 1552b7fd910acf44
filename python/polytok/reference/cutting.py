"""Where a text is cut by its tokens: the definitions, which try every length.

A part of a text fits if it has at most ``max_tokens`` tokens when it is encoded by itself. The functions need only
`Tokens`, a function that encodes a text, so they also check tokenizers that have no twin.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import TypeAlias

from polytok.text_places import PLACES, places

Tokens: TypeAlias = Callable[[str], list[tuple[int, int]]]
"""Returns the spans of a text's tokens in characters."""


def truncate(text: str, max_tokens: int, tokens: Tokens, direction: str = "right") -> str:
    """Returns the longest prefix of a text that fits; with ``direction="left"``, the longest suffix.

    >>> truncate("one two", 5, lambda text: [(at, at + 1) for at in range(len(text))])
    'one t'
    """
    lengths = range(len(text), -1, -1)
    parts = (text[:length] if direction == "right" else text[len(text) - length :] for length in lengths)
    return next(part for part in parts if len(tokens(part)) <= max_tokens)


def chunk(
    text: str, max_tokens: int, tokens: Tokens, *, overlap: int = 0, at: str = "token"
) -> list[tuple[int, int]] | None:
    """Returns the start and end of each chunk; None if one character alone has more than ``max_tokens`` tokens.

    A chunk begins where the last one ends, or before that, so that it repeats tokens (`overlap_start`). It ends after
    the last one: at the last place of the kind ``at`` up to which it fits, or if there is none, of a finer kind. If it
    repeats text, and therefore reaches no place of a kind, it is tried without repeating text before a finer kind is.

    >>> chunk("one two three", 8, lambda text: [(at, at + 1) for at in range(len(text))], at="word")
    [(0, 8), (8, 13)]
    """
    kinds = [*(PLACES[PLACES.index(at) :] if at in PLACES else ()), "token", "character"]
    chunks: list[tuple[int, int]] = []
    start = last_end = 0
    while last_end < len(text):
        starts = [overlap_start(text, start, last_end, tokens, overlap, kinds), last_end]
        fitting = (
            (start, end)
            for kind in kinds
            for start in starts
            for end in reversed([*ends_of_kind(kind, text, start, tokens)])
            if end > last_end and len(tokens(text[start:end])) <= max_tokens
        )
        if (next_chunk := next(fitting, None)) is None:
            return None
        chunks.append(next_chunk)
        start, last_end = next_chunk
    return chunks


def ends_of_kind(kind: str, text: str, start: int, tokens: Tokens) -> Iterator[int]:
    """Yields where a chunk from ``start`` on can end: at places of a kind in ``text[start:]``, and at its end.

    A place of the kind ``"token"`` is the end of a token, unless the next token has a part of the same character.
    """
    if kind == "character":
        yield from range(start + 1, len(text))
    elif kind == "token":
        spans = tokens(text[start:])
        yield from (start + end for (_, end), (next_start, _) in pairwise(spans) if end <= next_start)
    else:
        yield from places(kind, text, start, len(text))
    yield len(text)


def overlap_start(text: str, start: int, end: int, tokens: Tokens, overlap: int, kinds: list[str]) -> int:
    """Returns where the chunk after ``text[start:end]`` begins, so that it repeats at most ``overlap`` of its tokens.

    This is the first place of the kind ``at``, or if there is none, of a finer kind. A chunk repeats neither the whole
    chunk before it nor a part of a character. A token
    without characters is repeated with the next one.
    """
    spans = tokens(text[start:end])
    first = max(len(spans) - overlap, 1)
    token_starts = [span[0] for last, span in pairwise(spans[first - 1 :]) if last[0] < span[0] >= last[1]]
    if not token_starts:
        return end
    for kind in kinds[:-2]:
        for place in places(kind, text, start, end):
            if place >= start + token_starts[0]:
                return place
    return start + token_starts[0]
