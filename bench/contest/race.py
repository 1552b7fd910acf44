"""Runs one cell of a contest: checks the ids of all entrants, and then times the entrants, which take turns in this
process."""

from __future__ import annotations

import gc
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from statistics import median, quantiles
from typing import Any

from ..cases import Text, Vocabulary
from ..checker import UNSUPPORTED_OPERATION, Checker
from ..clock import Session, Task, Timing, serve
from ..engines import Engine
from ..measure import TIMEOUT_SECONDS, describe_fault, rotate
from ..remote import Failure, Remote, attempt
from ..texts import Document, read_documents
from ..workloads import KB, MB, RunSize
from .entrants import Entrant, Match

PASSES = ("first", "again")

TURN_BYTES = 32 * KB
"""The number of bytes of text that each entrant encodes in a turn: 8 documents of 4 KB, or one larger document."""


@dataclass(slots=True)
class EntrantResult:
    """The MB/s of an entrant in each round of the two passes. ``failure_reason`` says why an entrant has no result."""

    entrant: Entrant
    failure_reason: str | None = None
    first_pass_speeds: list[float] = field(default_factory=list)
    second_pass_speeds: list[float] = field(default_factory=list)

    def speeds(self, pass_name: str) -> list[float]:
        return self.first_pass_speeds if pass_name == "first" else self.second_pass_speeds


@dataclass(frozen=True, slots=True)
class Cell:
    """An operation on a text, with the results of all entrants of a match that support the operation.

    The last entry is compared with each other entry.
    """

    vocabulary: Vocabulary
    text: Text
    operation: str
    entries: Sequence[EntrantResult]

    @property
    def title(self) -> str:
        return f"{self.vocabulary.name}, {self.text.name}, {self.operation}"

    def ratios(self, other: EntrantResult, pass_name: str) -> list[float]:
        """Returns the last entry's speed divided by the other entry's speed, for each round."""
        last_speeds = self.entries[-1].speeds(pass_name)
        return [
            last_speed / other_speed
            for last_speed, other_speed in zip(last_speeds, other.speeds(pass_name), strict=True)
        ]

    def median_ratios(self) -> Iterator[tuple[str, EntrantResult, float]]:
        """Yields the median ratio for each pass and each other entry."""
        for pass_name in PASSES:
            for other in self.entries[:-1]:
                if other.failure_reason is None and self.entries[-1].failure_reason is None:
                    yield pass_name, other, median(self.ratios(other, pass_name))

    def lowest_ratio(self) -> float:
        """Returns the lowest median ratio, or 0 if an entry has no result."""
        if any(entry.failure_reason is not None for entry in self.entries):
            return 0.0
        return min((ratio for _, _, ratio in self.median_ratios()), default=0.0)


def prepare_cell(
    match: Match, text: Text, operation: str, id_checker: IdChecker, document_bytes: int, test_bytes: int
) -> tuple[Cell, list[str], list[list[str]]]:
    """Checks the ids of a match; returns its cell without times, the documents of the warm-up, and those of each
    turn."""
    run_size = RunSize(warm_up_bytes=MB, test_bytes=test_bytes, rounds=1, processes=1)
    warm_up, test = read_documents(text, document_bytes, run_size)
    document_count = max(1, TURN_BYTES // document_bytes)
    turns = [test[start : start + document_count] for start in range(0, len(test), document_count)]
    return Cell(match[-1].vocabulary, text, operation, id_checker.entries(match, operation, test)), warm_up, turns


def middle_half(values: Sequence[float]) -> tuple[float, float]:
    """Returns the first and third quartile of the values."""
    if len(values) < 2:
        return values[0], values[0]
    low_quartile, _, high_quartile = quantiles(values, n=4, method="inclusive")
    return low_quartile, high_quartile


class IdChecker:
    """Checks ids in separate processes, because the process that times a text must not have encoded the text before."""

    def __init__(self) -> None:
        self._checkers: dict[tuple[Engine, Vocabulary], Checker] = {}

    def entries(self, match: Match, operation: str, documents: Sequence[Document]) -> list[EntrantResult]:
        """Returns an entry for each entrant that supports the operation; a wrong output sets ``failure_reason``."""
        verdicts = [(entrant, self._verdict(entrant, operation, documents)) for entrant in match]
        return [
            EntrantResult(entrant, failure_reason)
            for entrant, failure_reason in verdicts
            if failure_reason != UNSUPPORTED_OPERATION.reason
        ]

    def _verdict(self, entrant: Entrant, operation: str, documents: Sequence[Document]) -> str | None:
        actual = self._checker(entrant.engine, entrant.vocabulary).digests(operation, documents)
        if actual == UNSUPPORTED_OPERATION:
            return UNSUPPORTED_OPERATION.reason
        reference_engine = self._checker(entrant.reference_engine, entrant.vocabulary)
        expected = reference_engine.digests(operation, documents, is_reference=True)
        return (
            f"ids not checked: {expected.reason}" if isinstance(expected, Failure) else describe_fault(expected, actual)
        )

    def _checker(self, engine: Engine, vocabulary: Vocabulary) -> Checker:
        key = engine, vocabulary
        if key not in self._checkers:
            self._checkers[key] = Checker(engine, vocabulary, TIMEOUT_SECONDS)
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
    entries: Sequence[EntrantResult],
    operation: str,
    warm_up: Sequence[str],
    turns: Sequence[Sequence[Document]],
    engine_order: int,
) -> None:
    """Loads, warms up and times all entrants. ``engine_order`` is the index of the entrant that is loaded first.

    In a turn, every entrant encodes the same documents. A round has as many turns as entrants, and a different entrant
    begins each turn of a round. An entrant that ends one turn and begins the next finds its tables in the processor's
    caches, and so each entrant has this advantage equally often. Each entrant has copies of the documents, because a
    str caches its UTF-8 after the first request.
    """
    valid_results = [entry for entry in entries if entry.failure_reason is None]
    needs_new_processes = any(entry.entrant.engine.spoils_caches for entry in valid_results)
    with loaded_entrants(valid_results, operation, warm_up, turns, engine_order, needs_new_processes) as pairs:
        for pass_name in PASSES:
            for first_turn in range(0, len(turns) - len(pairs) + 1, max(1, len(pairs))):
                _run_round(pairs, range(first_turn, first_turn + len(pairs)), pass_name)


@contextmanager
def loaded_entrants(
    valid_results: Sequence[EntrantResult],
    operation: str,
    warm_up: Sequence[str],
    turns: Sequence[Sequence[Document]],
    engine_order: int,
    needs_new_processes: bool,
) -> Iterator[list[tuple[EntrantResult, LocalSession | Remote]]]:
    """Yields each entry with its loaded engine. If ``needs_new_processes`` is true, each engine runs in a new
    process."""
    pairs: list[tuple[EntrantResult, LocalSession | Remote]] = []
    for entry in rotate(list(valid_results), engine_order):
        entrant = entry.entrant
        copied_turns = [[copied(document) for document in turn] for turn in turns]
        task = Task(entrant.engine, entrant.vocabulary, operation, warm_up, copied_turns, copy_count=1)
        pairs.append((entry, Remote(serve, task, TIMEOUT_SECONDS) if needs_new_processes else LocalSession(task)))
    try:
        yield pairs
    finally:
        for _, session in pairs:
            session.finish()
        gc.enable()  # sessions disable garbage collection
        gc.collect()


def copied(document: Document) -> Document:
    """Returns a copy of a `str`, without cached UTF-8; bytes have no such cache."""
    return document.encode().decode() if isinstance(document, str) else document


def _run_round(
    pairs: Sequence[tuple[EntrantResult, LocalSession | Remote]], turns: Sequence[int], pass_name: str
) -> None:
    answers: dict[int, list[Timing | Failure]] = {index: [] for index in range(len(pairs))}
    for turn in turns:
        for index in rotate(list(answers), turn):
            answers[index].append(pairs[index][1].ask(turn))
    for (entry, _), entry_answers in zip(pairs, answers.values(), strict=True):
        timings = [timing for timing in entry_answers if isinstance(timing, Timing)]
        if len(timings) < len(entry_answers):
            entry.failure_reason = entry.failure_reason or next(
                timing.reason for timing in entry_answers if isinstance(timing, Failure)
            )
        else:
            entry.speeds(pass_name).append(
                sum(timing.size for timing in timings) / 1e6 / sum(timing.wall_seconds for timing in timings)
            )
