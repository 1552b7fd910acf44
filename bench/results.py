"""Finds and compares results."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from statistics import median

from .cases import OURS, UNCACHED
from .measure import Result, ratio

OWN_ENGINES = frozenset({OURS, UNCACHED})
"""The engines that are polytok."""


@dataclass(frozen=True, slots=True)
class SpeedRatio:
    """The ratio of polytok's speed to the speed of another engine."""

    times: float
    engine: str


class Results:
    """The results of a run."""

    def __init__(self, results: Iterable[Result]) -> None:
        self.all = tuple(results)

    def select(
        self,
        workload: str,
        vocabulary: str | None = None,
        text: str | None = None,
        operation: str | None = None,
        engine: str | None = None,
    ) -> list[Result]:
        """Returns the results of a workload that match all arguments."""
        filters = (workload, vocabulary, text, operation, engine)
        return [result for result in self.all if all(_fits(*pair) for pair in zip(filters, _key(result), strict=True))]

    def ours(self, workload: str, vocabulary: str, text: str, operation: str) -> Result | None:
        """Returns the result of polytok, or None if the result has no time."""
        matching_results = self.select(workload, vocabulary, text, operation, OURS)
        return matching_results[0] if matching_results and matching_results[0].void is None else None

    def peers(self, workload: str, vocabulary: str, text: str, operation: str | None = None) -> Iterator[Result]:
        """Yields the results of other engines that have a time."""
        for result in self.select(workload, vocabulary, text, operation):
            if result.engine not in OWN_ENGINES and result.void is None:
                yield result

    def fastest_peer(self, ours: Result, operation: str | None = None) -> Result | None:
        """Returns the fastest result of another engine in the first pass, by default over all operations."""
        peers = self.peers(ours.workload.name, ours.vocabulary.name, ours.text.name, operation)
        return max(peers, key=lambda result: median(result.first), default=None)


def compare(ours: Result, theirs: Result, passes: str = "first") -> SpeedRatio:
    """Compares two results by the median of the ratios of all rounds."""
    return SpeedRatio(ratio(getattr(ours, passes), getattr(theirs, passes)), theirs.engine)


def _key(result: Result) -> tuple[str, str, str, str, str]:
    return (result.workload.name, result.vocabulary.name, result.text.name, result.operation, result.engine)


def _fits(filter_value: str | None, actual: str) -> bool:
    return filter_value is None or filter_value == actual
