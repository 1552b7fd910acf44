"""Unigram: the segmentation with the best sum of scores, in exactly SentencePiece's arithmetic.

Viterbi over byte positions. At each position the candidates are the entries that start there, shorter ones first, and
an unknown character where no usable entry covers just that character. A candidate must be strictly better than what its
end already has, so of equal sums the one that was found from the earliest start stays (``aaa`` over ``aa a``).

The sums are rounded as the reference rounds them, and the two lines round differently: 0.2.1 compares a float64
candidate with a stored float32, 0.2.3 computes in float32 and shifts all sums back to zero beyond 100,000. Neither is a
float64 Viterbi.
"""

from __future__ import annotations

from collections.abc import Iterator
from ctypes import c_float
from functools import lru_cache
from sys import float_info

from polytok.reference.stages import Segment
from polytok.reference.utf8 import char_end
from polytok.reference.vocabulary import Vocabulary
from polytok.spec import Kind, Line

FLOAT32_MAX = 3.4028234663852886e38
FLOAT32_MIN_POSITIVE = 1.1754943508222875e-38
UNKNOWN_PENALTY = 10.0
REBASE_BEYOND = 100_000.0
assert float_info.mant_dig == 53  # a float32 sum or product rounded from float64 is the float32 one


def f32(number: float) -> float:
    """Round to IEEE binary32; beyond its range that is an infinity."""
    return c_float(number).value


class Best:
    """The best way to reach each position: its sum, where its last piece starts, and that piece's id."""

    def __init__(self, size: int) -> None:
        self.score = [0.0] * (size + 1)
        self.start: list[int | None] = [None] * (size + 1)
        self.id: list[int | None] = [None] * (size + 1)
        self.furthest = 0

    def offer(self, start: int, end: int, id: int | None, score: float) -> None:
        """Take a candidate if it is strictly better."""
        if self.start[end] is None or score > self.score[end]:
            self.score[end], self.start[end], self.id[end] = f32(score), start, id
            self.furthest = max(self.furthest, end)

    def rebase(self, at: int) -> None:
        """Shift all open sums so that the one at ``at`` is zero, if it has grown too large for float32."""
        here = self.score[at]
        if here < -REBASE_BEYOND or here > REBASE_BEYOND:
            for end in range(at, self.furthest + 1):
                if self.start[end] is not None:
                    self.score[end] = f32(self.score[end] - here)

    def path(self) -> list[Segment]:
        """The best segmentation of the whole text."""
        out: list[Segment] = []
        end = len(self.score) - 1
        while end > 0:
            start = self.start[end] or 0
            out.append(Segment(self.id[end], start, end))
            end = start
        return out[::-1]


class Scores:
    """What a candidate adds to a sum, by line."""

    def __init__(self, words: Vocabulary, line: Line) -> None:
        self.words = words
        self.line = line
        self.lowest, self.highest = extremes(words)

    def sum(self, id: int, length: int, here: float) -> float:
        """A piece of ``length`` bytes added to the sum ``here``."""
        piece = self.words.score[id]
        if self.words.active[id] == Kind.USER_DEFINED:
            piece = f32(length * self.highest) - 0.1 if self.line == "0.2.1" else f32(0.1 * (length - 1))
        return piece + here if self.line == "0.2.1" else f32(piece + here)

    def unknown(self, here: float) -> float:
        """An unknown character added to the sum ``here``."""
        return f32(f32(self.lowest - UNKNOWN_PENALTY) + here)


@lru_cache(maxsize=4)
def extremes(words: Vocabulary) -> tuple[float, float]:
    """The lowest and highest score of the NORMAL pieces; where all are negative, the "highest" is not one of them."""
    normal = [words.score[id] for id in words.ids if words.kind[id] == Kind.NORMAL]
    return min([FLOAT32_MAX, *normal]), max([FLOAT32_MIN_POSITIVE, *normal])


def segment(words: Vocabulary, text: bytes, line: Line) -> list[Segment]:
    """The best segmentation of the normalized text."""
    scores = Scores(words, line)
    best = Best(len(text))
    at = 0
    while at < len(text):
        if line == "0.2.3":
            best.rebase(at)
        here = best.score[at]
        next_char = char_end(text, at)
        char_is_covered = False
        for end, id in entries_at(words, text, at):
            best.offer(at, end, id, scores.sum(id, end - at, here))
            char_is_covered |= end == next_char
        if not char_is_covered:
            best.offer(at, next_char, None, scores.unknown(here))
        at = next_char
    return best.path()


def entries_at(words: Vocabulary, text: bytes, at: int) -> Iterator[tuple[int, int]]:
    """The usable entries that start at ``at``, shortest first: where each ends, and its id."""
    for end in range(at + 1, min(at + words.longest, len(text)) + 1):
        id = words.normal.get(text[at:end])
        if id is not None and not words.is_unused(id):
            yield end, id
