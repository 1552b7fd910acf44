"""The lattice of Unigram: the best path to each offset, and the next best segmentations.

The search is Viterbi's, over byte offsets. A candidate replaces the best path to its end only if its sum is strictly
better. So of equal sums the path whose last piece starts earliest stays (``aaa`` over ``aa a``).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, NamedTuple

from polytok.reference.stages import Segment
from polytok.reference.walks import Edge, RunnerUp, UnigramWalk

RUNNERS_UP = 5


@dataclass(frozen=True, slots=True)
class Candidate:
    """An entry, or an unknown character, from one offset to another. ``sum`` is the sum of the best path with it."""

    start: int
    end: int
    id: int | None
    score: float
    sum: float


class BestPaths:
    """The best path to each offset: its sum, and its last candidate. ``store`` rounds a sum that is stored."""

    def __init__(self, size: int, store: Callable[[float], float] = float) -> None:
        self.score = [0.0] * (size + 1)
        self.last: list[int | None] = [None] * (size + 1)
        self.candidates: list[Candidate] = []
        self.nodes: list[int] = []
        self.furthest = 0
        self._store = store

    def offer(self, candidate: Candidate) -> None:
        """Stores a candidate, which becomes the best one to its end if its sum is strictly better."""
        end = candidate.end
        if self.last[end] is None or candidate.sum > self.score[end]:
            self.score[end], self.last[end] = self._store(candidate.sum), len(self.candidates)
            self.furthest = max(self.furthest, end)
        self.candidates.append(candidate)

    def path(self) -> list[int]:
        """Returns the indexes of the candidates of the best path."""
        path: list[int] = []
        end = len(self.score) - 1
        while end > 0:
            index = self.last[end]
            assert index is not None
            path.append(index)
            end = self.candidates[index].start
        return path[::-1]

    def walk(
        self, text: bytes, rules: Literal["sentencepiece", "huggingface", "llama.cpp"], rounding: str
    ) -> UnigramWalk:
        """Returns the walk, whose segments are the candidates of the best path."""
        path = self.path()
        on_path, best = set(path), set(self.last)
        edges = tuple(
            Edge(c.start, c.end, c.id, text[c.start : c.end], c.score, c.sum, index in best, index in on_path)
            for index, c in enumerate(self.candidates)
        )
        segments = tuple(Segment(edges[index].id, edges[index].start, edges[index].end) for index in path)
        score = self.score[-1]
        runners_up = tuple(self._runners_up(path))
        return UnigramWalk(rules, rounding, (*self.nodes, len(text)), edges, tuple(path), score, runners_up, segments)

    def _runners_up(self, best: list[int]) -> list[RunnerUp]:
        """Returns the next best segmentations, by sums without rounding."""
        paths: list[list[_Path]] = [[] for _ in self.score]
        paths[0] = [_Path(0.0, -1, None)]
        by_end: dict[int, list[int]] = {}
        for index, candidate in enumerate(self.candidates):
            by_end.setdefault(candidate.end, []).append(index)
        for end in sorted(by_end):
            found: list[_Path] = [
                _Path(before.sum + self.candidates[index].score, index, before)
                for index in by_end[end]
                for before in paths[self.candidates[index].start]
            ]
            paths[end] = sorted(found, key=lambda path: -path.sum)[: RUNNERS_UP + 1]
        runners = []
        for path in paths[-1]:
            indexes = _indexes(path)
            if indexes != best:
                parts = [self.candidates[index] for index in indexes]
                runners.append(RunnerUp(tuple(p.id for p in parts), tuple(p.end for p in parts), path.sum))
        return runners[:RUNNERS_UP]


class _Path(NamedTuple):
    """A path of the lattice: its sum, its last candidate, and the path before that; the empty path has neither."""

    sum: float
    last: int
    before: _Path | None


def _indexes(path: _Path) -> list[int]:
    """Returns the candidates of a path, first to last."""
    indexes: list[int] = []
    step: _Path | None = path
    while step is not None and step.last >= 0:
        indexes.append(step.last)
        step = step.before
    return indexes[::-1]
