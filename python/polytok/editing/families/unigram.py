"""Unigram: a new entry gets a score with which it is taken in place of its old segmentation."""

from __future__ import annotations

from collections.abc import Set

from ..rows import Rows
from .base import Family, NewEntry, is_one_character

MARGIN = 0.1
"""How much the score of a new entry exceeds the sum of the scores of its old segmentation."""
_UNKNOWN_PENALTY = 10.0


class UnigramFamily(Family):
    """A vocabulary of scores.

    A new entry's score is the sum of the scores of its old segmentation plus `MARGIN`, and at least the lowest score of
    the vocabulary: the lowest score determines the score of unknown text, which therefore stays. So texts that do not
    contain the entry keep their ids.
    """

    def __init__(self, rows: Rows) -> None:
        super().__init__(rows)
        self._scores = {row.piece: row.score for row in rows.rows if row.piece in rows.entries}
        self._lowest_score = min(self._scores.values(), default=0.0)

    def begin(self, removed_ids: Set[int]) -> None:
        """Removes entries."""
        super().begin(removed_ids)
        self._scores = {piece: score for piece, score in self._scores.items() if piece in self.pieces}
        self._lowest_score = min(self._scores.values(), default=0.0)

    def add(self, piece: bytes) -> None:
        """Adds an entry with a score with which it is taken."""
        if piece in self.pieces:
            return
        score = max(self._best_sum(piece.decode()) + MARGIN, self._lowest_score)
        self._scores[piece] = score
        self.append(NewEntry(piece, score))

    def _best_sum(self, text: str) -> float:
        """Returns the best sum of scores of a segmentation of a text."""
        best_sums = [0.0]
        for end in range(1, len(text) + 1):
            candidates = [
                best_sums[start] + score for start in range(end) if (score := self._score(text[start:end])) is not None
            ]
            best_sums.append(max(candidates))
        return best_sums[-1]

    def _score(self, text: str) -> float | None:
        """Returns the score of an entry; of a single character without an entry, the score of unknown text."""
        score = self._scores.get(text.encode())
        if score is None and is_one_character(text.encode()):
            return self._lowest_score - _UNKNOWN_PENALTY
        return score
