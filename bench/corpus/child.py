"""One job in a process of its own: ``python -m bench.corpus.child ENGINE FORMAT WORKERS OUT PATH...``."""

from __future__ import annotations

import hashlib
import json
import resource
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy.typing as npt

from .jobs import END_ID, JOBS, MODEL, RAW, Input

RUN = 8
"""Blocks of texts that are encoded at once."""


def main() -> None:
    engine, format, workers, out, *paths = sys.argv[1:]
    given = Input(tuple(paths), format, Path(out), int(workers))
    if engine == RAW:
        print(json.dumps([*raw(given), "", 0]))
        return
    clock = Clock()
    ids = JOBS[engine](given)
    print(json.dumps([*clock.read(), *digest(ids)]))


def digest(ids: Iterator[npt.NDArray[Any]]) -> tuple[str, int]:
    """A hash of the ids without ends of text, and how many there are."""
    hashed, count = hashlib.sha256(), 0
    for part in ids:
        text = part[part != END_ID].astype("<u2")
        hashed.update(text.tobytes())
        count += len(text)
    return hashed.hexdigest(), count


class Clock:
    """Seconds by the clock, and of processors' time, this process's and that of those it started and waited for."""

    def __init__(self) -> None:
        self.started = self._now()

    def read(self) -> tuple[float, float]:
        wall, used = self._now()
        return wall - self.started[0], used - self.started[1]

    def _now(self) -> tuple[float, float]:
        children = resource.getrusage(resource.RUSAGE_CHILDREN)
        return time.perf_counter(), time.process_time() + children.ru_utime + children.ru_stime


def raw(given: Input) -> tuple[float, float]:
    """The seconds of encoding alone: texts lie in memory, and ids are thrown away."""
    import polytok
    from polytok._core import Texts

    from .stages import read

    tokenizer = polytok.load(MODEL)
    found = [documents.texts for documents in read([Path(path) for path in given.paths], given.format)]
    # In long runs, so that threads seldom wait for each other.
    runs = [
        Texts.of_list([text or b"" for texts in found[first : first + RUN] for text in texts.to_list()])
        for first in range(0, len(found), RUN)
    ]
    clock = Clock()
    for texts in runs:
        tokenizer.encode_texts(texts, threads=given.workers)
    return clock.read()


if __name__ == "__main__":
    main()
