"""Defines a job for each engine; a job reads files and returns ids.

All jobs except gigatoken's add the end-of-text id to each document.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from ..cases import DATA, OWN_ENGINE_NAME
from .inputs import SEPARATOR

MODEL = DATA / "vocab/huggingface/gpt2.json"
"""A vocabulary that all engines support."""
END_OF_TEXT = "<|endoftext|>"
END_OF_TEXT_ID = 50256
IDS_PER_PORTION = 1 << 20
ENCODING_ONLY = "texts in memory"

Ids: TypeAlias = Iterator[npt.NDArray[Any]]


@dataclass(frozen=True, slots=True)
class JobInput:
    """The input of a job: files, their format, the output folder and the number of workers."""

    paths: tuple[str, ...]
    format: str
    out: Path
    workers: int
    model: str = str(MODEL)
    """The vocabulary of polytok; other engines always use `MODEL`."""


def run_polytok(job_input: JobInput) -> Ids:
    """Encodes with polytok, which writes the shards of a dataset."""
    import polytok.corpus

    polytok.corpus.tokenize(
        list(job_input.paths),
        job_input.model,
        job_input.out,
        workers=job_input.workers,
        to="flat",
        eos=END_OF_TEXT if job_input.model == str(MODEL) else None,
        input_options=_input_options(job_input.format),
    )
    return _read_ids(sorted(job_input.out.glob("*.bin")))


def _read_ids(paths: Iterable[Path]) -> Ids:
    """Yields the ids from the files of a job in portions, so that reading the ids does not increase the peak memory."""
    for path in paths:
        with path.open("rb") as file:
            while len(ids := np.fromfile(file, np.uint16, IDS_PER_PORTION)):
                yield ids


def _input_options(format: str) -> Any:
    import polytok

    return polytok.InputOptions(separator=SEPARATOR) if format == "text" else polytok.InputOptions()


def run_gigatoken(job_input: JobInput) -> Ids:
    """Encodes with gigatoken, which returns one array in memory and writes no files."""
    import awkward
    import gigatoken

    sources: dict[str, Callable[[], Any]] = {
        "text": lambda: gigatoken.TextFileSource(list(job_input.paths), separator=SEPARATOR),
        "jsonl": lambda: gigatoken.JsonlFileSource(list(job_input.paths), "text"),
        "jsonl.zst": lambda: gigatoken.JsonlFileSource(list(job_input.paths), "text"),
        "parquet": lambda: gigatoken.ParquetFileSource(list(job_input.paths), "text"),
    }
    tokenizer = gigatoken.Tokenizer.from_json(MODEL.read_text(encoding="utf-8"))
    id_arrays = tokenizer.encode_files(sources[job_input.format](), parallel=job_input.workers > 1)
    return iter([awkward.to_numpy(awkward.flatten(id_arrays))])


def run_datatrove(job_input: JobInput) -> Ids:
    """Runs datatrove's reader and tokenizer step, with a task for each file."""
    from datatrove.executor import LocalPipelineExecutor
    from datatrove.pipeline.readers import JsonlReader, ParquetReader
    from datatrove.pipeline.tokens import DocumentTokenizer

    folder, names = os.path.dirname(job_input.paths[0]), [os.path.basename(path) for path in job_input.paths]
    listing = job_input.out / "paths.txt"
    job_input.out.mkdir(parents=True, exist_ok=True)
    listing.write_text("\n".join(names))
    reader = ParquetReader if job_input.format == "parquet" else JsonlReader
    step = DocumentTokenizer(
        str(job_input.out), tokenizer_name_or_path=str(MODEL), eos_token=END_OF_TEXT, shuffle_documents=False
    )
    LocalPipelineExecutor(
        pipeline=[reader(folder, paths_file=str(listing)), step],
        tasks=len(names),
        workers=job_input.workers,
        logging_dir=str(job_input.out / "logs"),
    ).run()
    return _read_ids(sorted(job_input.out.glob("*.ds")))


def run_datasets_map(job_input: JobInput) -> Ids:
    """Encodes with `datasets.map` in several processes, and writes the ids in one process, as Megatron does."""
    import datasets
    from tokenizers import Tokenizer

    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    datasets.disable_progress_bars()
    tokenizer = Tokenizer.from_file(str(MODEL))

    def encode(batch: dict[str, list[str]]) -> dict[str, Any]:
        return {"ids": [[*encoding.ids, END_OF_TEXT_ID] for encoding in tokenizer.encode_batch_fast(batch["text"])]}

    kind = "parquet" if job_input.format == "parquet" else "json"
    dataset = datasets.load_dataset(
        kind, data_files=list(job_input.paths), split="train", cache_dir=str(job_input.out / "cache")
    )
    mapped_dataset = dataset.map(encode, batched=True, num_proc=job_input.workers, remove_columns=dataset.column_names)
    flat_path = job_input.out / "flat.bin"
    with flat_path.open("wb") as file:
        for batch in mapped_dataset.with_format("arrow").iter(1000):
            file.write(batch["ids"].combine_chunks().flatten().to_numpy().astype(np.uint16).tobytes())
    return _read_ids([flat_path])


JOBS: dict[str, Callable[[JobInput], Ids]] = {
    OWN_ENGINE_NAME: run_polytok,
    "gigatoken": run_gigatoken,
    "datatrove": run_datatrove,
    "datasets.map": run_datasets_map,
}
SKIPPED_JOBS = {("text", "datatrove"), ("text", "datasets.map")}
"""The formats that an engine cannot read, as pairs of format and engine."""
