"""Runs one job: ``python -m bench.corpus.child ENGINE FORMAT WORKERS OUT MODEL PATH...``.

The program prints the wall-clock seconds of the job, the processor seconds before and after the job, and a hash of the
ids.
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

from .jobs import ENCODING_ONLY, END_OF_TEXT_ID, JOBS, Ids, JobInput

BLOCKS_PER_RUN = 32
"""The number of text blocks that are encoded together."""


def main() -> None:
    engine, format, workers, out, model, *paths = sys.argv[1:]
    job_input = JobInput(tuple(paths), format, Path(out), int(workers), model)
    job = encoding_job(job_input) if engine == ENCODING_ONLY else lambda: JOBS[engine](job_input)
    earlier_cpu_time, start_time = time.process_time(), time.perf_counter()
    ids = job()
    seconds, end_time = time.perf_counter() - start_time, time.process_time()
    ids_hash, _ = hash_ids(ids)
    print(json.dumps([seconds, earlier_cpu_time + time.process_time() - end_time, ids_hash]))


def hash_ids(ids: Iterator[npt.NDArray[Any]]) -> tuple[str, int]:
    """Returns a hash of all ids except end-of-text ids, and their number."""
    ids_hash, id_count = hashlib.sha256(), 0
    for id_block in ids:
        document_ids = id_block[id_block != END_OF_TEXT_ID].astype("<u2")
        ids_hash.update(document_ids.tobytes())
        id_count += len(document_ids)
    return ids_hash.hexdigest(), id_count


def encoding_job(job_input: JobInput) -> Callable[[], Ids]:
    """Returns a job that only encodes: the texts are already in memory, and the job discards the ids."""
    import polytok
    from polytok._core import Texts

    from .stages import read_blocks

    tokenizer = polytok.load(job_input.model)
    text_blocks = [
        documents.texts for documents in read_blocks([Path(path) for path in job_input.paths], job_input.format)
    ]
    # Many blocks are joined, so that threads seldom wait for each other.
    runs = [
        Texts.of_list(
            [text or b"" for texts in text_blocks[first : first + BLOCKS_PER_RUN] for text in texts.to_list()]
        )
        for first in range(0, len(text_blocks), BLOCKS_PER_RUN)
    ]

    def job() -> Ids:
        for texts in runs:
            tokenizer._encode_texts(texts, threads=job_input.workers)
        return iter(())

    return job


if __name__ == "__main__":
    main()
