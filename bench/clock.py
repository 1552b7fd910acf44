"""Times one operation of one engine in a separate process.

No other engine runs in the process, so no other engine warms up caches. The process has not encoded the test text
before the first timing. checker.py checks the outputs in other processes.
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
from .operations import OPERATIONS, TimedFunction
from .remote import attempt
from .texts import Document, count_utf8_bytes, repeat_documents

STARTUP_REQUEST = "ready"
MEMORY_REQUEST = "memory"
"""The requests to the process that are not the index of a portion."""


@dataclass(frozen=True, slots=True)
class Task:
    """The task of a process: to warm up with some documents, and to time portions of other documents on request."""

    engine: Engine
    vocabulary: Vocabulary
    operation: str
    warm_up: Sequence[str]
    portions: Sequence[Sequence[Document]]
    copy_count: int


@dataclass(frozen=True, slots=True)
class StartupTiming:
    """The seconds that loading took, and those of building the tables that a package builds later; the latter are 0
    without a warm-up, and for packages that build all tables when they load."""

    load_seconds: float
    warm_up_seconds: float


@dataclass(frozen=True, slots=True)
class Timing:
    """The timing of some inputs: their bytes of UTF-8, the wall-clock seconds and the processor seconds."""

    size: int
    wall_seconds: float
    processor_seconds: float

    def speed(self, is_shared: bool) -> float:
        """Returns MB/s by wall-clock time, or by processor time if ``is_shared``."""
        return self.size / 1e6 / (self.processor_seconds if is_shared else self.wall_seconds)

    @property
    def is_disturbed(self) -> bool:
        """True if other processes used more than a tenth of the wall-clock time, so the timing is unreliable."""
        return self.processor_seconds < 0.9 * self.wall_seconds


def serve(pipe: Connection, task: Task) -> None:
    """Answers requests; a request is `STARTUP_REQUEST`, `MEMORY_REQUEST` or the index of a portion."""
    session = attempt(lambda: Session(task))
    while (request := pipe.recv()) is not None:
        pipe.send(attempt(lambda: session.answer(request)) if isinstance(session, Session) else session)


class Session:
    """An engine that is loaded and warmed up."""

    def __init__(self, task: Task) -> None:
        """Loads the engine and warms it up, unless the task measures the very first texts.

        The documents are created before the engine is loaded, so their memory is not counted as the engine's memory.
        """
        self._portions = [repeat_documents(portion, task.copy_count) for portion in task.portions]
        self._sizes = [count_utf8_bytes(portion) for portion in self._portions]
        self._memory_before_load = resident_memory()
        importlib.import_module(task.engine.module)
        start = perf_counter_ns()
        self._adapter = task.engine.load(task.vocabulary)
        load = perf_counter_ns() - start
        if task.warm_up:
            self._adapter.warm_up()
        self._ready = StartupTiming(load / 1e9, (perf_counter_ns() - start - load) / 1e9)
        self._operation = OPERATIONS[task.operation]
        function = self._operation.find_function(self._adapter)
        assert function is not None, "the checker has run this operation before"
        self._function = function
        self._inputs_by_portion: dict[int, list[Any]] = {}
        gc.disable()
        self._time(0, self._convert(task.warm_up))

    def answer(self, request: int | str) -> StartupTiming | Timing | int | None:
        if request == STARTUP_REQUEST:
            return self._ready
        if isinstance(request, int):
            return self._time(self._sizes[request], self._inputs_of_portion(request))
        memory = resident_memory()
        return None if self._memory_before_load is None or memory is None else memory - self._memory_before_load

    def _inputs_of_portion(self, portion_index: int) -> list[Any]:
        if portion_index not in self._inputs_by_portion:
            self._inputs_by_portion[portion_index] = self._convert(self._portions[portion_index])
        return self._inputs_by_portion[portion_index]

    def _convert(self, documents: Sequence[Document]) -> list[Any]:
        texts: Sequence[Any] = documents
        inputs = [self._operation.to_input(self._adapter, text) for text in texts]
        return [inputs] if self._operation.is_batch else inputs

    def _time(self, size: int, inputs: Iterable[Any]) -> Timing:
        wall_seconds, processor_seconds = time_calls(self._function, inputs)
        return Timing(size, wall_seconds, processor_seconds)


def time_calls(function: TimedFunction, inputs: Iterable[Any]) -> tuple[float, float]:
    """Calls a function with each input and returns wall-clock and processor seconds. Outputs are freed immediately."""
    start, processor_seconds = perf_counter_ns(), process_time_ns()
    for call_input in inputs:
        function(call_input)
    return (perf_counter_ns() - start) / 1e9, (process_time_ns() - processor_seconds) / 1e9


def resident_memory() -> int | None:
    """Returns the bytes of the process that are in memory, or None if the system does not report them."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except OSError:
        return None
    return pages * resource.getpagesize()
