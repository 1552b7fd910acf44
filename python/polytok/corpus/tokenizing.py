"""`tokenize`: converts files of text to a folder of shards of ids."""

from __future__ import annotations

import os
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from typing import IO, TYPE_CHECKING, Any

from ..errors import ArgumentError
from ..formats import ptok
from ..loading import load
from ..progress import ProgressBar
from ..resources import processors
from ..tokenizer import Tokenizer
from .job import Begun, Job, JobEvent, Records
from .journal import stem
from .manifest import Manifest, ShardEntry, SourceEntry, TokenizerName
from .options import DocumentKeywords, DocumentOptions
from .plan import Plan, Task, plan
from .report import Report, by_source, counted_of, examples
from .run import runner as made_runner
from .run.base import Assignment, Done, Retried, Runner, Work
from .storage import Storage, storage
from .watching import Watch
from .write import ShardFile

if TYPE_CHECKING:
    from typing_extensions import Unpack

_TASK = "polytok.corpus.task:prepare"


def tokenize(
    inputs: Any,
    tokenizer: Tokenizer | str | os.PathLike[str],
    folder: str | os.PathLike[str],
    *,
    workers: int | None = None,
    threads: int | None = None,
    runner: str = "local",
    overwrite: bool = False,
    progress: bool = False,
    json_log: IO[str] | None = None,
    **options: Unpack[DocumentKeywords],
) -> Report:
    """Tokenize files into a dataset folder.

    ``inputs`` is a path, a pattern of paths, a URL, or a list of these; ``tokenizer`` is a `polytok.Tokenizer` or
    anything that `polytok.load` accepts; ``folder`` is a path or URL. ``options`` are those of `DocumentOptions`.

    ``workers`` processes do the work, by default one per processor, or Ray does it (``runner="ray"``). Each of them
    encodes with ``threads`` threads: by default one, or more if there are fewer tasks than workers. The output does not
    depend on any of these. The same call resumes an interrupted one; ``overwrite`` discards the earlier output.
    ``progress`` shows a bar on standard error. ``json_log`` is an open file that receives events, one JSON object each.

    Raises `ArgumentError` for wrong options and a folder that holds another job, `FormatError` and `EncodeError` for
    inputs that are damaged or are not text (unless the options allow it), `FileError` if reading or writing fails.

    >>> import tempfile
    >>> from pathlib import Path
    >>> import polytok.corpus
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "a.txt").write_text("one\\ntwo\\n")
    ...     reading = polytok.Reading(unit="line")
    ...     report = polytok.corpus.tokenize(f"{folder}/*.txt", "default", f"{folder}/out", reading=reading, workers=1)
    >>> report.total.documents
    2
    """
    chosen = DocumentOptions(**options)
    made = tokenizer if isinstance(tokenizer, Tokenizer) else load(tokenizer)
    place = storage(folder)
    planned = plan(inputs, chosen.reading, chosen.shard_size, outside=place.url)
    does = made_runner(runner, workers, [place.url, *(source.name for source in planned.sources)])
    job = _job(place, made, chosen.resolved(made), planned, _threads(planned, runner, workers, threads))
    with ExitStack() as stack:
        bar = stack.enter_context(ProgressBar()) if progress else None
        watch = Watch("tokenizing", bar, json_log)
        return _Tokenizing(job, planned, watch).run(does, overwrite)


def _job(place: Storage, tokenizer: Tokenizer, options: DocumentOptions, planned: Plan, threads: int) -> Job:
    """The job. Its header contains everything that shapes the output."""
    name = TokenizerName(tokenizer.fingerprint, _name(tokenizer), tokenizer.vocab_size)
    header = {
        "version": 1,
        "tokenizer": asdict(name),
        "options": options.to_json(),
        **planned.to_plain(),
    }
    setup = {
        "storage": place.url,
        "options": options.to_json(),
        "fingerprint": name.fingerprint,
        "first": planned.sources[0].to_plain(),
        "threads": threads,
    }
    assignments = tuple(Assignment(task.number, task.bytes, described(planned, task)) for task in planned.tasks)

    def manifest(records: Records) -> bytes:
        return _manifest(name, options, planned, records).data()

    return Job(place, Work(_TASK, setup), header, assignments, manifest, ptok.write(tokenizer.spec).data)


def _threads(planned: Plan, runner: str, workers: int | None, threads: int | None) -> int:
    """The threads of a task: if there are few tasks, they share the processors that would be idle."""
    if threads is not None:
        if threads < 1:
            raise ArgumentError(f"threads={threads} is less than 1")
        return threads
    return max(1, (workers or processors()) // max(len(planned.tasks), 1)) if runner == "local" else 1


def described(planned: Plan, task: Task) -> dict[str, Any]:
    """A task with the sources of its parts, so that a worker does not need the whole plan."""
    sources = {str(part.source): planned.sources[part.source].to_plain() for part in task.parts}
    return {**task.to_plain(), "sources": sources}


def _name(tokenizer: Tokenizer) -> str:
    origin = tokenizer.spec.origin
    return origin.name or origin.format


def _manifest(name: TokenizerName, options: DocumentOptions, planned: Plan, records: Records) -> Manifest:
    counts = by_source(len(planned.sources), records.values())
    sources = tuple(
        SourceEntry(**asdict(counted), name=source.name, bytes=source.size)
        for source, counted in zip(planned.sources, counts, strict=True)
    )
    shards = tuple(
        ShardEntry(
            **asdict(counted_of(record)), stem=stem(number), files=tuple(ShardFile(**file) for file in record["files"])
        )
        for number, record in sorted(records.items())
    )
    return Manifest(options.output, options.dtype, name, options.to_json(), sources, shards)


@dataclass(slots=True)
class _Tokenizing:
    """Run a job, report its progress, and return its report."""

    job: Job
    planned: Plan
    watch: Watch
    records: dict[int, dict[str, Any]] = field(default_factory=dict)
    retried: int = 0

    def run(self, runner: Runner, overwrite: bool) -> Report:
        try:
            manifest = self.job.run(runner, overwrite=overwrite, listen=self._heard)
        except BaseException as error:
            self.watch.log("error", message=str(error), kind=type(error).__name__)
            raise
        counts = {source["name"]: counted_of(source) for source in manifest["sources"]}
        places = examples(record for _, record in sorted(self.records.items()))
        report = Report(counts, places, self.retried)
        self.watch.log("end", **asdict(report.total))
        return report

    def _heard(self, event: JobEvent) -> None:
        if isinstance(event, Begun):
            self.records.update(event.records)
        elif isinstance(event, Done):
            self.records[event.number] = event.record
        elif isinstance(event, Retried):
            self.retried += 1
        self.watch(event)
