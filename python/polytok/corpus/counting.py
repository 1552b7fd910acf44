"""`count_words`: counts the words of files in parallel tasks and adds up the counts in the order of the inputs.

The result is the same as that of `polytok.count_words` over the same files, including the order in which words first
occur.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from ..checked import checked, keyword_names
from ..checks import keywords
from ..plain import from_plain, to_plain
from ..progress import ReportProgress, progress_function
from ..reading import InputOptions, split_keywords
from ..resources import checked_memory, processors
from ..training import Counts, TrainingReport
from ..training.base import KindName
from ..training.feeding import bad_bytes_for
from ..training.work import create_text_receiver, options_of_reading
from .documents import check_field, documents
from .job import Job, Records
from .journal import Journal, task_file_stem, to_json
from .plan import SHARD_SIZE, Part, Plan, plan
from .report import MAX_EXAMPLES, examples
from .run import RunnerName, create_runner
from .run.base import Assignment, ProgressFunction, TaskFunction, TaskProgram
from .sources import Inputs, Source
from .storage import FolderStorage
from .tokenizing import task_description
from .watching import ProgressMonitor
from .write import ShardFile, checksum

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ..training.keywords import CountingKeywords

_TASK_FUNCTION = "polytok.corpus.counting:prepare"


@checked()
def count_words(
    inputs: Inputs,
    kind: KindName | None,
    out: str | os.PathLike[str],
    *,
    input_options: InputOptions | None = None,
    workers: int | None = None,
    runner: RunnerName = "local",
    max_memory: int | str | None = None,
    shard_size: int = SHARD_SIZE,
    overwrite: bool = False,
    progress: bool | ReportProgress = False,
    json_log: IO[str] | None = None,
    **options: Unpack[CountingKeywords],
) -> TrainingReport:
    """Counts the words of files with many processes or machines, and writes the counts as `polytok.Counts.save` does.

    ``inputs``, ``workers``, ``runner``, ``shard_size``, ``overwrite``, ``progress`` and ``json_log`` are as in
    `tokenize`; ``kind``, ``input_options`` and ``options`` are as in `polytok.count_words`. ``out`` is the file to
    write. ``max_memory`` limits the memory of all processes on this machine together, in bytes or as a text such as
    "4G".

    The folder ``out + ".parts"`` stores the counts of finished tasks until the job is done, so that the same call can
    resume an interrupted job. Returns a report with the number of texts read, bytes read, and texts skipped.

    Raises `ArgumentError` for wrong options, `FormatError` and `EncodeError` for inputs that are damaged or not UTF-8,
    and `FileError` if reading or writing fails.

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
    worker_memory = None if memory is None else memory // (workers or processors())
    from ..training.keywords import CountingKeywords  # only the names of all options need it

    keywords("count_words", options, [*keyword_names(count_words), *CountingKeywords.__annotations__])
    read_options, counting_options = split_keywords(input_options, options)
    read_options = options_of_reading(kind, read_options, counting_options)
    setup = _task_settings(kind, read_options, counting_options, worker_memory)
    folder = FolderStorage(f"{os.fspath(out)}.parts")
    job_plan = plan(inputs, read_options, shard_size, output_folder=folder.url)
    check_field(job_plan.sources[0], read_options)
    task_runner = create_runner(runner, workers, [source.name for source in job_plan.sources])
    with ExitStack() as exit_stack:
        monitor = ProgressMonitor("counting", exit_stack.enter_context(progress_function(progress)), json_log)
        build_manifest = _create_job(folder, setup, job_plan).run(task_runner, overwrite=overwrite, on_event=monitor)
        paths = [Path(folder.url, file["name"]) for task in build_manifest["tasks"] for file in task["files"]]
        Counts.load(*paths, max_memory=memory).save(out)
    Journal(folder).remove_job()
    os.rmdir(folder.url)
    return _create_report(build_manifest["tasks"])


def _task_settings(
    kind: str | None, input_options: InputOptions, options: Mapping[str, Any], memory: int | None
) -> dict[str, Any]:
    """Returns the settings of all tasks as a JSON value. Raises `ArgumentError` for wrong options."""
    trainer, counts = create_text_receiver(kind, dict(options), {"max_memory": memory, "threads": 1})
    return {
        "kind": kind,
        "options": to_plain(dict(options), bytes.hex),
        "input_options": replace(input_options, bad_bytes=bad_bytes_for(trainer, input_options)).to_json(),
        "words": counts.description,
        "max_memory": memory,
    }


def _create_job(folder: FolderStorage, setup: dict[str, Any], job_plan: Plan) -> Job:
    header = {name: value for name, value in setup.items() if name != "max_memory"}
    header = {"version": 1, **header, **job_plan.to_plain()}
    assignments = tuple(
        Assignment(task.number, task.bytes, task_description(job_plan, task)) for task in job_plan.tasks
    )

    def build_manifest(records: Records) -> bytes:
        return to_json({"tasks": [records[number] for number in sorted(records)]})

    return Job(
        folder, TaskProgram(_TASK_FUNCTION, {**setup, "folder": folder.url}), header, assignments, build_manifest
    )


def prepare(setup: dict[str, Any]) -> TaskFunction:
    """Returns the function that does the tasks of a job with these settings."""
    input_options = InputOptions(**setup["input_options"])

    def do_task(description: dict[str, Any], report_progress: ProgressFunction) -> dict[str, Any]:
        options = from_plain(setup["options"], bytes.fromhex)
        trainer, counts = create_text_receiver(
            setup["kind"], options, {"max_memory": setup["max_memory"], "threads": 1}
        )
        record = _push_texts(trainer, input_options, description, report_progress)
        path = Path(setup["folder"], f"{task_file_stem(description['number'])}.counts")
        counts.save(path)
        file = ShardFile(path.name, path.stat().st_size, checksum(path))
        record = {"number": description["number"], **record, "files": [file._asdict()]}
        Journal(FolderStorage(path.parent)).write_record(setup["job"], record)
        return record

    return do_task


def _push_texts(
    trainer: Any, input_options: InputOptions, description: dict[str, Any], report_progress: ProgressFunction
) -> dict[str, Any]:
    """Pushes the texts of a task to a trainer or to `Counts`, and returns the first fields of the task's record."""
    text_count = text_bytes = 0
    skipped_counts: Counter[str] = Counter()
    examples: list[tuple[str, str]] = []
    damage: list[str] = []
    for part in (Part(**part) for part in description["parts"]):
        source = Source(**description["sources"][str(part.source)])
        for block in documents(part, source, input_options, needs_field=True):
            trainer.push(block.texts.to_list())
            text_count, text_bytes = text_count + len(block), text_bytes + block.texts.nbytes
            skipped_counts.update(text.reason for text in block.skipped)
            examples += [(text.place, text.reason) for text in block.skipped[: MAX_EXAMPLES - len(examples)]]
            damage += [] if block.damage is None else [block.damage]
            report_progress(text_count, 0, text_bytes)
    skipped_counts.update(getattr(trainer, "skipped", {}))
    return {
        "documents": text_count,
        "text_bytes": text_bytes,
        "skipped": dict(sorted(skipped_counts.items())),
        "examples": examples,
        "damage": damage,
    }


def _create_report(records: list[dict[str, Any]]) -> TrainingReport:
    skipped_counts = sum((Counter(record["skipped"]) for record in records), Counter[str]())
    text_count, text_bytes = (sum(record[name] for record in records) for name in ("documents", "text_bytes"))
    damage = [description for record in records for description in record["damage"]]
    return TrainingReport(dict(skipped_counts), examples(records), damage, text_count, text_bytes)
