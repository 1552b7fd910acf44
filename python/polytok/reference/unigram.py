"""Unigram: finds the segmentation with the best sum of scores, in exactly SentencePiece's arithmetic.

At each position of the lattice the candidates are the entries that start there, shorter ones first. An unknown
character is a candidate too, unless a usable entry covers exactly that character.

Sums are rounded like the reference's, and the two releases round differently: 0.2.1 compares a float64 candidate with
a stored float32; 0.2.3 computes in float32 and shifts all sums back to zero beyond 100,000. A Viterbi search in float64
matches neither release.
"""

from __future__ import annotations

from array import array
from collections.abc import Collection, Iterator
from sys import float_info

from polytok.guard import marks_nothing
from polytok.reference.lattice import BestPaths, Candidate
from polytok.reference.utf8 import Counts, char_end, units
from polytok.reference.vocabulary import Vocabulary
from polytok.reference.walks import UnigramWalk
from polytok.spec import Kind, SentencePieceVersion

FLOAT32_MAX = 3.4028234663852886e38
FLOAT32_MIN_POSITIVE = 1.1754943508222875e-38
UNKNOWN_PENALTY = 10.0
LARGEST_SUM = 100_000.0
ROUNDING = {
    "0.2.1": "float32 sums; a candidate is compared in float64",
    "0.2.3": "float32 sums, which are shifted back to zero beyond 100,000",
}
assert float_info.mant_dig == 53  # a float32 sum or product rounded from float64 is the float32 one


def to_float32(number: float) -> float:
    """Rounds a number to IEEE binary32; a number that is too large becomes an infinity."""
    return array("f", (number,))[0]


class CandidateScores:
    """Computes the sum of a path that is extended by one candidate, by the rules of one SentencePiece release."""

    def __init__(self, vocab: Vocabulary, line: SentencePieceVersion) -> None:
        self.vocab = vocab
        self.line = line
        self.lowest, self.highest = score_extremes(vocab)

    def piece(self, id: int, length: int) -> float:
        """Returns the score of a piece of ``length`` bytes."""
        if self.vocab.active[id] != Kind.USER_DEFINED:
            return self.vocab.score[id]
        return to_float32(length * self.highest) - 0.1 if self.line == "0.2.1" else to_float32(0.1 * (length - 1))

    @property
    def unknown(self) -> float:
        """The score of an unknown character."""
        return to_float32(self.lowest - UNKNOWN_PENALTY)

    def candidate(self, start: int, end: int, id: int | None, sum_here: float) -> Candidate:
        """Returns a candidate after a path with the sum ``sum_here``."""
        score = self.unknown if id is None else self.piece(id, end - start)
        total = score + sum_here
        return Candidate(start, end, id, score, total if self.line == "0.2.1" and id is not None else to_float32(total))


def rebase(paths: BestPaths, at: int) -> None:
    """Shifts all sums from ``at`` on so that the sum at ``at`` is zero, if that sum is too large for float32."""
    sum_here = paths.score[at]
    if sum_here < -LARGEST_SUM or sum_here > LARGEST_SUM:
        for end in range(at, paths.furthest + 1):
            if paths.last[end] is not None:
                paths.score[end] = to_float32(paths.score[end] - sum_here)


def score_extremes(vocab: Vocabulary) -> tuple[float, float]:
    """Returns the lowest and the highest score of the NORMAL pieces.

    The highest is at least the smallest positive float32, as in SentencePiece, even if all scores are negative.
    """
    lowest, highest = vocab.normal_scores or (FLOAT32_MAX, FLOAT32_MIN_POSITIVE)
    return min(FLOAT32_MAX, lowest), max(FLOAT32_MIN_POSITIVE, highest)


def walk(vocab: Vocabulary, text: bytes, line: SentencePieceVersion, counts: Counts | None = None) -> UnigramWalk:
    """Returns the walk of the normalized text: the lattice, and the best segmentation.

    With ``counts``, only user-defined symbols count for which it returns True, and those that a search from left to
    right finds are always taken. Without it, symbols compete with other pieces by their high scores.
    """
    marks = {
        piece for piece in vocab.user_defined if counts and not marks_nothing(piece.decode(errors="replace"), False)
    }
    symbols = [(start, end) for start, end, _ in units(text, vocab.user_defined, counts) if text[start:end] in marks]
    scores = CandidateScores(vocab, line)
    paths = BestPaths(len(text), to_float32)
    at = 0
    while at < len(text):
        paths.nodes.append(at)
        if line == "0.2.3":
            rebase(paths, at)
        sum_here = paths.score[at]
        next_char = char_end(text, at)
        char_is_covered = False
        for end, id in entries_at(vocab, text, at):
            if marks and not fits(at, end, text[at:end] in marks, symbols):
                continue
            paths.offer(scores.candidate(at, end, id, sum_here))
            char_is_covered |= end == next_char
        if not char_is_covered:
            paths.offer(scores.candidate(at, next_char, None, sum_here))
        at = next_char
    return paths.walk(text, "sentencepiece", ROUNDING[line])


def fits(start: int, end: int, is_symbol: bool, symbols: Collection[tuple[int, int]]) -> bool:
    """Reports whether an entry is one of the symbols that are taken, or another entry that does not overlap them."""
    return (start, end) in symbols or not (is_symbol or any(a < end and start < b for a, b in symbols))


def entries_at(vocab: Vocabulary, text: bytes, at: int) -> Iterator[tuple[int, int]]:
    """Yields the usable entries that start at ``at``, shortest first: the end of each entry, and its id."""
    for end in range(at + 1, min(at + vocab.longest, len(text)) + 1):
        id = vocab.normal_ids.get(text[at:end])
        if id is not None and not vocab.is_unused(id):
            yield end, id
