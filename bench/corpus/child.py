"""One job in a process of its own: ``python -m bench.corpus.child ENGINE FORMAT WORKERS OUT MODEL PATH...``.

It prints the job's seconds, its own seconds of processor time outside of the job, and a hash of the ids.
"""

from __future__ import annotations

import hashlib
import json
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy.typing as npt

from .jobs import END_ID, JOBS, RAW, Ids, Input

RUN = 32
"""Blocks of texts that are encoded at once."""


def main() -> None:
    engine, format, workers, out, model, *paths = sys.argv[1:]
    given = Input(tuple(paths), format, Path(out), int(workers), model)
    job = encoding(given) if engine == RAW else lambda: JOBS[engine](given)
    aside, started = time.process_time(), time.perf_counter()
    ids = job()
    seconds, ended = time.perf_counter() - started, time.process_time()
    hashed, _ = digest(ids)
    print(json.dumps([seconds, aside + time.process_time() - ended, hashed]))


def digest(ids: Iterator[npt.NDArray[Any]]) -> tuple[str, int]:
    """A hash of the ids without ends of text, and how many there are."""
    hashed, count = hashlib.sha256(), 0
    for part in ids:
        text = part[part != END_ID].astype("<u2")
        hashed.update(text.tobytes())
        count += len(text)
    return hashed.hexdigest(), count


def encoding(given: Input) -> Callable[[], Ids]:
    """Encoding alone: texts lie in memory, and ids are thrown away."""
    import polytok
    from polytok._core import Texts

    from .stages import read

    tokenizer = polytok.load(given.model)
    found = [documents.texts for documents in read([Path(path) for path in given.paths], given.format)]
    # In long runs, so that threads seldom wait for each other.
    runs = [
        Texts.of_list([text or b"" for texts in found[first : first + RUN] for text in texts.to_list()])
        for first in range(0, len(found), RUN)
    ]

    def job() -> Ids:
        for texts in runs:
            tokenizer._encode_texts(texts, threads=given.workers)
        return iter(())

    return job


if __name__ == "__main__":
    main()
