"""Checks the outputs of the engines of a case, and then times the correct engines, which take turns in each round."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Protocol, TypeVar

from .cases import OWN_ENGINE_NAME, UNCACHED_ENGINE_NAME, Text, Vocabulary
from .checker import UNSUPPORTED_OPERATION, Checker, count_differences
from .clock import MEMORY_REQUEST, STARTUP_REQUEST, StartupTiming, Task, Timing, serve
from .engines import ENGINES
from .operations import OPERATIONS
from .remote import Failure, Remote
from .texts import Document, Inputs, create_inputs
from .workloads import Case, RunSize, Workload

Item = TypeVar("Item")

TIMEOUT_SECONDS = 60.0
"""The number of seconds after which an engine that has not encoded a portion has no result."""


@dataclass(slots=True)
class Result:
    """The result of an engine's operation on a text.

    The speeds of a pass are the MB/s of UTF-8 in each round (1 MB is 10^6 bytes). ``load_seconds``,
    ``warm_up_seconds`` (the time of building tables after loading) and ``memory_bytes`` have a figure for each process.
    """

    vocabulary: Vocabulary
    workload: Workload
    text: Text
    engine: str
    operation: str
    first_pass_speeds: list[float] = field(default_factory=list)
    second_pass_speeds: list[float] = field(default_factory=list)
    load_seconds: list[float] = field(default_factory=list)
    warm_up_seconds: list[float] = field(default_factory=list)
    memory_bytes: list[int] = field(default_factory=list)
    disturbed_rounds: int = 0
    """The number of rounds in which other processes used more than a tenth of the time."""
    failure_reason: str | None = None
    """The reason why the result has no speeds; None if the result has speeds."""

    def speeds(self, pass_name: str) -> list[float]:
        return self.first_pass_speeds if pass_name == "first" else self.second_pass_speeds


class DigestSource(Protocol):
    """The method of `Checker` that this module uses."""

    def digests(
        self, operation: str, documents: Sequence[Document], *, is_reference: bool = False
    ) -> list[bytes] | Failure: ...


def checkers(vocabulary: Vocabulary) -> dict[str, Checker]:
    """Returns a checker for each installed engine of the vocabulary; no process starts before the first request."""
    installed_names = [
        name for name in (*vocabulary.engines, UNCACHED_ENGINE_NAME) if ENGINES[name].version is not None
    ]
    return {name: Checker(ENGINES[name], vocabulary, TIMEOUT_SECONDS) for name in installed_names}


def measure(case: Case, run_size: RunSize, checkers_by_name: Mapping[str, DigestSource]) -> list[Result]:
    """Checks and times a case. Returns a result for each operation, text and engine that supports the operation."""
    inputs_by_text = {text.name: create_inputs(text, case.workload.document_bytes, run_size) for text in case.texts}
    results: list[Result] = []
    for operation in case.workload.operations:
        for text in case.texts:
            engine_names = [name for name in case.engines if ENGINES[name].is_timed]
            rows = [Result(case.vocabulary, case.workload, text, name, operation) for name in engine_names]
            documents = [document for portion in inputs_by_text[text.name].rounds for document in portion]
            results += check_results(rows, documents, checkers_by_name)
    for turn in range(run_size.processes):
        time_results(
            case, run_size, inputs_by_text, [result for result in results if result.failure_reason is None], turn
        )
    return results


def check_results(
    results: list[Result], documents: Sequence[Document], checkers_by_name: Mapping[str, DigestSource]
) -> list[Result]:
    """Returns the results of engines that support the operation; wrong outputs set ``failure_reason``.

    The expected outputs are those of the reference, or of polytok if the reference rejects the text.
    """
    vocabulary, operation = results[0].vocabulary, results[0].operation
    expected: list[bytes] | Failure = Failure(f"{vocabulary.reference} is not installed")
    for name in (vocabulary.reference, OWN_ENGINE_NAME):
        if name in checkers_by_name and vocabulary.reference in checkers_by_name and isinstance(expected, Failure):
            expected = checkers_by_name[name].digests(operation, documents, is_reference=True)
    supported_results = []
    for result in results:
        if result.engine not in checkers_by_name:
            result.failure_reason = "not installed"
        elif isinstance(expected, Failure):
            result.failure_reason = f"ids not checked: {expected.reason}"
        else:
            actual = checkers_by_name[result.engine].digests(operation, documents)
            if actual == UNSUPPORTED_OPERATION:
                continue
            result.failure_reason = describe_fault(expected, actual)
        supported_results.append(result)
    return supported_results


def describe_fault(expected: list[bytes], actual: list[bytes] | Failure) -> str | None:
    """Describes the error in an engine's outputs; returns None if the outputs are correct."""
    if isinstance(actual, Failure):
        return actual.reason
    wrong_count = count_differences(expected, actual)
    return f"other ids in {wrong_count} of {len(expected)} documents" if wrong_count else None


def time_results(
    case: Case, run_size: RunSize, inputs_by_text: Mapping[str, Inputs], results: list[Result], turn: int
) -> None:
    """Times all engines and operations, each in its own process.

    In a round, all processes encode the same portion of the text, and a different process begins each round.
    """
    groups: dict[tuple[str, str], list[Result]] = {}
    for result in results:
        groups.setdefault((result.operation, result.engine), []).append(result)
    contestants = [Contestant(case, run_size, inputs_by_text, group) for group in groups.values()]
    for contestant in rotate(contestants, turn):
        contestant.start()  # one process after another, because loading is timed too
    for pass_name in ("first", "again") if case.workload.has_second_pass else ("first",):
        for text in case.texts:
            for portion in range(run_size.rounds):
                for contestant in rotate(contestants, portion):
                    contestant.run(text, portion, pass_name)
    for contestant in contestants:
        contestant.finish()


class Contestant:
    """A process that runs an operation of an engine, with the result for each text."""

    def __init__(
        self, case: Case, run_size: RunSize, inputs_by_text: Mapping[str, Inputs], results: list[Result]
    ) -> None:
        self._results = {result.text.name: result for result in results}
        self._rounds = run_size.rounds
        self._is_shared = run_size.is_shared and OPERATIONS[results[0].operation].threads == 1
        self._text_indices = {text.name: index for index, text in enumerate(case.texts)}
        engine, operation = results[0].engine, results[0].operation
        warm_up = [document for text in case.texts for document in inputs_by_text[text.name].warm_up]
        portions = [portion for text in case.texts for portion in inputs_by_text[text.name].rounds]
        task = Task(ENGINES[engine], case.vocabulary, operation, warm_up, portions, run_size.copy_count)
        self._process = Remote(serve, task, TIMEOUT_SECONDS, OPERATIONS[operation].threads)

    def start(self) -> None:
        """Starts the process, which loads the engine and warms it up."""
        startup_timing: StartupTiming | Failure = self._process.ask(STARTUP_REQUEST)
        for result in self._results.values():
            if isinstance(startup_timing, Failure):
                result.failure_reason = startup_timing.reason
            else:
                result.load_seconds.append(startup_timing.load_seconds)
                result.warm_up_seconds.append(startup_timing.warm_up_seconds)

    def run(self, text: Text, portion: int, pass_name: str) -> None:
        """Runs a round and adds its speed to the result."""
        result = self._results.get(text.name)
        if result is None or result.failure_reason is not None:
            return
        timing: Timing | Failure = self._process.ask(self._text_indices[text.name] * self._rounds + portion)
        if isinstance(timing, Failure):
            result.failure_reason = timing.reason
            return
        result.speeds(pass_name).append(timing.speed(self._is_shared))
        result.disturbed_rounds += timing.is_disturbed

    def finish(self) -> None:
        if self._process.is_running:
            memory: int | Failure | None = self._process.ask(MEMORY_REQUEST)
            for result in self._results.values():
                result.memory_bytes += [memory] if isinstance(memory, int) else []
            self._process.finish()


def rotate(items: list[Item], distance: int) -> list[Item]:
    """Rotates a list, so that no item is always first."""
    start = distance % max(1, len(items))
    return items[start:] + items[:start]


def median_ratio(own_speeds: list[float], other_speeds: list[float]) -> float:
    """Divides ``own_speeds`` by ``other_speeds`` round by round, and returns the median ratio."""
    return median(own / other for own, other in zip(own_speeds, other_speeds, strict=True))
