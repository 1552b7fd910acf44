"""Cuts a text into chunks, each with at most a number of tokens; reference/cutting.py defines where."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from itertools import accumulate, pairwise, takewhile

import numpy as np
import numpy.typing as npt

from ..errors import ArgumentError
from ..keywords import keyword
from ..parts import Parts
from ..text_places import PLACES, places
from ..values import Text
from .characters import Characters, characters, str_of
from .counts import FIRST_BLOCK, Prefixes
from .limits import TokenLimit

_MARGIN = 1.25
_LEAST_BLOCK = 128


def chunk(text: Text | Parts, limit: TokenLimit, overlap: int, at: str) -> npt.NDArray[np.int64]:
    """Returns the start and end of each chunk, of shape (chunks, 2): characters, or bytes if the text is ``bytes``."""
    whole = characters(text)
    kinds = (*PLACES[PLACES.index(at) :], "token") if at in PLACES else ("token",)
    chunks: list[tuple[int, int]] = []
    limit = limit._replace(engine=limit.engine.for_text(text))
    last = _Chunk(limit, whole, 0, FIRST_BLOCK)
    end = 0
    while end < len(whole):
        last, end = _next_chunk(last, end, kinds, overlap)
        chunks.append((last.start, end))
    if isinstance(text, bytes) and len(whole) < len(text):
        chunks = _in_bytes(chunks, str_of(whole))
    return np.array(chunks, np.int64).reshape(-1, 2)


def _next_chunk(last: _Chunk, last_end: int, kinds: tuple[str, ...], overlap: int) -> tuple[_Chunk, int]:
    """Returns the chunk after ``last``, which ends at ``last_end``, and its end."""
    candidates = [last.at(last_end)]
    if overlap and last_end and (start := last.overlap_start(last_end, kinds, overlap)) < last_end:
        candidates.insert(0, last.at(start))
    for kind in kinds:
        for candidate in candidates:
            if (end := candidate.longest_to(kind, last_end)) is not None:
                return candidate, end
    for candidate in candidates:
        if (end := candidate.longest_to_character(last_end)) is not None:
            return candidate, end
    raise candidates[-1].too_small()


class _Chunk:
    """A chunk that begins at ``start``; its end is not decided. Its length is about ``first_block``."""

    def __init__(self, limit: TokenLimit, text: Characters, start: int, first_block: int) -> None:
        self.start = start
        self._limit = limit
        self._text = text
        self._first_block = first_block
        self._places_by_kind: dict[str, list[int]] = {}

    def at(self, start: int) -> _Chunk:
        """Returns a chunk with another start; this chunk's length is the estimate for it."""
        distance = start - self.start
        first_block = max(int(distance * _MARGIN), _LEAST_BLOCK) if distance else self._first_block
        return _Chunk(self._limit, self._text, start, first_block)

    @cached_property
    def _prefixes(self) -> Prefixes:
        return Prefixes(self._limit.engine, self._text, self.start, first_block=self._first_block)

    @cached_property
    def _bound(self) -> int:
        bound = self._prefixes.bound(self._limit.of_text)
        assert bound is not None, "the whole text has a bound"
        return bound

    def longest_to(self, kind: str, after: int) -> int | None:
        """Returns the last place of a kind after ``after`` up to which the chunk fits; the end of the text is one."""
        if self._bound > len(self._text):
            return len(self._text)
        if kind == "token":
            return self._first_fit(takewhile(lambda end: end > after, self._prefixes.token_ends(self._bound)))
        return self._first_fit(end for end in reversed(self._places(kind)) if end > after)

    def longest_to_character(self, after: int) -> int | None:
        """Returns the last end after ``after`` up to which the chunk fits."""
        return self._first_fit(range(self._bound - 1, after, -1))

    def _first_fit(self, ends: Iterable[int]) -> int | None:
        return self._prefixes.longest(ends, self._limit.of_text)

    def overlap_start(self, end: int, kinds: tuple[str, ...], overlap: int) -> int:
        """Returns where a chunk begins that repeats at most ``overlap`` tokens of this one, which ends at ``end``;
        ``end`` if it repeats none."""
        starts, ends = self._limit.engine.spans(self._text[self.start : end])
        index = max(len(starts) - overlap, 1)
        while index < len(starts) and (starts[index] < ends[index - 1] or starts[index] == starts[index - 1]):
            index += 1
        first = self.start + int(starts[index]) if index < len(starts) else end
        for kind in kinds[:-1]:
            if place := next((place for place in self._places(kind) if first <= place < end), None):
                return place
        return first

    def _places(self, kind: str) -> list[int]:
        """Returns the places of a kind before the bound."""
        if kind not in self._places_by_kind:
            self._places_by_kind[kind] = [*places(kind, str_of(self._text), self.start, self._bound)]
        return self._places_by_kind[kind]

    def too_small(self) -> ArgumentError:
        """Returns the error for a chunk that does not fit with a single character."""
        character = self._text[self.start : self.start + 1]
        tokens = self._limit.engine.count(character)
        max_tokens, added_tokens = self._limit.max_tokens, self._limit.added_tokens
        template = f", and {keyword('add_special', True)} adds {added_tokens}" if added_tokens else ""
        return ArgumentError(
            f"{keyword('max_tokens', max_tokens)} is too small for this text: the character {str_of(character)!r} at "
            f"{self.start} alone has {tokens} token{'s' * (tokens != 1)}{template}"
        )


def _in_bytes(chunks: list[tuple[int, int]], characters: str) -> list[tuple[int, int]]:
    """Converts offsets in characters to offsets in bytes."""
    positions = sorted({position for chunk in chunks for position in chunk})
    parts = (characters[start:end] for start, end in pairwise(positions))
    lengths = (len(part.encode("utf-8", "surrogateescape")) for part in parts)
    offsets = dict(zip(positions, accumulate(lengths, initial=0), strict=True))
    return [(offsets[start], offsets[end]) for start, end in chunks]
