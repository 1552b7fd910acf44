"""Counts the tokens of many prefixes or suffixes of a text, and proves from which length on all have too many.

A *safe cut* is a place at which the tokens on both sides do not depend on the other side. Two laws follow:

* A prefix that contains a safe cut, with the text around the cut, has at least the tokens before the cut. So as soon as
  these exceed a limit, no longer prefix is within the limit. Left cuts (engine.py) are enough for this.
* Let `start` be a safe cut, and another one follow it. All prefixes that contain both, with the text around them, have
  the same tokens before the second cut, and so has the text from `start` on. The tokens of such a prefix are therefore
  those of its text from `start` on and a constant number, which an `Anchor` holds.

The tokens before a cut are those of the text up to it, so they are counted, not looked up in spans: tokens without
characters have the same span on both sides of a cut, and the spans of some normalizers are not exact.

`Parts` that are trusted as a whole can be encoded in another way than others. All prefixes of a text in parts that are
not trusted as a whole are encoded in the one way, also while blocks and anchors are counted; the shorter prefixes that
are trusted have `Prefixes` of their own.

The same is true of suffixes in the other direction. For a vocabulary that has only left cuts (SentencePiece's Unigram),
the first law for suffixes is weaker: between two left cuts stands at least one token.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import NamedTuple

from .characters import Characters
from .engine import CONTEXT, Engine
from .part_characters import PartCharacters

FIRST_BLOCK = 1024
_MAX_BLOCK = 1 << 18
_FIRST_REACH = 16
_ANCHOR_DISTANCE = 24


class Anchor(NamedTuple):
    """For prefixes: a prefix of at least ``known`` characters has ``extra`` tokens more than its text from ``place``.

    For suffixes: one that begins at most at ``known`` has ``extra`` tokens more than its text up to ``place``.
    ``cut`` is the safe cut between ``place`` and ``known`` that proves this.
    """

    known: int
    place: int
    cut: int
    extra: int


class Prefixes:
    """The prefixes ``text[start:end]`` of the text after ``start``. ``is_whole`` is False if more text follows."""

    def __init__(
        self, engine: Engine, text: Characters, start: int = 0, *, is_whole: bool = True, first_block: int = FIRST_BLOCK
    ) -> None:
        self._engine = engine
        self._text = text
        self._first_block = first_block
        self._is_whole = is_whole
        self._anchors = [Anchor(start, start, start, 0)]
        self._trusted: Prefixes | None = None
        self._trusted_end = start
        if isinstance(text, PartCharacters) and not (rest := text[start:].by_themselves()).is_trusted():
            self._text = text.of_one_text()
            if length := rest.trusted_start():
                self._trusted_end = start + length
                trusted_text = text[: self._trusted_end].by_themselves()
                self._trusted = Prefixes(engine, trusted_text, start, first_block=first_block)

    def count(self, end: int) -> int:
        """Returns the number of tokens of the prefix that ends at ``end``."""
        if self._trusted is not None and end <= self._trusted_end:
            return self._trusted.count(end)
        anchor = next(anchor for anchor in reversed(self._anchors) if anchor.known <= end)
        return anchor.extra + self._engine.count(self._text[anchor.place : end])

    def longest(self, ends: Iterable[int], limit: int) -> int | None:
        """Returns the first of the ends whose prefix has at most ``limit`` tokens; None if there is none."""
        return next((end for end in ends if self.count(end) <= limit), None)

    def bound(self, limit: int) -> int | None:
        """Returns an end such that no prefix with this end, or a later one, has at most ``limit`` tokens.

        Returns one more than the length of the text if all of it has at most ``limit`` tokens, and None if the answer
        depends on the text that follows.
        """
        bound = self._bound_of_one_text(limit)
        if self._trusted is None or bound is None or bound > self._trusted_end + 1:
            return bound
        return self._trusted.bound(limit)

    def _bound_of_one_text(self, limit: int) -> int | None:
        """Returns the bound for prefixes of which all are encoded like the whole text."""
        text_length, size = len(self._text), self._first_block
        while True:
            anchor = self._anchors[-1]
            if anchor.extra > limit:
                return anchor.known
            known = min(anchor.known + size, text_length)
            block = self._text[anchor.place : known]
            starts, ends = self._engine.spans(block)
            limit_in_block = limit - anchor.extra
            if len(starts) > limit_in_block:
                place = int(ends[limit_in_block])
                if (bound := self._bound_after(anchor, block, place, limit_in_block)) is not None:
                    return bound
            if known == text_length:
                if not self._is_whole:
                    return None
                return text_length + (len(starts) <= limit_in_block)
            has_anchor = self._add_anchor(anchor, block)
            can_estimate = has_anchor and len(starts) <= limit_in_block
            size = _next_size(len(block), len(starts), limit_in_block) if can_estimate else 2 * size

    def token_ends(self, before: int) -> Iterator[int]:
        """Yields the ends of tokens of the whole text, up to ``before``, from right to left.

        An end within the span of the next token, which has a part of the same character, is not one of them.
        """
        anchors = [anchor for anchor in self._anchors if anchor.known <= before]
        stop, most = self._settled_end(anchors[-1].place, before), before
        for anchor in reversed(anchors):
            starts, ends = self._engine.spans(self._text[anchor.place : stop])
            is_end = (ends <= most - anchor.place) & (ends > anchor.cut - anchor.place)
            is_end[:-1] &= ends[:-1] <= starts[1:]
            yield from (ends[is_end][::-1].astype(int) + anchor.place).tolist()
            stop, most = anchor.known, anchor.cut

    def _settled_end(self, place: int, end: int) -> int:
        """Returns an end of a text from ``place`` whose tokens up to ``end`` are those of the whole text."""
        for reach in _reaches(len(self._text) - end):
            known = self._text[place : end + reach]
            if self._engine.last_left_cut(known, end - place, len(known)) is not None:
                return end + reach
        return len(self._text)

    def _bound_after(self, anchor: Anchor, block: Characters, place: int, limit_in_block: int) -> int | None:
        """Returns the bound by the first safe cut after ``place``, and adds an anchor for the prefixes before it."""
        for reach in _reaches(len(block) - place):
            end = place + reach
            cut = self._engine.last_left_cut(block[:end], place, end)
            if cut is not None and self._engine.count(block[:cut]) > limit_in_block:
                self._add_anchor(anchor, block[: max(place - _ANCHOR_DISTANCE, 0)])
                return anchor.place + end
        return None

    def _add_anchor(self, anchor: Anchor, block: Characters) -> bool:
        """Adds an anchor for prefixes that contain the block."""
        cut = self._engine.last_cut(block, 0, len(block))
        place = cut and self._engine.last_cut(block, 0, cut - CONTEXT)
        if not cut or not place or anchor.place + len(block) <= anchor.known:
            return False
        extra = anchor.extra + self._engine.count(block[:cut]) - self._engine.count(block[place:cut])
        self._anchors.append(Anchor(anchor.place + len(block), anchor.place + place, anchor.place + cut, extra))
        return True


class Suffixes:
    """The suffixes ``text[start:]``. ``is_whole`` is False if the text is the end of a longer text."""

    def __init__(self, engine: Engine, text: Characters, *, is_whole: bool = True) -> None:
        self._engine = engine
        self._text = text
        self._is_whole = is_whole
        self._anchors = [Anchor(len(text), len(text), len(text), 0)]
        self._trusted: Suffixes | None = None
        self._trusted_start = len(text)
        if isinstance(text, PartCharacters) and not text.is_trusted():
            self._text = text.of_one_text()
            if length := text.trusted_end():
                self._trusted_start = len(text) - length
                self._trusted = Suffixes(engine, text[self._trusted_start :].by_themselves())

    def count(self, start: int) -> int:
        """Returns the number of tokens of the suffix that begins at ``start``."""
        if self._trusted is not None and start >= self._trusted_start:
            return self._trusted.count(start - self._trusted_start)
        anchor = next(anchor for anchor in reversed(self._anchors) if anchor.known >= start)
        return anchor.extra + self._engine.count(self._text[start : anchor.place])

    def longest(self, starts: Iterable[int], limit: int) -> int | None:
        """Returns the first of the starts whose suffix has at most ``limit`` tokens; None if there is none."""
        return next((start for start in starts if self.count(start) <= limit), None)

    def bound(self, limit: int) -> int | None:
        """Returns a start such that no suffix with this start, or an earlier one, has at most ``limit`` tokens.

        Returns -1 if the whole text has at most ``limit`` tokens, and None if the answer depends on the text before.
        """
        bound = self._bound_of_one_text(limit)
        if self._trusted is None or bound is None or bound < self._trusted_start - 1:
            return bound
        trusted_bound = self._trusted.bound(limit)
        return None if trusted_bound is None else self._trusted_start + trusted_bound

    def _bound_of_one_text(self, limit: int) -> int | None:
        """Returns the bound for suffixes of which all are encoded like the whole text."""
        size = FIRST_BLOCK
        while True:
            anchor = self._anchors[-1]
            if anchor.extra > limit:
                return anchor.known
            known = max(anchor.known - size, 0)
            block = self._text[known : anchor.place]
            starts, _ = self._engine.spans(block)
            limit_in_block = limit - anchor.extra
            if len(starts) > limit_in_block:
                place = int(starts[len(starts) - limit_in_block - 1])
                if (bound := self._bound_before(anchor, known, block, place, limit_in_block)) is not None:
                    return bound
            if known == 0:
                if not self._is_whole:
                    return None
                return -(len(starts) <= limit_in_block)
            has_anchor = self._add_anchor(anchor, known, block)
            if not has_anchor and (start := self._start_of_segments(block, limit_in_block)) is not None:
                return known + start
            can_estimate = has_anchor and len(starts) <= limit_in_block
            size = _next_size(len(block), len(starts), limit_in_block) if can_estimate else 2 * size

    def _bound_before(
        self, anchor: Anchor, known: int, block: Characters, place: int, limit_in_block: int
    ) -> int | None:
        """Returns the bound by the last safe cut up to ``place``, and adds an anchor for the suffixes after it."""
        for reach in _reaches(place):
            start = place - reach
            cut = self._engine.last_cut(block[start:], 0, reach)
            if cut is not None and self._tokens_after(block[start:], cut) > limit_in_block:
                near = min(place + _ANCHOR_DISTANCE, len(block))
                self._add_anchor(anchor, known + near, block[near:])
                return known + start
        return None

    def _add_anchor(self, anchor: Anchor, known: int, block: Characters) -> bool:
        """Adds an anchor for suffixes that contain the block, which begins at ``known``."""
        for reach in _reaches(len(block)):
            if (cut := self._engine.last_cut(block[:reach], 0, reach)) is not None:
                extra = anchor.extra + self._tokens_after(block, cut) - self._tokens_after(block[:reach], cut)
                self._anchors.append(Anchor(known, known + reach, known + cut, extra))
                return True
        return False

    def _start_of_segments(self, block: Characters, limit_in_block: int) -> int | None:
        """Returns a start from which more than ``limit_in_block`` left cuts are in the block: a token follows each."""
        cuts = [*islice(self._engine.left_cuts(block), limit_in_block + 1)]
        return cuts[-1] - CONTEXT if len(cuts) > limit_in_block else None

    def _tokens_after(self, block: Characters, cut: int) -> int:
        """Returns the number of tokens of a block that stand after a safe cut."""
        return self._engine.count(block) - self._engine.count(block[:cut])


def _reaches(most: int) -> Iterator[int]:
    """Yields growing distances, of which ``most`` is the last."""
    reach = _FIRST_REACH
    while reach < most:
        yield reach
        reach *= 4
    yield most


def _next_size(block_length: int, tokens: int, limit: int) -> int:
    """Returns the number of characters that probably have the tokens that are left, and a few more."""
    characters_per_token = block_length / max(tokens, 1)
    return min(int((limit - tokens + 1) * characters_per_token * 1.05) + 256, _MAX_BLOCK)
