"""Unigram: finds the segmentation with the best sum of scores, in exactly SentencePiece's arithmetic.

The search is Viterbi's, over byte positions. At each position the candidates are the entries that start there, shorter
ones first. An unknown character is a candidate too, unless a usable entry covers exactly that character. A candidate
replaces the best path to its end only if its sum is strictly better. So of equal sums the path whose last piece starts
earliest stays (``aaa`` over ``aa a``).

Sums are rounded like the reference's, and the two releases round differently: 0.2.1 compares a float64 candidate with
a stored float32; 0.2.3 computes in float32 and shifts all sums back to zero beyond 100,000. A Viterbi search in float64
matches neither release.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from ctypes import c_float
from functools import lru_cache
from sys import float_info

from polytok.guard import marks_nothing
from polytok.reference.stages import Segment
from polytok.reference.utf8 import Counts, char_end, units
from polytok.reference.vocabulary import Vocabulary
from polytok.spec import Kind, SentencePieceVersion

FLOAT32_MAX = 3.4028234663852886e38
FLOAT32_MIN_POSITIVE = 1.1754943508222875e-38
UNKNOWN_PENALTY = 10.0
LARGEST_SUM = 100_000.0
assert float_info.mant_dig == 53  # a float32 sum or product rounded from float64 is the float32 one


def to_float32(number: float) -> float:
    """Rounds a number to IEEE binary32; a number that is too large becomes an infinity."""
    return c_float(number).value


class BestPaths:
    """The best path to each position: its sum, the start of its last piece, and the id of that piece."""

    def __init__(self, size: int) -> None:
        self.score = [0.0] * (size + 1)
        self.start: list[int | None] = [None] * (size + 1)
        self.id: list[int | None] = [None] * (size + 1)
        self.furthest = 0

    def offer(self, piece_start: int, end: int, id: int | None, score: float) -> None:
        """Stores a candidate if its sum is strictly better than the best one for the same end."""
        if self.start[end] is None or score > self.score[end]:
            self.score[end], self.start[end], self.id[end] = to_float32(score), piece_start, id
            self.furthest = max(self.furthest, end)

    def rebase(self, at: int) -> None:
        """Shifts all sums from ``at`` on so that the sum at ``at`` is zero, if that sum is too large for float32."""
        sum_here = self.score[at]
        if sum_here < -LARGEST_SUM or sum_here > LARGEST_SUM:
            for end in range(at, self.furthest + 1):
                if self.start[end] is not None:
                    self.score[end] = to_float32(self.score[end] - sum_here)

    def path(self) -> list[Segment]:
        """Returns the best segmentation of the whole text."""
        out: list[Segment] = []
        end = len(self.score) - 1
        while end > 0:
            piece_start = self.start[end] or 0
            out.append(Segment(self.id[end], piece_start, end))
            end = piece_start
        return out[::-1]


class CandidateScores:
    """Computes the sum of a path that is extended by one candidate, by the rules of one SentencePiece release."""

    def __init__(self, vocab: Vocabulary, line: SentencePieceVersion) -> None:
        self.vocab = vocab
        self.line = line
        self.lowest, self.highest = score_extremes(vocab)

    def sum(self, id: int, length: int, sum_here: float) -> float:
        """Returns the sum of a path with the sum ``sum_here``, extended by a piece of ``length`` bytes."""
        piece_score = self.vocab.score[id]
        if self.vocab.active[id] == Kind.USER_DEFINED:
            piece_score = (
                to_float32(length * self.highest) - 0.1 if self.line == "0.2.1" else to_float32(0.1 * (length - 1))
            )
        return piece_score + sum_here if self.line == "0.2.1" else to_float32(piece_score + sum_here)

    def unknown(self, sum_here: float) -> float:
        """Returns the sum of a path with the sum ``sum_here``, extended by an unknown character."""
        return to_float32(to_float32(self.lowest - UNKNOWN_PENALTY) + sum_here)


@lru_cache(maxsize=4)
def score_extremes(vocab: Vocabulary) -> tuple[float, float]:
    """Returns the lowest and the highest score of the NORMAL pieces.

    The highest is at least the smallest positive float32, as in SentencePiece, even if all scores are negative.
    """
    normal = [vocab.score[id] for id in vocab.ids if vocab.kind[id] == Kind.NORMAL]
    return min([FLOAT32_MAX, *normal]), max([FLOAT32_MIN_POSITIVE, *normal])


def segment(vocab: Vocabulary, text: bytes, line: SentencePieceVersion, counts: Counts | None = None) -> list[Segment]:
    """Returns the best segmentation of the normalized text.

    With ``counts``, only user-defined symbols count for which it returns True, and those that a search from left to
    right finds are always taken. Without it, symbols compete with other pieces by their high scores.
    """
    marks = {
        piece for piece in vocab.user_defined if counts and not marks_nothing(piece.decode(errors="replace"), False)
    }
    symbols = [(start, end) for start, end, _ in units(text, vocab.user_defined, counts) if text[start:end] in marks]
    scores = CandidateScores(vocab, line)
    best_paths = BestPaths(len(text))
    at = 0
    while at < len(text):
        if line == "0.2.3":
            best_paths.rebase(at)
        sum_here = best_paths.score[at]
        next_char = char_end(text, at)
        char_is_covered = False
        for end, id in entries_at(vocab, text, at):
            if marks and not fits(at, end, text[at:end] in marks, symbols):
                continue
            best_paths.offer(at, end, id, scores.sum(id, end - at, sum_here))
            char_is_covered |= end == next_char
        if not char_is_covered:
            best_paths.offer(at, next_char, None, scores.unknown(sum_here))
        at = next_char
    return best_paths.path()


def fits(start: int, end: int, is_symbol: bool, symbols: Collection[tuple[int, int]]) -> bool:
    """Reports whether an entry is one of the symbols that are taken, or another entry that does not overlap them."""
    return (start, end) in symbols or not (is_symbol or any(a < end and start < b for a, b in symbols))


def entries_at(vocab: Vocabulary, text: bytes, at: int) -> Iterator[tuple[int, int]]:
    """Yields the usable entries that start at ``at``, shortest first: the end of each entry, and its id."""
    for end in range(at + 1, min(at + vocab.longest, len(text)) + 1):
        id = vocab.normal_ids.get(text[at:end])
        if id is not None and not vocab.is_unused(id):
            yield end, id
