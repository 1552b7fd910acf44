"""One operation of one engine in a process of its own, timed.

Nothing else runs in the process: no other engine has warmed its memory, and the text it is tested on was never seen in
it. Outputs are checked elsewhere, by checker.py.
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
"""What may be asked beside the number of a portion."""


@dataclass(frozen=True, slots=True)
class Task:
    """What a process gets: documents to warm up on, and portions of documents, each timed when it is asked for."""

    engine: Engine
    vocabulary: Vocabulary
    operation: str
    warm_up: Sequence[str]
    portions: Sequence[Sequence[Document]]
    copies: int


@dataclass(frozen=True, slots=True)
class Ready:
    """What is known once an engine is loaded and warm: seconds of loading and of the first document of all."""

    load: float
    cold: float | None


@dataclass(frozen=True, slots=True)
class Took:
    """Bytes of UTF-8, seconds by the clock, and of those the ones that the process was running."""

    size: int
    wall: float
    running: float

    def speed(self, is_shared: bool) -> float:
        """MB/s, by the clock, or where others use the machine too by the processor's time."""
        return self.size / 1e6 / (self.running if is_shared else self.wall)

    @property
    def is_disturbed(self) -> bool:
        """More than a tenth was lost to other processes, so that the figure says little."""
        return self.running < 0.9 * self.wall


def serve(pipe: Connection, task: Task) -> None:
    """The process: answers `READY`, `MEMORY`, and numbers of portions."""
    session = attempt(lambda: Session(task))
    while (request := pipe.recv()) is not None:
        pipe.send(attempt(lambda: session.answer(request)) if isinstance(session, Session) else session)


class Session:
    """A loaded and warm engine."""

    def __init__(self, task: Task) -> None:
        """Loads and warms up. What is timed later is made first, so that it is no part of the engine's memory."""
        self._portions = [copies(portion, task.copies) for portion in task.portions]
        self._sizes = [utf8_bytes(portion) for portion in self._portions]
        self._before = resident()
        importlib.import_module(task.engine.module)
        start = perf_counter_ns()
        self._adapter = task.engine.load(task.vocabulary)
        load = perf_counter_ns() - start
        self._operation = OPERATIONS[task.operation]
        call = self._operation.find(self._adapter)
        assert call is not None, "the checker has found it"
        self._call = call
        self._given: dict[int, list[Any]] = {}
        gc.disable()
        first = self._timed(0, self._made(task.warm_up[:1])) if task.warm_up else None
        self._timed(0, self._made(task.warm_up))
        self._ready = Ready(load / 1e9, first.wall if first else None)

    def answer(self, request: int | str) -> Ready | Took | int | None:
        if request == READY:
            return self._ready
        if isinstance(request, int):
            return self._timed(self._sizes[request], self._inputs(request))
        after = resident()
        return None if self._before is None or after is None else after - self._before

    def _inputs(self, portion: int) -> list[Any]:
        if portion not in self._given:
            self._given[portion] = self._made(self._portions[portion])
        return self._given[portion]

    def _made(self, documents: Sequence[Document]) -> list[Any]:
        texts: Sequence[Any] = documents
        given = [self._operation.given(self._adapter, text) for text in texts]
        return [given] if self._operation.is_whole else given

    def _timed(self, size: int, inputs: Iterable[Any]) -> Took:
        wall, running = timed(self._call, inputs)
        return Took(size, wall, running)


def timed(call: Call, inputs: Iterable[Any]) -> tuple[float, float]:
    """Seconds by the clock and of the process for all inputs, one by one; each output is let go before the next."""
    start, running = perf_counter_ns(), process_time_ns()
    for given in inputs:
        call(given)
    return (perf_counter_ns() - start) / 1e9, (process_time_ns() - running) / 1e9


def resident() -> int | None:
    """The memory that the process holds, in bytes; None where the system does not tell."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except OSError:
        return None
    return pages * resource.getpagesize()
