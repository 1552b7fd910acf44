"""Checks the ids of a case's engines, then times those that are right, round by round in turn."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable
from dataclasses import dataclass, field
from statistics import median
from typing import TypeVar

from .cases import Case, Size
from .engines import ENGINES
from .worker import Timed, differing, digests

Item = TypeVar("Item")
Digests = Callable[[Case, str, Size], list[bytes]]


@dataclass(slots=True)
class Result:
    """An engine on a case: MB/s of each round (of UTF-8, 1 MB = 10^6 bytes), and per process seconds and bytes."""

    case: Case
    engine: str
    first: list[float] = field(default_factory=list)
    again: list[float] = field(default_factory=list)
    load: list[float] = field(default_factory=list)
    cold: list[float] = field(default_factory=list)
    memory: list[int | None] = field(default_factory=list)
    disturbed: int = 0
    """Rounds, of both passes, that lost more than a tenth of their time to other processes."""
    void: str | None = None
    """Why there is no time, where there is none."""


def measure(case: Case, size: Size) -> list[Result]:
    """One result per engine, in the order of the vocabulary's list."""
    results = [Result(case, engine) for engine in case.vocabulary.engines]
    verify(case, size, results, in_own_process)
    running = [result for result in results if result.void is None]
    for turn in range(size.processes):
        time(case, size, running, turn)
    return results


def in_own_process(case: Case, engine: str, size: Size) -> list[bytes]:
    """`digests` in a new process."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(digests, (case, engine, size))


def verify(case: Case, size: Size, results: list[Result], digests_of: Digests) -> None:
    """Voids every result whose engine is missing or whose ids are not the reference's."""
    for result in results:
        if ENGINES[result.engine].version is None:
            result.void = "not installed"
    by_name = {result.engine: result for result in results}
    reference = by_name[case.vocabulary.reference]
    if reference.void is not None:
        for result in results:
            result.void = result.void or f"ids not checked, {reference.engine} is {reference.void}"
        return
    expected = digests_of(case, reference.engine, size)
    for result in results:
        if result.void is None and result is not reference:
            wrong = differing(expected, digests_of(case, result.engine, size))
            if wrong:
                result.void = f"wrong ids in {wrong} of {len(expected)} documents"


def time(case: Case, size: Size, results: list[Result], turn: int) -> None:
    """One process per engine; in every round each engine encodes the same portion, and another one begins."""
    started: list[tuple[Result, Timed]] = []
    for result in rotated(results, turn):
        process = Timed.start(case, result.engine, size)
        started.append((result, process))
        ready = process.ready()  # before the next one starts: loading is timed too
        result.load.append(ready.load)
        result.cold.append(ready.cold)
        portions = ready.portions
    for passes in ("first", "again"):
        for portion in range(size.rounds):
            for result, process in rotated(started, portion):
                took = process.encode(portion)
                getattr(result, passes).append(portions[portion] / 1e6 / took.wall)
                result.disturbed += took.is_disturbed
    for result, process in started:
        result.memory.append(process.finish())


def rotated(items: list[Item], places: int) -> list[Item]:
    """The items from another one on, so that none is always first."""
    start = places % max(1, len(items))
    return items[start:] + items[:start]


def ratio(ours: list[float], theirs: list[float]) -> float:
    """The median of how many times faster ``ours`` is, round by round."""
    return median(a / b for a, b in zip(ours, theirs, strict=True))
