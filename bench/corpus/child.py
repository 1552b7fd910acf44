"""One job in a process of its own: ``python -m bench.corpus.child ENGINE FORMAT WORKERS OUT PATH...``."""

from __future__ import annotations

import hashlib
import json
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
        print(json.dumps([raw(given), "", 0]))
        return
    started = time.perf_counter()
    ids = JOBS[engine](given)
    seconds = time.perf_counter() - started
    print(json.dumps([seconds, *digest(ids)]))


def digest(ids: Iterator[npt.NDArray[Any]]) -> tuple[str, int]:
    """A hash of the ids without ends of text, and how many there are."""
    hashed, count = hashlib.sha256(), 0
    for part in ids:
        text = part[part != END_ID].astype("<u2")
        hashed.update(text.tobytes())
        count += len(text)
    return hashed.hexdigest(), count


def raw(given: Input) -> float:
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
    started = time.perf_counter()
    for texts in runs:
        tokenizer.encode_texts(texts, threads=given.workers)
    return time.perf_counter() - started


if __name__ == "__main__":
    main()
