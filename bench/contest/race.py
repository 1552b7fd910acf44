"""Runs one cell of a contest: checks the ids of all entrants, then times the entrants in turns in this process."""

from __future__ import annotations

import gc
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from statistics import median, quantiles
from typing import Any

from ..cases import Text, Vocabulary
from ..checker import MISSING, Checker
from ..clock import Session, Task, Timing, serve
from ..engines import Engine
from ..measure import PATIENCE, fault, rotate
from ..remote import Failure, Remote, attempt
from ..texts import Document
from .entrants import Entrant, Match

PASSES = ("first", "again")


@dataclass(slots=True)
class EntrantResult:
    """The MB/s of an entrant in each round of both passes; ``void`` is the reason why an entrant has no result."""

    entrant: Entrant
    void: str | None = None
    first: list[float] = field(default_factory=list)
    again: list[float] = field(default_factory=list)

    def speeds(self, pass_name: str) -> list[float]:
        return self.first if pass_name == "first" else self.again


@dataclass(frozen=True, slots=True)
class Cell:
    """An operation on a text, with the results of all entrants of a match that support the operation.

    The last entry is compared with each of the others.
    """

    vocabulary: Vocabulary
    text: Text
    operation: str
    entries: Sequence[EntrantResult]

    @property
    def title(self) -> str:
        return f"{self.vocabulary.name}, {self.text.name}, {self.operation}"

    def ratios(self, other: EntrantResult, pass_name: str) -> list[float]:
        """Returns the ratio of the last entry's speed to the other entry's speed for each round."""
        last_speeds = self.entries[-1].speeds(pass_name)
        return [
            last_speed / other_speed
            for last_speed, other_speed in zip(last_speeds, other.speeds(pass_name), strict=True)
        ]

    def median_ratios(self) -> Iterator[tuple[str, EntrantResult, float]]:
        """Yields the median ratio for each pass and each other entry."""
        for pass_name in PASSES:
            for other in self.entries[:-1]:
                if other.void is None and self.entries[-1].void is None:
                    yield pass_name, other, median(self.ratios(other, pass_name))

    def lowest_ratio(self) -> float:
        """Returns the lowest median ratio; 0 if an entry is void."""
        if any(entry.void is not None for entry in self.entries):
            return 0.0
        return min((ratio for _, _, ratio in self.median_ratios()), default=0.0)


def middle_half(values: Sequence[float]) -> tuple[float, float]:
    """Returns the first and third quartile of the values."""
    if len(values) < 2:
        return values[0], values[0]
    low_quartile, _, high_quartile = quantiles(values, n=4, method="inclusive")
    return low_quartile, high_quartile


class Judge:
    """Checks ids in separate processes, so that this process has not encoded the text before it is timed."""

    def __init__(self) -> None:
        self._checkers: dict[tuple[Engine, Vocabulary], Checker] = {}

    def entries(self, match: Match, operation: str, documents: Sequence[Document]) -> list[EntrantResult]:
        """Returns an entry for each entrant that supports the operation; the entry is void if the output is wrong."""
        verdicts = [(entrant, self._verdict(entrant, operation, documents)) for entrant in match]
        return [EntrantResult(entrant, void) for entrant, void in verdicts if void != MISSING.why]

    def _verdict(self, entrant: Entrant, operation: str, documents: Sequence[Document]) -> str | None:
        actual = self._checker(entrant.engine, entrant.vocabulary).digests(operation, documents)
        if actual == MISSING:
            return MISSING.why
        oracle = self._checker(entrant.oracle, entrant.vocabulary)
        expected = oracle.digests(operation, documents, is_reference=True)
        return f"ids not checked: {expected.why}" if isinstance(expected, Failure) else fault(expected, actual)

    def _checker(self, engine: Engine, vocabulary: Vocabulary) -> Checker:
        key = engine, vocabulary
        if key not in self._checkers:
            self._checkers[key] = Checker(engine, vocabulary, PATIENCE)
        return self._checkers[key]

    def finish(self) -> None:
        """Ends the processes."""
        for checker in self._checkers.values():
            checker.finish()
        self._checkers.clear()


class LocalSession:
    """A session in this process, with the methods of `Remote`."""

    def __init__(self, task: Task) -> None:
        self._session = attempt(lambda: Session(task))

    def ask(self, request: int) -> Any:
        session = self._session
        return attempt(lambda: session.answer(request)) if isinstance(session, Session) else session

    def finish(self) -> None:
        self._session = None


def race(
    entries: Sequence[EntrantResult], operation: str, warm_up: Sequence[str], turns: Sequence[Sequence[str]], start: int
) -> None:
    """Loads and warms up all entrants, in an order that depends on ``start``, then times them.

    In a turn, every entrant encodes the same documents. A round consists of one turn for each entrant, and a different
    entrant is first in each turn, because an entrant that is last in a turn and first in the next turn finds its tables
    in the processor's caches. Each entrant has copies of the documents, because a str caches its UTF-8 after the first
    request.
    """
    runners = [entry for entry in entries if entry.void is None]
    is_apart = any(entry.entrant.engine.spoils_caches for entry in runners)
    with loaded_entrants(runners, operation, warm_up, turns, start, is_apart) as pairs:
        for pass_name in PASSES:
            for first_turn in range(0, len(turns) - len(pairs) + 1, max(1, len(pairs))):
                _run_round(pairs, range(first_turn, first_turn + len(pairs)), pass_name)


@contextmanager
def loaded_entrants(
    runners: Sequence[EntrantResult],
    operation: str,
    warm_up: Sequence[str],
    turns: Sequence[Sequence[str]],
    start: int,
    is_apart: bool,
) -> Iterator[list[tuple[EntrantResult, LocalSession | Remote]]]:
    """Yields pairs of an entry and its loaded engine. If ``is_apart``, each engine runs in a new process."""
    pairs: list[tuple[EntrantResult, LocalSession | Remote]] = []
    for entry in rotate(list(runners), start):
        entrant = entry.entrant
        copied_turns = [[document.encode().decode() for document in turn] for turn in turns]
        task = Task(entrant.engine, entrant.vocabulary, operation, warm_up, copied_turns, copies=1)
        pairs.append((entry, Remote(serve, task, PATIENCE) if is_apart else LocalSession(task)))
    try:
        yield pairs
    finally:
        for _, player in pairs:
            player.finish()
        gc.enable()  # sessions disable garbage collection
        gc.collect()


def _run_round(
    pairs: Sequence[tuple[EntrantResult, LocalSession | Remote]], turns: Sequence[int], pass_name: str
) -> None:
    answers: dict[int, list[Timing | Failure]] = {place: [] for place in range(len(pairs))}
    for turn in turns:
        for place in rotate(list(answers), turn):
            answers[place].append(pairs[place][1].ask(turn))
    for (entry, _), entry_answers in zip(pairs, answers.values(), strict=True):
        timings = [timing for timing in entry_answers if isinstance(timing, Timing)]
        if len(timings) < len(entry_answers):
            entry.void = entry.void or next(timing.why for timing in entry_answers if isinstance(timing, Failure))
        else:
            entry.speeds(pass_name).append(
                sum(timing.size for timing in timings) / 1e6 / sum(timing.wall for timing in timings)
            )
