"""`count_words`: counts the words of files in tasks and adds up the tasks' counts in the order of the inputs.

The counts are those of `polytok.count_words` over the same files, with the order in which words are first seen.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, cast

from ..errors import ArgumentError
from ..plain import from_plain, to_plain
from ..progress import ProgressBar
from ..reading import Reading
from ..resources import checked_memory, processors
from ..training import Counts, TrainingReport
from ..training.work import counting
from .documents import documents
from .job import Job, Records
from .journal import Journal, stem, to_json
from .plan import SHARD_SIZE, Part, Plan, plan
from .report import EXAMPLES, examples
from .run import runner as made_runner
from .run.base import Assignment, DoTask, Tell, Work
from .sources import Inputs, Source
from .storage import Folder
from .tokenizing import described
from .watching import Watch
from .write import ShardFile, checksum

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ..training.keywords import CountingKeywords

_TASK = "polytok.corpus.counting:prepare"


def count_words(
    inputs: Inputs,
    kind: str | None,
    out: str | os.PathLike[str],
    *,
    reading: Reading | None = None,
    workers: int | None = None,
    runner: str = "local",
    max_memory: int | str | None = None,
    shard_size: int = SHARD_SIZE,
    overwrite: bool = False,
    progress: bool = False,
    json_log: IO[str] | None = None,
    **options: Unpack[CountingKeywords],
) -> TrainingReport:
    """Count the words of files by many processes or machines, into a file as `polytok.Counts.save` writes it.

    ``inputs`` are as in `tokenize`; ``kind``, ``reading`` and ``options`` as in `polytok.count_words`. Finished counts
    are kept beside ``out``, in a folder named like it with ``.parts`` appended, until the job is done: the same call
    resumes it. ``max_memory`` is the limit for all processes of this machine together.

    >>> import tempfile
    >>> from pathlib import Path
    >>> import polytok.corpus
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "a.txt").write_text("to be or not to be")
    ...     report = polytok.corpus.count_words(f"{folder}/*.txt", None, f"{folder}/counts", split=r"\\w+", workers=1)
    ...     polytok.Counts.load(f"{folder}/counts").words("bytes").to_list()
    [(b'be', 2), (b'not', 1), (b'or', 1), (b'to', 2)]
    """
    memory = checked_memory(max_memory)
    share = None if memory is None else memory // (workers or processors())
    setup = _setup(kind, reading or Reading(), cast("dict[str, Any]", options), share)
    place = Folder(f"{os.fspath(out)}.parts")
    planned = plan(inputs, reading, shard_size, outside=place.url)
    does = made_runner(runner, workers, [source.name for source in planned.sources])
    with ExitStack() as stack:
        watch = Watch("counting", stack.enter_context(ProgressBar()) if progress else None, json_log)
        done = _job(place, setup, planned).run(does, overwrite=overwrite, listen=watch)
        paths = [Path(place.url, file["name"]) for task in done["tasks"] for file in task["files"]]
        Counts.load(*paths, max_memory=memory).save(out)
    Journal(place).overwrite()
    os.rmdir(place.url)
    return _report(done["tasks"])


def _setup(kind: str | None, reading: Reading, options: Mapping[str, Any], memory: int | None) -> dict[str, Any]:
    """What a task needs, as a JSON value. Building it also checks the options."""
    trainer, counts = counting(kind, dict(options), {"max_memory": memory, "threads": 1})
    keeps_bytes = isinstance(trainer, Counts) or getattr(trainer, "keeps_bytes", False)
    if reading.invalid == "keep" and not keeps_bytes:
        raise ArgumentError("invalid='keep' is for kinds over bytes: choose 'error', 'replace' or 'skip'")
    return {
        "kind": kind,
        "options": to_plain(dict(options), bytes.hex),
        "reading": {**asdict(reading), "invalid": reading.invalid or ("keep" if keeps_bytes else "error")},
        "words": counts.description,
        "max_memory": memory,
    }


def _job(place: Folder, setup: dict[str, Any], planned: Plan) -> Job:
    header = {name: value for name, value in setup.items() if name != "max_memory"}
    header = {"version": 1, **header, **planned.to_plain()}
    assignments = tuple(Assignment(task.number, task.bytes, described(planned, task)) for task in planned.tasks)

    def manifest(records: Records) -> bytes:
        return to_json({"tasks": [records[number] for number in sorted(records)]})

    return Job(place, Work(_TASK, {**setup, "folder": place.url}), header, assignments, manifest)


def prepare(setup: dict[str, Any]) -> DoTask:
    """Build the function that does the tasks of a job."""
    reading = Reading(**setup["reading"])

    def do_task(description: dict[str, Any], tell: Tell) -> dict[str, Any]:
        options = from_plain(setup["options"], bytes.fromhex)
        trainer, counts = counting(setup["kind"], options, {"max_memory": setup["max_memory"], "threads": 1})
        record = _push_all(trainer, reading, description, tell)
        path = Path(setup["folder"], f"{stem(description['number'])}.counts")
        counts.save(path)
        file = ShardFile(path.name, path.stat().st_size, checksum(path))
        record = {"number": description["number"], **record, "files": [file._asdict()]}
        Journal(Folder(path.parent)).note(setup["job"], record)
        return record

    return do_task


def _push_all(trainer: Any, reading: Reading, description: dict[str, Any], tell: Tell) -> dict[str, Any]:
    """Give the texts of all parts to a trainer, or to `Counts`."""
    texts = size = 0
    skipped: Counter[str] = Counter()
    places: list[tuple[str, str]] = []
    for part in (Part(**part) for part in description["parts"]):
        for found in documents(part, Source(**description["sources"][str(part.source)]), reading):
            trainer.push(found.texts.to_list())
            texts, size = texts + len(found), size + found.texts.nbytes
            skipped.update(left.reason for left in found.left)
            places += [(left.place, left.reason) for left in found.left[: EXAMPLES - len(places)]]
            tell(texts, 0, size)
    skipped.update(getattr(trainer, "left_out", {}))
    return {"documents": texts, "text_bytes": size, "skipped": dict(sorted(skipped.items())), "examples": places}


def _report(records: list[dict[str, Any]]) -> TrainingReport:
    left_out = sum((Counter(record["skipped"]) for record in records), Counter[str]())
    texts, size = (sum(record[name] for record in records) for name in ("documents", "text_bytes"))
    return TrainingReport(texts, size, dict(left_out), examples(records))
