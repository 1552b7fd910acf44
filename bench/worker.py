"""One engine in a process of its own, which does what it is asked over a pipe.

Nothing else runs in the process: no other engine has warmed its memory, and the text it is tested on was never encoded
in it. The ids are checked in another process, by `digests`.
"""

from __future__ import annotations

import gc
import hashlib
import importlib
import multiprocessing
import resource
from collections.abc import Iterable
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from time import perf_counter_ns, process_time_ns
from typing import Any

import numpy as np

from .cases import Case, Size
from .engines import ENGINES, Encode
from .texts import documents, portions, utf8_bytes


@dataclass(frozen=True, slots=True)
class Ready:
    """What is known once an engine is loaded and warm: seconds, and bytes of UTF-8 of each portion."""

    load: float
    cold: float
    portions: list[int]


@dataclass(frozen=True, slots=True)
class Took:
    """Seconds by the clock, and of those the ones that the process was running."""

    wall: float
    running: float

    @property
    def is_disturbed(self) -> bool:
        """More than a tenth was lost to other processes, so that the figure says little."""
        return self.running < 0.9 * self.wall


@dataclass(frozen=True, slots=True)
class Timed:
    """The engine's process: encode a portion, which is new to it the first time and known to it the second."""

    process: Any
    pipe: Connection

    @classmethod
    def start(cls, case: Case, engine: str, size: Size) -> Timed:
        context = multiprocessing.get_context("spawn")
        ours, theirs = context.Pipe()
        process = context.Process(target=serve, args=(theirs, case, engine, size), daemon=True)
        process.start()
        theirs.close()
        return cls(process, ours)

    def ready(self) -> Ready:
        result: Ready = self.pipe.recv()
        return result

    def encode(self, portion: int) -> Took:
        self.pipe.send(portion)
        result: Took = self.pipe.recv()
        return result

    def finish(self) -> int | None:
        """Ends the process; the bytes of memory that it holds more than before the engine was imported."""
        self.pipe.send(None)
        memory: int | None = self.pipe.recv()
        self.process.join()
        return memory


def serve(pipe: Connection, case: Case, name: str, size: Size) -> None:
    """The process of `Timed`."""
    warm_up, test = documents(case.text, size)
    parts = portions(test, size.rounds)
    part_bytes = [utf8_bytes(part) for part in parts]
    before = resident()
    engine = ENGINES[name]
    importlib.import_module(engine.module)
    start = perf_counter_ns()
    encode = engine.load(case.vocabulary)
    load = perf_counter_ns() - start
    gc.disable()
    cold = clock(encode, warm_up[:1])
    clock(encode, warm_up)
    pipe.send(Ready(load / 1e9, cold.wall, part_bytes))
    while (portion := pipe.recv()) is not None:
        pipe.send(clock(encode, parts[portion]))
    after = resident()
    pipe.send(None if before is None or after is None else after - before)


def clock(encode: Encode, texts: Iterable[str]) -> Took:
    """Encodes the texts one by one; each result is let go before the next."""
    start, running = perf_counter_ns(), process_time_ns()
    for text in texts:
        encode(text)
    return Took((perf_counter_ns() - start) / 1e9, (process_time_ns() - running) / 1e9)


def resident() -> int | None:
    """The memory that the process holds, in bytes; None where the system does not tell."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except OSError:
        return None
    return pages * resource.getpagesize()


def digests(case: Case, name: str, size: Size) -> list[bytes]:
    """A digest of the ids of every test document."""
    encode = ENGINES[name].load(case.vocabulary)
    _, test = documents(case.text, size)
    return [digest(encode(text)) for text in test]


def digest(ids: Any) -> bytes:
    """Equal for equal ids, whatever holds them."""
    return hashlib.blake2b(np.asarray(ids, dtype=np.int64).tobytes(), digest_size=16).digest()


def differing(expected: list[bytes], given: list[bytes]) -> int:
    """How many documents have other ids."""
    return sum(ours != theirs for ours, theirs in zip(expected, given, strict=True))
