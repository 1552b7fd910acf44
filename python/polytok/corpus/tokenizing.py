"""`tokenize`: encodes files of text and writes the ids to the shards of a dataset folder."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field, replace
from typing import IO, TYPE_CHECKING, Any

from .. import checks
from ..checked import checked, keyword_names
from ..errors import ArgumentError, FormatError
from ..formats import ptok
from ..keywords import keyword
from ..loading import AnyTokenizer, as_tokenizer, load
from ..progress import ReportProgress, progress_function
from ..reading import InputKeywords, InputOptions, split_keywords
from ..resources import processors
from ..tokenizer import Tokenizer
from .documents import check_field, source_with_columns
from .job import Job, JobEvent, JobStartEvent, Records
from .journal import TOKENIZER_NAME, task_file_stem, to_json
from .manifest import (
    MAX_MANIFEST_BYTES,
    DocumentCounts,
    Manifest,
    ShardEntry,
    ShardSource,
    SourceEntry,
    TokenizerIdentity,
    WindowShuffle,
    total,
)
from .options import DocumentKeywords, DocumentOptions
from .plan import Plan, Task, plan
from .report import Report, damage, examples, parse_counts, sum_counts_by_source
from .run import RunnerName, create_runner
from .run.base import Assignment, Runner, TaskDoneEvent, TaskProgram, TaskRetryEvent
from .shuffle_all import shard_count
from .storage import Storage, open_storage
from .watching import ProgressMonitor
from .write import ShardFile

if TYPE_CHECKING:
    from typing_extensions import Unpack

_TASK_FUNCTION = "polytok.corpus.task:prepare"


@checked()
def tokenize(
    inputs: Any,
    tokenizer: AnyTokenizer,
    out: str | os.PathLike[str],
    *,
    input_options: InputOptions | None = None,
    workers: int | None = None,
    threads: int | None = None,
    runner: RunnerName = "local",
    overwrite: bool = False,
    progress: bool | ReportProgress = False,
    json_log: IO[str] | None = None,
    **options: Unpack[DocumentKeywords],
) -> Report:
    """Tokenizes files to a dataset folder, and returns the counts of documents, tokens and bytes of each input.

    Args:
        inputs: A path, a folder, a pattern of paths, a URL, or a list of these.
        tokenizer: A `polytok.Tokenizer`, or an argument for `polytok.load`.
        out: The path or URL of the folder to write.
        input_options: The fields of `polytok.InputOptions` together; they can also be passed as keywords.
        workers: The number of processes; by default one for each processor.
        threads: The number of threads of each process; by default one, or more if there are fewer tasks than workers.
        runner: ``"local"`` for processes of this machine, or ``"ray"``. The output does not depend on ``workers``,
            ``threads`` and ``runner``.
        overwrite: Whether to delete the files of another job in the folder. Without it, the same call resumes an
            interrupted job.
        progress: True for a progress bar on standard error, or a function that is called with the stage, the amount
            done and the total.
        json_log: An open text file to write events to, a JSON object a line.
        options: The fields of `DocumentOptions`, and those of `polytok.InputOptions`.

    Raises:
        ArgumentError: An option is wrong, or the folder holds another job.
        FormatError: An input is damaged, and the options do not allow skipping the damage.
        EncodeError: A text is not UTF-8, and the options do not allow such texts.
        FileError: Reading or writing fails.

    >>> import tempfile
    >>> from pathlib import Path
    >>> import polytok.corpus
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "a.txt").write_text("one\\ntwo\\n")
    ...     report = polytok.corpus.tokenize(f"{folder}/*.txt", "default", f"{folder}/out", lines=True, workers=1)
    >>> report.total.documents
    2
    """
    read_options, document_keywords = split_keywords(input_options, options)
    known_names = [*keyword_names(tokenize), *DocumentKeywords.__annotations__, *InputKeywords.__annotations__]
    checks.keywords("tokenize", document_keywords, known_names)
    document_options = DocumentOptions(input_options=read_options, **document_keywords)
    loaded_tokenizer = as_tokenizer(tokenizer)
    job_storage = open_storage(out)
    job_plan = plan(inputs, document_options.input_options, document_options.shard_size, output_folder=job_storage.url)
    check_field(job_plan.sources[0], document_options.input_options)
    task_runner = create_runner(runner, workers, [job_storage.url, *(source.name for source in job_plan.sources)])
    task_threads = _task_threads(job_plan, runner, workers, threads)
    job = _create_job(
        job_storage, loaded_tokenizer, document_options.resolved(loaded_tokenizer), job_plan, task_threads
    )
    with ExitStack() as stack:
        monitor = ProgressMonitor("tokenizing", stack.enter_context(progress_function(progress)), json_log)
        return _TokenizeRun(job, monitor).run(task_runner, overwrite)


def _create_job(
    job_storage: Storage, tokenizer: Tokenizer, options: DocumentOptions, job_plan: Plan, threads: int
) -> Job:
    """Returns the job. The header of the job contains everything that the output depends on, except the tokenizer's
    name, which the job takes from the tokenizer file that it began with."""
    _check_source_count(job_plan)
    fingerprint = tokenizer.fingerprint
    header = {
        "version": 1,
        "tokenizer": {"fingerprint": fingerprint, "vocab_size": tokenizer.vocab_size},
        "options": options.to_json(),
        **job_plan.to_plain(),
    }
    setup = {
        "storage": job_storage.url,
        "options": options.to_json(),
        "fingerprint": fingerprint,
        "columns_source": _columns_source(job_plan, options),
        "threads": threads,
    }
    assignments = tuple(
        Assignment(task.number, task.bytes, task_description(job_plan, task)) for task in job_plan.tasks
    )
    final_assignments: tuple[Assignment, ...] = ()
    if options.shuffle == "all":
        assignments, final_assignments = _two_passes(assignments, options)
        header["tasks"] = [*header["tasks"], *(assignment.description for assignment in final_assignments)]

    def manifest_content(records: Records) -> bytes:
        return _build_manifest(_stored_identity(job_storage), options, job_plan, records).data()

    return Job(
        job_storage,
        TaskProgram(_TASK_FUNCTION, setup),
        header,
        assignments,
        manifest_content,
        ptok.write(tokenizer.spec).data,
        lambda data: _has_fingerprint(data, fingerprint),
        final_assignments,
    )


def _check_source_count(job_plan: Plan) -> None:
    """Raises `ArgumentError` if the manifest, which lists the inputs, would be too large to be read."""
    entry_bytes = len(to_json(asdict(SourceEntry(name="", bytes=0))))  # without the name and the digits of counts
    if sum(entry_bytes + len(source.name) for source in job_plan.sources) > MAX_MANIFEST_BYTES:
        raise ArgumentError(
            f"{len(job_plan.sources):,} input files are too many for one dataset, whose manifest has at most "
            f"{MAX_MANIFEST_BYTES} bytes: join files, or tokenize them to several folders"
        )


def _columns_source(job_plan: Plan, options: DocumentOptions) -> dict[str, Any] | None:
    """Returns the input whose columns all shards have, as a JSON value; None without columns."""
    if not options.columns:
        return None
    return source_with_columns(job_plan.sources, options.input_options, options.columns).to_plain()


def _two_passes(
    assignments: tuple[Assignment, ...], options: DocumentOptions
) -> tuple[tuple[Assignment, ...], tuple[Assignment, ...]]:
    """Returns the tasks of both passes of a job that shuffles all documents."""
    task_count, input_bytes = len(assignments), sum(assignment.size for assignment in assignments)
    shards = shard_count(input_bytes, task_count, options.shard_size)
    first_pass = tuple(
        replace(assignment, description={**assignment.description, "shards": shards}) for assignment in assignments
    )
    descriptions = [
        {"number": task_count + shard, "shard": shard, "shards": shards, "first_pass_tasks": task_count}
        for shard in range(shards)
    ]
    size = input_bytes // shards
    return first_pass, tuple(Assignment(description["number"], size, description) for description in descriptions)


def _task_threads(job_plan: Plan, runner: str, workers: int | None, threads: int | None) -> int:
    """Returns the number of threads of each task; by default the processor count divided by the task count, at least
    1."""
    if threads is not None:
        if threads < 1:
            raise ArgumentError(f"{keyword(f'threads={threads}')} is too small: it must be at least 1")
        return threads
    return max(1, (workers or processors()) // max(len(job_plan.tasks), 1)) if runner == "local" else 1


def task_description(job_plan: Plan, task: Task) -> dict[str, Any]:
    """Returns a task and the sources of its parts as a JSON value, so that a worker does not need the whole plan."""
    sources = {str(part.source): job_plan.sources[part.source].to_plain() for part in task.parts}
    return {**task.to_plain(), "sources": sources}


def _has_fingerprint(tokenizer_file: bytes, fingerprint: str) -> bool:
    """Reports whether a tokenizer file is intact and has this fingerprint."""
    try:
        return load(tokenizer_file).fingerprint == fingerprint
    except FormatError:
        return False


def _stored_identity(job_storage: Storage) -> TokenizerIdentity:
    """Returns the identity of the tokenizer in the job's folder."""
    with job_storage.local_copy(TOKENIZER_NAME) as path:
        tokenizer = load(path)
    origin = tokenizer.spec.origin
    return TokenizerIdentity(tokenizer.fingerprint, origin.name or origin.format, tokenizer.vocab_size)


def _build_manifest(name: TokenizerIdentity, options: DocumentOptions, job_plan: Plan, records: Records) -> Manifest:
    counts = sum_counts_by_source(len(job_plan.sources), records.values())
    sources = tuple(
        SourceEntry(**asdict(source_counts), name=source.name, bytes=source.size)
        for source, source_counts in zip(job_plan.sources, counts, strict=True)
    )
    if options.shuffle == "all":
        shards = _shuffled_shard_entries(records, total(counts))
    else:
        shards = tuple(_shard_entry(options, number, record) for number, record in sorted(records.items()))
    return Manifest(options.to, options.dtype, name, options.to_json(), sources, shards, options.documents)


def _shard_entry(options: DocumentOptions, number: int, record: Mapping[str, Any]) -> ShardEntry:
    source_counts = {int(source): counts["documents"] for source, counts in record["sources"].items()}
    return ShardEntry(
        **asdict(parse_counts(record)),
        stem=task_file_stem(number),
        files=tuple(ShardFile(**file) for file in record["files"]),
        sources=tuple(ShardSource(source, count) for source, count in sorted(source_counts.items()) if count),
        shuffle=WindowShuffle(options.shuffle_window, options.seed, number) if options.shuffle_window > 1 else None,
    )


def _shuffled_shard_entries(records: Records, totals: DocumentCounts) -> tuple[ShardEntry, ...]:
    """Returns the shards of a job that shuffled all documents.

    Every shard has documents of all inputs, so the counts of bytes of text and of skipped documents are not known for
    each shard. The entry of the first shard has all of them.
    """
    shards: list[ShardEntry] = []
    for _, record in sorted(records.items()):
        if "shard" in record:
            counts = replace(DocumentCounts() if shards else totals, **record["shard"])
            files = tuple(ShardFile(**file) for file in record["files"])
            shards.append(ShardEntry(**asdict(counts), stem=task_file_stem(len(shards)), files=files))
    return tuple(shards)


@dataclass(slots=True)
class _TokenizeRun:
    """A run of a job, with the records of finished tasks and the number of restarts for the report."""

    job: Job
    monitor: ProgressMonitor
    records: dict[int, dict[str, Any]] = field(default_factory=dict)
    retried: int = 0

    def run(self, runner: Runner, overwrite: bool) -> Report:
        """Runs the job, shows its progress, and returns its report."""
        try:
            manifest = self.job.run(runner, overwrite=overwrite, on_event=self._handle_event)
        except BaseException as error:
            message = str(error) or ("interrupted" if isinstance(error, KeyboardInterrupt) else type(error).__name__)
            self.monitor.log("error", message=message, kind=type(error).__name__)
            raise
        counts = {source["name"]: parse_counts(source) for source in manifest["sources"]}
        records = [record for _, record in sorted(self.records.items())]
        report = Report(counts, examples(records), self.retried, damage(records), self.monitor.was_finished)
        self.monitor.log("end", **asdict(report.total))
        return report

    def _handle_event(self, event: JobEvent) -> None:
        if isinstance(event, JobStartEvent):
            self.records.update(event.records)
        elif isinstance(event, TaskDoneEvent):
            self.records[event.number] = event.record
        elif isinstance(event, TaskRetryEvent):
            self.retried += 1
        self.monitor(event)
