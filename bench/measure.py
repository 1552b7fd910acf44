"""Checks the outputs of a case's engines, then times the correct engines, which take turns in each round."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Protocol, TypeVar

from .cases import OURS, UNCACHED, Text, Vocabulary
from .checker import MISSING, Checker, count_differences
from .clock import MEMORY, READY, Ready, Task, Timing, serve
from .engines import ENGINES
from .operations import OPERATIONS
from .remote import Failure, Remote
from .texts import Document, Inputs, inputs
from .workloads import Amount, Case, Workload

Item = TypeVar("Item")

PATIENCE = 60.0
"""The maximum number of seconds of an engine for a portion; a slower engine has no result."""


@dataclass(slots=True)
class Result:
    """The result of an engine's operation on a text.

    ``first`` and ``again`` have the MB/s of UTF-8 in each round of both passes (1 MB is 10^6 bytes). ``load`` and
    ``cold`` have the seconds of loading and of the first document, and ``memory`` the bytes, of each process.
    """

    vocabulary: Vocabulary
    workload: Workload
    text: Text
    engine: str
    operation: str
    first: list[float] = field(default_factory=list)
    again: list[float] = field(default_factory=list)
    load: list[float] = field(default_factory=list)
    cold: list[float] = field(default_factory=list)
    memory: list[int] = field(default_factory=list)
    disturbed: int = 0
    """The number of rounds of both passes in which other processes took more than a tenth of the time."""
    void: str | None = None
    """The reason why the result has no time; None if the result has a time."""


class Digests(Protocol):
    """The interface of a `Checker`."""

    def digests(
        self, operation: str, documents: Sequence[Document], *, is_reference: bool = False
    ) -> list[bytes] | Failure: ...


def checkers(vocabulary: Vocabulary) -> dict[str, Checker]:
    """Returns a checker for each installed engine of the vocabulary; no process starts before the first request."""
    installed_names = [name for name in (*vocabulary.engines, UNCACHED) if ENGINES[name].version is not None]
    return {name: Checker(ENGINES[name], vocabulary, PATIENCE) for name in installed_names}


def measure(case: Case, amount: Amount, checkers_by_name: Mapping[str, Digests]) -> list[Result]:
    """Checks and times a case. Returns a result for each operation, text and engine that supports the operation."""
    inputs_by_text = {text.name: inputs(text, case.workload.document, amount) for text in case.texts}
    results: list[Result] = []
    for operation in case.workload.operations:
        for text in case.texts:
            engine_names = [name for name in case.engines if ENGINES[name].is_timed]
            rows = [Result(case.vocabulary, case.workload, text, name, operation) for name in engine_names]
            documents = [document for portion in inputs_by_text[text.name].rounds for document in portion]
            results += check_results(rows, documents, checkers_by_name)
    for turn in range(amount.processes):
        time(case, amount, inputs_by_text, [result for result in results if result.void is None], turn)
    return results


def check_results(
    results: list[Result], documents: Sequence[Document], checkers_by_name: Mapping[str, Digests]
) -> list[Result]:
    """Returns the results of engines that support the operation; a result with wrong outputs is void.

    The expected outputs are those of the reference, or of polytok if the reference rejects the text.
    """
    vocabulary, operation = results[0].vocabulary, results[0].operation
    expected: list[bytes] | Failure = Failure(f"{vocabulary.reference} is not installed")
    for name in (vocabulary.reference, OURS):
        if name in checkers_by_name and vocabulary.reference in checkers_by_name and isinstance(expected, Failure):
            expected = checkers_by_name[name].digests(operation, documents, is_reference=True)
    supported_results = []
    for result in results:
        if result.engine not in checkers_by_name:
            result.void = "not installed"
        elif isinstance(expected, Failure):
            result.void = f"ids not checked: {expected.why}"
        else:
            actual = checkers_by_name[result.engine].digests(operation, documents)
            if actual == MISSING:
                continue
            result.void = fault(expected, actual)
        supported_results.append(result)
    return supported_results


def fault(expected: list[bytes], actual: list[bytes] | Failure) -> str | None:
    """Describes the error in an engine's outputs; returns None if the outputs are correct."""
    if isinstance(actual, Failure):
        return actual.why
    wrong_count = count_differences(expected, actual)
    return f"other ids in {wrong_count} of {len(expected)} documents" if wrong_count else None


def time(case: Case, amount: Amount, inputs_by_text: Mapping[str, Inputs], results: list[Result], turn: int) -> None:
    """Times all engines and operations, each in its own process.

    In a round, all processes encode the same portion, and a different process begins in each round.
    """
    groups: dict[tuple[str, str], list[Result]] = {}
    for result in results:
        groups.setdefault((result.operation, result.engine), []).append(result)
    contestants = [Contestant(case, amount, inputs_by_text, group) for group in groups.values()]
    for contestant in rotate(contestants, turn):
        contestant.start()  # processes start in turn, because loading is timed too
    for passes in ("first", "again") if case.workload.has_again else ("first",):
        for text in case.texts:
            for portion in range(amount.rounds):
                for contestant in rotate(contestants, portion):
                    contestant.run(text, portion, passes)
    for contestant in contestants:
        contestant.finish()


class Contestant:
    """A process that runs an operation of an engine, and the results of this operation, one for each text."""

    def __init__(self, case: Case, amount: Amount, inputs_by_text: Mapping[str, Inputs], results: list[Result]) -> None:
        self._results = {result.text.name: result for result in results}
        self._rounds = amount.rounds
        self._is_shared = amount.is_shared and OPERATIONS[results[0].operation].threads == 1
        self._places = {text.name: place for place, text in enumerate(case.texts)}
        engine, operation = results[0].engine, results[0].operation
        warm_up = [document for text in case.texts for document in inputs_by_text[text.name].warm_up]
        portions = [portion for text in case.texts for portion in inputs_by_text[text.name].rounds]
        task = Task(ENGINES[engine], case.vocabulary, operation, warm_up, portions, amount.copies)
        self._process = Remote(serve, task, PATIENCE, OPERATIONS[operation].threads)

    def start(self) -> None:
        """Starts the process, which loads the engine and warms it up."""
        ready: Ready | Failure = self._process.ask(READY)
        for result in self._results.values():
            if isinstance(ready, Failure):
                result.void = ready.why
            else:
                result.load.append(ready.load)
                result.cold += [ready.cold] if ready.cold is not None else []

    def run(self, text: Text, portion: int, passes: str) -> None:
        """Runs a round and adds its speed to the result."""
        result = self._results.get(text.name)
        if result is None or result.void is not None:
            return
        timing: Timing | Failure = self._process.ask(self._places[text.name] * self._rounds + portion)
        if isinstance(timing, Failure):
            result.void = timing.why
            return
        getattr(result, passes).append(timing.speed(self._is_shared))
        result.disturbed += timing.is_disturbed

    def finish(self) -> None:
        if self._process.is_running:
            memory: int | Failure | None = self._process.ask(MEMORY)
            for result in self._results.values():
                result.memory += [memory] if isinstance(memory, int) else []
            self._process.finish()


def rotate(items: list[Item], places: int) -> list[Item]:
    """Rotates a list, so that no item is always first."""
    start = places % max(1, len(items))
    return items[start:] + items[:start]


def ratio(ours: list[float], theirs: list[float]) -> float:
    """Divides the speeds ``ours`` by ``theirs`` round by round, and returns the median ratio."""
    return median(a / b for a, b in zip(ours, theirs, strict=True))
