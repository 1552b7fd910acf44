"""Simulates jobs over millions of files in an object store, and prints what the calling process needs.

    python -m bench.corpus.plans --files 1000000 --terabytes 10 --shard-size 2G

The files are objects without content, and the tasks only write their records, so the figures are those of the process
that plans the job and collects the results: its time and memory, the size of what it writes, and its requests to the
store. Each list of 1000 objects, and each object that is read, written or removed, is a request.
"""

from __future__ import annotations

import argparse
import resource
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any, ClassVar

import fsspec
from fsspec.spec import AbstractFileSystem

import polytok
from polytok.corpus.journal import MANIFEST_NAME, PLAN_NAME, Journal, task_file_stem
from polytok.corpus.manifest import DocumentCounts
from polytok.corpus.options import DocumentOptions
from polytok.corpus.plan import plan
from polytok.corpus.run.base import Assignment, Listener, TaskDoneEvent, TaskProgram
from polytok.corpus.storage import open_storage
from polytok.corpus.tokenizing import _create_job
from polytok.resources import memory_size

_LIST_SIZE = 1000  # the number of objects in an answer of S3
_SHARD_FILES = 2  # a shard of Megatron is a file of ids and an index


class SimulatedStore(AbstractFileSystem):  # type: ignore[misc]
    """A store with input objects that have a name, a size and no content, and with the small files of a job."""

    protocol = "simulated"
    cachable = False
    inputs: ClassVar[int] = 0
    input_size: ClassVar[int] = 0
    files: ClassVar[dict[str, bytes]] = {}
    requests: ClassVar[Counter[str]] = Counter()

    def glob(self, path: str, **_: Any) -> list[str]:
        self.requests["list"] += -(-self.inputs // _LIST_SIZE)
        return [f"corpus/part-{number:08d}.jsonl.zst" for number in range(self.inputs)]

    def isdir(self, path: str) -> bool:
        return False

    def info(self, path: str, **_: Any) -> dict[str, Any]:
        """Returns what the list of objects has, without a request."""
        return {"name": path, "size": self.input_size, "type": "file", "ETag": f'"{hash(path) & (1 << 128) - 1:032x}"'}

    def find(self, path: str, **_: Any) -> list[str]:
        names = [name for name in self.files if name.startswith(f"{path}/")]
        self.requests["list"] += -(-len(names) // _LIST_SIZE) or 1
        return names

    def cat_file(self, path: str, **_: Any) -> bytes:
        self.requests["read"] += 1
        if path not in self.files:
            raise FileNotFoundError(path)
        return self.files[path]

    def get_file(self, path: str, target: str, **_: Any) -> None:
        with open(target, "wb") as file:
            file.write(self.cat_file(path))

    def pipe_file(self, path: str, value: bytes, mode: str = "overwrite", **_: Any) -> None:
        self.requests["write"] += 1
        if mode == "create" and path in self.files:
            raise FileExistsError(path)
        self.files[path] = value

    def rm_file(self, path: str) -> None:
        self.requests["remove"] += 1
        self.files.pop(path, None)


class SimulatedRunner:
    """Writes a record for each task, as if a worker had done it. Requests of workers are not counted."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self.record_bytes = 0

    def run(
        self, program: TaskProgram, assignments: Sequence[Assignment], listen: Listener, inherited_files: Any = ()
    ) -> None:
        """Writes the records of all tasks."""
        for assignment in assignments:
            requests = SimulatedStore.requests.copy()
            record = _record(assignment)
            self._journal.write_record(program.setup["job"], record)
            self.record_bytes += len(next(reversed(SimulatedStore.files.values())))
            SimulatedStore.requests = requests
            listen(TaskDoneEvent(assignment.number, record))


def _record(assignment: Assignment) -> dict[str, Any]:
    counts = asdict(DocumentCounts(1000, 1_000_000, 4_000_000))
    stem = task_file_stem(assignment.number)
    files = [{"name": f"{stem}.{kind}", "bytes": 1 << 30, "checksum": "0" * 32} for kind in ("bin", "idx")]
    sources = dict.fromkeys(assignment.description["sources"], counts)
    return {"number": assignment.number, **counts, "files": files, "examples": [], "damage": [], "sources": sources}


def simulate(files: int, terabytes: float, shard_size: int) -> Iterator[tuple[str, str]]:
    """Plans and finishes a job, and yields pairs of a figure's name and the figure."""
    SimulatedStore.inputs, SimulatedStore.input_size = files, int(terabytes * 1e12 / files)
    fsspec.register_implementation("simulated", SimulatedStore, clobber=True)
    tokenizer = polytok.load("default")
    start = time.process_time()
    job_plan = plan("simulated://corpus/*.jsonl.zst", shard_size=shard_size)
    options = DocumentOptions(shard_size=shard_size).resolved(tokenizer)
    storage = open_storage("simulated://out")
    job = _create_job(storage, tokenizer, options, job_plan, 1)
    yield "tasks", f"{len(job_plan.tasks):,}"
    yield "processor time of planning", f"{time.process_time() - start:.1f} s"
    runner, start = SimulatedRunner(Journal(storage)), time.process_time()
    job.run(runner, on_event=lambda _: None)
    yield "processor time of plan, records and manifest", f"{time.process_time() - start:.1f} s"
    yield "peak memory", f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6:.2f} GB"
    yield PLAN_NAME, f"{len(SimulatedStore.files[f'out/{PLAN_NAME}']) / 1e6:,.0f} MB"
    yield "records", f"{runner.record_bytes / 1e6:,.0f} MB"
    yield MANIFEST_NAME, f"{len(SimulatedStore.files[f'out/{MANIFEST_NAME}']) / 1e6:,.0f} MB"
    yield "objects of shards", f"{len(job_plan.tasks) * _SHARD_FILES:,}"
    yield "requests", ", ".join(f"{count:,} {kind}" for kind, count in sorted(SimulatedStore.requests.items()))


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.corpus.plans", description=__doc__)
    parser.add_argument("--files", type=int, default=1_000_000)
    parser.add_argument("--terabytes", type=float, default=10)
    parser.add_argument("--shard-size", type=memory_size, default=128 << 20)
    arguments = parser.parse_args()
    for name, value in simulate(arguments.files, arguments.terabytes, arguments.shard_size):
        print(f"{name}: {value}", flush=True)


if __name__ == "__main__":
    main()
