"""Finds and compares results."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from statistics import median

from .cases import OWN_ENGINE_NAME, UNCACHED_ENGINE_NAME
from .measure import Result, median_ratio

OWN_ENGINES = frozenset({OWN_ENGINE_NAME, UNCACHED_ENGINE_NAME})
"""The engines that are polytok."""


@dataclass(frozen=True, slots=True)
class SpeedRatio:
    """The ratio of polytok's speed to the speed of another engine."""

    ratio: float
    engine: str


class Results:
    """The results of a run."""

    def __init__(self, results: Iterable[Result]) -> None:
        self.all_results = tuple(results)

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
        return [
            result
            for result in self.all_results
            if all(_fits(*pair) for pair in zip(filters, _key(result), strict=True))
        ]

    def own_result(self, workload: str, vocabulary: str, text: str, operation: str) -> Result | None:
        """Returns the result of polytok, or None if the result has no time."""
        matching_results = self.select(workload, vocabulary, text, operation, OWN_ENGINE_NAME)
        return matching_results[0] if matching_results and matching_results[0].failure_reason is None else None

    def peer_results(self, workload: str, vocabulary: str, text: str, operation: str | None = None) -> Iterator[Result]:
        """Yields the results of other engines that have a time."""
        for result in self.select(workload, vocabulary, text, operation):
            if result.engine not in OWN_ENGINES and result.failure_reason is None:
                yield result

    def fastest_peer_result(self, own_result: Result, operation: str | None = None) -> Result | None:
        """Returns the fastest result of another engine in the first pass, by default over all operations."""
        peer_results = self.peer_results(
            own_result.workload.name, own_result.vocabulary.name, own_result.text.name, operation
        )
        return max(peer_results, key=lambda result: median(result.first_pass_speeds), default=None)


def compare(own_result: Result, other_result: Result, pass_name: str = "first") -> SpeedRatio:
    """Compares two results by the median of the ratios of all rounds."""
    return SpeedRatio(median_ratio(own_result.speeds(pass_name), other_result.speeds(pass_name)), other_result.engine)


def _key(result: Result) -> tuple[str, str, str, str, str]:
    return (result.workload.name, result.vocabulary.name, result.text.name, result.operation, result.engine)


def _fits(filter_value: str | None, actual: str) -> bool:
    return filter_value is None or filter_value == actual
