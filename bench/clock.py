"""Times one operation of one engine in a separate process.

Only this engine runs in the process, so that no other engine warms up caches, and the process has not encoded the test
text before. checker.py checks the outputs in other processes.
"""

from __future__ import annotations

import gc
import importlib
import resource
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from time import perf_counter_ns, process_time_ns
from typing import Any

from .cases import Vocabulary
from .engines import Engine
from .operations import OPERATIONS, Call
from .remote import attempt
from .texts import Document, copies, utf8_bytes

READY = "ready"
MEMORY = "memory"
"""Requests to the process, besides the index of a portion."""


@dataclass(frozen=True, slots=True)
class Task:
    """The task of a process: documents for the warm-up, and portions of documents, which are timed on request."""

    engine: Engine
    vocabulary: Vocabulary
    operation: str
    warm_up: Sequence[str]
    portions: Sequence[Sequence[Document]]
    copies: int


@dataclass(frozen=True, slots=True)
class Ready:
    """The seconds of loading, and the seconds of the first document, which are None without a warm-up."""

    load: float
    cold: float | None


@dataclass(frozen=True, slots=True)
class Timing:
    """The timing of some inputs: the bytes of UTF-8, the wall-clock seconds, and the processor seconds."""

    size: int
    wall: float
    running: float

    def speed(self, is_shared: bool) -> float:
        """Returns MB/s by wall-clock time, or by processor time if ``is_shared``."""
        return self.size / 1e6 / (self.running if is_shared else self.wall)

    @property
    def is_disturbed(self) -> bool:
        """True if other processes took more than a tenth of the wall-clock time, so that the timing is unreliable."""
        return self.running < 0.9 * self.wall


def serve(pipe: Connection, task: Task) -> None:
    """Answers requests in the process: `READY`, `MEMORY`, or the index of a portion."""
    session = attempt(lambda: Session(task))
    while (request := pipe.recv()) is not None:
        pipe.send(attempt(lambda: session.answer(request)) if isinstance(session, Session) else session)


class Session:
    """An engine that is loaded and warmed up."""

    def __init__(self, task: Task) -> None:
        """Loads the engine and warms it up.

        The documents to time are created first, so that their memory is not counted as the engine's memory.
        """
        self._portions = [copies(portion, task.copies) for portion in task.portions]
        self._sizes = [utf8_bytes(portion) for portion in self._portions]
        self._before = resident_memory()
        importlib.import_module(task.engine.module)
        start = perf_counter_ns()
        self._adapter = task.engine.load(task.vocabulary)
        load = perf_counter_ns() - start
        self._operation = OPERATIONS[task.operation]
        call = self._operation.find(self._adapter)
        assert call is not None, "the checker has run this operation before"
        self._call = call
        self._inputs_by_portion: dict[int, list[Any]] = {}
        gc.disable()
        first_timing = self._time(0, self._convert(task.warm_up[:1])) if task.warm_up else None
        self._time(0, self._convert(task.warm_up))
        self._ready = Ready(load / 1e9, first_timing.wall if first_timing else None)

    def answer(self, request: int | str) -> Ready | Timing | int | None:
        if request == READY:
            return self._ready
        if isinstance(request, int):
            return self._time(self._sizes[request], self._inputs(request))
        memory = resident_memory()
        return None if self._before is None or memory is None else memory - self._before

    def _inputs(self, portion: int) -> list[Any]:
        if portion not in self._inputs_by_portion:
            self._inputs_by_portion[portion] = self._convert(self._portions[portion])
        return self._inputs_by_portion[portion]

    def _convert(self, documents: Sequence[Document]) -> list[Any]:
        texts: Sequence[Any] = documents
        inputs = [self._operation.to_input(self._adapter, text) for text in texts]
        return [inputs] if self._operation.is_batch else inputs

    def _time(self, size: int, inputs: Iterable[Any]) -> Timing:
        wall, running = time_calls(self._call, inputs)
        return Timing(size, wall, running)


def time_calls(call: Call, inputs: Iterable[Any]) -> tuple[float, float]:
    """Calls a function with each input and returns wall-clock and processor seconds. Outputs are freed immediately."""
    start, running = perf_counter_ns(), process_time_ns()
    for call_input in inputs:
        call(call_input)
    return (perf_counter_ns() - start) / 1e9, (process_time_ns() - running) / 1e9


def resident_memory() -> int | None:
    """Returns the resident memory of the process in bytes; None if the system does not report it."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except OSError:
        return None
    return pages * resource.getpagesize()
