"""Measures the memory of an engine with a vocabulary in a process of its own: ``python -m bench.targets.memory``."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
from dataclasses import dataclass

from ..cases import ENGLISH, Vocabulary
from ..clock import resident_memory
from ..engines import ENGINES
from ..texts import read_documents
from ..workloads import KB, MB, RunSize
from .table import ALL_VOCABULARIES

TEXT_BYTES = 2 * MB


@dataclass(frozen=True, slots=True)
class Memory:
    """The MB that an engine uses after loading a vocabulary and encoding 2 MB of English, and polytok's cache in MB."""

    total: float
    cache: float | None


def measure_in_process(engine: str, vocabulary: Vocabulary) -> Memory | None:
    """Measures in a new process; returns None if the engine fails or the system does not report memory."""
    command = [sys.executable, "-m", "bench.targets.memory", engine, vocabulary.name]
    process = subprocess.run(command, capture_output=True, check=False)
    return Memory(*json.loads(process.stdout)) if process.returncode == 0 else None


def measure(engine_name: str, vocabulary: Vocabulary) -> tuple[float, float | None]:
    """Returns the memory and the cache size in this process. The documents are created before the engine is loaded."""
    engine = ENGINES[engine_name]
    documents = read_documents(ENGLISH, 4 * KB, RunSize(0, TEXT_BYTES, rounds=1, processes=1))[1]
    before = resident_memory()
    importlib.import_module(engine.module)
    adapter = engine.load(vocabulary)
    for document in documents:
        adapter.ids(document)
    after = resident_memory()
    assert before is not None and after is not None, "the system reports the memory of a process"
    tokenizer = getattr(adapter.encode, "__self__", None)
    cache_bytes = getattr(tokenizer, "cache_bytes", None)
    return (after - before) / 1e6, None if cache_bytes is None else cache_bytes / 1e6


if __name__ == "__main__":
    print(json.dumps(measure(sys.argv[1], next(row for row in ALL_VOCABULARIES if row.name == sys.argv[2]))))
