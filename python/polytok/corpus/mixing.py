"""`write_mixture`: writes the documents of a mixture to a new dataset, in tasks that can be resumed."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import IO, Any, Literal, get_args

import numpy as np

from ..checked import checked
from ..checks import flag, number, one_of
from ..errors import FormatError
from ..keywords import keyword
from ..progress import ReportProgress, progress_function
from ..reading.tables import require_pyarrow
from .job import Job, Records
from .journal import TOKENIZER_NAME, Journal, task_file_stem
from .manifest import DocumentCounts, Manifest, ShardEntry, SourceEntry, manifest_hash
from .mixture import Mixture, Weights, mix
from .mixture_report import MixtureReport, MixtureShare
from .options import Dtype, Output, resolve_dtype
from .origin import origin_schema
from .plan import SHARD_SIZE
from .rows import Rows
from .run import create_runner
from .run.base import Assignment, ProgressFunction, TaskFunction, TaskProgram
from .storage import Storage, open_storage
from .watching import ProgressMonitor
from .write import WRITERS, ShardFile, ShardWriter

_TASK_FUNCTION = "polytok.corpus.mixing:prepare"
_BLOCK_TOKENS = 1 << 20


@checked()
def write_mixture(
    datasets: Weights,
    out: str | os.PathLike[str],
    *,
    seed: int = 0,
    epochs: float = 1,
    to: Output = "megatron",
    dtype: Dtype = "auto",
    documents: bool = False,
    shard_size: int = SHARD_SIZE,
    workers: int | None = None,
    runner: Literal["local", "ray"] = "local",
    overwrite: bool = False,
    progress: bool | ReportProgress = False,
    json_log: IO[str] | None = None,
) -> MixtureReport:
    """Writes the documents of `mix` to a new dataset, in the order of the mixture, and returns the reached shares.

    The same call continues an interrupted job. The output does not depend on ``workers`` and ``runner``.

    Args:
        datasets: The weight of each dataset folder; weights, ``seed`` and ``epochs`` are as in `mix`.
        out: The path or URL of the folder to write.
        seed: The seed of the order.
        epochs: How often a document can occur.
        to: The format of the shards.
        dtype: The dtype of the ids; ``auto`` as in `tokenize`.
        documents: Whether to write a documents table, with the dataset and the index in it for each document.
        shard_size: The bytes of ids of a shard, about.
        workers: The number of processes; by default one for each processor.
        runner: ``"local"`` for processes of this machine, or ``"ray"``.
        overwrite: Whether to delete the files of another job in the folder.
        progress: As in `tokenize`.
        json_log: As in `tokenize`.

    Raises:
        ArgumentError: An option is wrong, the datasets cannot be mixed, or the folder holds another job.
        FileError: Reading or writing fails.

    >>> import tempfile
    >>> from polytok import corpus
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for name in ("a", "b"):
    ...         _ = Path(folder, f"{name}.txt").write_text(f"{name}\\n" * 100)
    ...         _ = corpus.tokenize(f"{folder}/{name}.txt", "default", f"{folder}/{name}", lines=True, workers=1)
    ...     shares = {f"{folder}/a": 0.75, f"{folder}/b": 0.25}
    ...     corpus.write_mixture(shares, f"{folder}/mixed", seed=1, workers=1).total.documents
    133
    """
    one_of("to", to, tuple(WRITERS))
    one_of("dtype", dtype, get_args(Dtype))
    flag("documents", documents)
    number("shard_size", shard_size, least=1)
    mixture = mix(datasets, seed=seed, epochs=epochs)
    storage = open_storage(out)
    options = {
        "datasets": _describe_datasets(mixture),
        "seed": seed,
        "epochs": epochs,
        "to": to,
        "dtype": resolve_dtype(to, dtype, mixture.datasets[0].manifest.tokenizer.vocab_size),
        "documents": documents,
        "shard_size": shard_size,
    }
    job = _create_job(mixture, storage, options)
    task_runner = create_runner(runner, workers, [storage.url])
    with progress_function(progress) as report_progress:
        monitor = ProgressMonitor("mixing", report_progress, json_log)
        manifest = job.run(task_runner, overwrite=overwrite, on_event=monitor)
    return _create_report(mixture, manifest, monitor.was_finished)


def _create_report(mixture: Mixture, manifest: Mapping[str, Any], was_finished: bool) -> MixtureReport:
    shares = tuple(
        MixtureShare(
            source["name"],
            weight / sum(mixture.weights),
            source["documents"],
            source["tokens"],
            index == mixture.limit,
        )
        for index, (source, weight) in enumerate(zip(manifest["sources"], mixture.weights, strict=True))
    )
    return MixtureReport(DocumentCounts(**manifest["totals"]), shares, mixture.epochs, was_finished)


def _create_job(mixture: Mixture, storage: Storage, options: Mapping[str, Any]) -> Job:
    """Returns the job. ``options`` contains everything that the output depends on."""
    tokenizer = asdict(mixture.datasets[0].manifest.tokenizer)
    del tokenizer["name"]  # the name does not identify a tokenizer
    return Job(
        storage,
        TaskProgram(_TASK_FUNCTION, {"storage": storage.url, "mixture": options}),
        {"version": 1, "tokenizer": tokenizer, "mixture": options},
        _assignments(mixture, options["shard_size"]),
        lambda records: _build_manifest(mixture, options, records).data(),
        (mixture.datasets[0].folder / TOKENIZER_NAME).read_bytes(),
    )


def _describe_datasets(mixture: Mixture) -> list[dict[str, Any]]:
    return [
        {"name": str(dataset.folder), "weight": weight, "manifest": manifest_hash(dataset.folder)}
        for dataset, weight in zip(mixture.datasets, mixture.weights, strict=True)
    ]


def _assignments(mixture: Mixture, shard_size: int) -> tuple[Assignment, ...]:
    """Returns the tasks, each of which writes about the same number of documents."""
    tokens = sum(
        dataset.tokens * count / len(dataset) for dataset, count in zip(mixture.datasets, mixture.counts, strict=True)
    )
    task_count = max(1, min(int(tokens * mixture.datasets[0].dtype.itemsize / shard_size), len(mixture)))
    ends = [len(mixture) * task // task_count for task in range(task_count + 1)]
    return tuple(
        Assignment(task, ends[task + 1] - ends[task], {"number": task, "start": ends[task], "end": ends[task + 1]})
        for task in range(task_count)
    )


def _build_manifest(mixture: Mixture, options: Mapping[str, Any], records: Records) -> Manifest:
    shards = tuple(
        ShardEntry(
            record["documents"],
            record["tokens"],
            stem=task_file_stem(task),
            files=tuple(ShardFile(**file) for file in record["files"]),
        )
        for task, record in sorted(records.items())
    )
    sources = tuple(
        SourceEntry(
            mixture.counts[index],
            sum(record["tokens_of_datasets"][index] for record in records.values()),
            name=str(dataset.folder),
            bytes=sum(file.bytes for shard in dataset.shards for file in shard.files),
        )
        for index, dataset in enumerate(mixture.datasets)
    )
    identity = mixture.datasets[0].manifest.tokenizer
    return Manifest(
        options["to"], options["dtype"], identity, {"mixture": options}, sources, shards, options["documents"]
    )


def prepare(setup: dict[str, Any]) -> TaskFunction:
    """Returns the function that does the tasks of a job with these settings."""
    storage, options = open_storage(setup["storage"]), setup["mixture"]
    for dataset in options["datasets"]:
        if manifest_hash(Path(dataset["name"])) != dataset["manifest"]:
            raise FormatError(
                f"{dataset['name']} has changed since the job began: begin again with {keyword('overwrite', True)}"
            )
    weights: dict[str, float] = {dataset["name"]: dataset["weight"] for dataset in options["datasets"]}
    mixture = mix(weights, seed=options["seed"], epochs=options["epochs"])

    def do_task(description: dict[str, Any], report_progress: ProgressFunction) -> dict[str, Any]:
        writer_class, stem = WRITERS[options["to"]], task_file_stem(description["number"])
        schema = origin_schema(None) if options["documents"] else None
        with storage.output_folder() as folder:
            dtype = np.dtype(options["dtype"])
            with writer_class(folder, stem, dtype, schema, has_documents_table=options["documents"]) as writer:
                tokens_of_datasets = _copy_items(mixture, description, writer, schema, report_progress)
                files = writer.finish(is_forced=False)
        record = {
            "number": description["number"],
            "documents": writer.documents,
            "tokens": writer.tokens,
            "tokens_of_datasets": tokens_of_datasets,
            "files": [file._asdict() for file in files],
        }
        Journal(storage).write_record(setup["job"], record)
        return record

    return do_task


def _copy_items(
    mixture: Mixture,
    description: Mapping[str, Any],
    writer: ShardWriter,
    schema: Any,
    report_progress: ProgressFunction,
) -> list[int]:
    """Writes the items of a task, and the documents table if it has a schema. Returns the number of tokens from each
    dataset."""
    tokens_of_datasets = [0] * len(mixture.datasets)
    for indices in _blocks_of_indices(mixture, description["start"], description["end"]):
        items = [mixture.item(index) for index in indices]
        documents = [mixture.datasets[item.dataset][item.row] for item in items]
        for item, ids in zip(items, documents, strict=True):
            tokens_of_datasets[item.dataset] += len(ids)
        columns = None
        if schema is not None:
            names = [str(mixture.datasets[item.dataset].folder) for item in items]
            rows = [item.row for item in items]
            columns = require_pyarrow().table([names, rows, [None] * len(rows)], schema=schema)
        offsets = np.cumsum([0, *map(len, documents)], dtype=np.int64)
        writer.write(*Rows(np.concatenate(documents), offsets, columns))
        report_progress(writer.documents, writer.tokens, 0)
    return tokens_of_datasets


def _blocks_of_indices(mixture: Mixture, start: int, end: int) -> Iterator[range]:
    """Yields ranges of items with about `_BLOCK_TOKENS` tokens each."""
    tokens_of_item = max(1, sum(dataset.tokens for dataset in mixture.datasets)) / sum(map(len, mixture.datasets))
    step = max(1, min(int(_BLOCK_TOKENS / tokens_of_item), 1 << 16))
    for first in range(start, end, step):
        yield range(first, min(first + step, end))
