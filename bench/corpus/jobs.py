"""The job of each engine, which reads files and returns ids.

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

from ..cases import DATA, OURS
from .inputs import SEPARATOR

MODEL = DATA / "vocab/huggingface/gpt2.json"
"""A vocabulary that all engines support."""
END = "<|endoftext|>"
END_ID = 50256
PORTION = 1 << 20
RAW = "texts in memory"

Ids: TypeAlias = Iterator[npt.NDArray[Any]]


@dataclass(frozen=True, slots=True)
class Input:
    """The input of a job: files, their format, the output folder and the number of workers."""

    paths: tuple[str, ...]
    format: str
    out: Path
    workers: int
    model: str = str(MODEL)
    """The vocabulary of polytok; other engines always use `MODEL`."""


def polytok(given: Input) -> Ids:
    """Writes the shards of a dataset."""
    import polytok.corpus

    polytok.corpus.tokenize(
        list(given.paths),
        given.model,
        given.out,
        workers=given.workers,
        output="flat",
        eos=END if given.model == str(MODEL) else None,
        reading=_reading(given.format),
    )
    return _stored(sorted(given.out.glob("*.bin")))


def _stored(paths: Iterable[Path]) -> Ids:
    """Yields the ids in the files of a job in portions, so that reading them does not increase the peak memory."""
    for path in paths:
        with path.open("rb") as file:
            while len(ids := np.fromfile(file, np.uint16, PORTION)):
                yield ids


def _reading(format: str) -> Any:
    import polytok

    return polytok.Reading(unit="separator", separator=SEPARATOR) if format == "text" else polytok.Reading()


def gigatoken(given: Input) -> Ids:
    """Returns one array in memory and writes no files."""
    import awkward
    import gigatoken

    sources: dict[str, Callable[[], Any]] = {
        "text": lambda: gigatoken.TextFileSource(list(given.paths), separator=SEPARATOR),
        "jsonl": lambda: gigatoken.JsonlFileSource(list(given.paths), "text"),
        "jsonl.zst": lambda: gigatoken.JsonlFileSource(list(given.paths), "text"),
        "parquet": lambda: gigatoken.ParquetFileSource(list(given.paths), "text"),
    }
    tokenizer = gigatoken.Tokenizer.from_json(MODEL.read_text(encoding="utf-8"))
    encoded = tokenizer.encode_files(sources[given.format](), parallel=given.workers > 1)
    return iter([awkward.to_numpy(awkward.flatten(encoded))])


def datatrove(given: Input) -> Ids:
    """Runs datatrove's reader and tokenizer step, with a task for each file."""
    from datatrove.executor import LocalPipelineExecutor
    from datatrove.pipeline.readers import JsonlReader, ParquetReader
    from datatrove.pipeline.tokens import DocumentTokenizer

    folder, names = os.path.dirname(given.paths[0]), [os.path.basename(path) for path in given.paths]
    listing = given.out / "paths.txt"
    given.out.mkdir(parents=True, exist_ok=True)
    listing.write_text("\n".join(names))
    reader = ParquetReader if given.format == "parquet" else JsonlReader
    step = DocumentTokenizer(str(given.out), tokenizer_name_or_path=str(MODEL), eos_token=END, shuffle_documents=False)
    LocalPipelineExecutor(
        pipeline=[reader(folder, paths_file=str(listing)), step],
        tasks=len(names),
        workers=given.workers,
        logging_dir=str(given.out / "logs"),
    ).run()
    return _stored(sorted(given.out.glob("*.ds")))


def datasets_map(given: Input) -> Ids:
    """Converts rows to lists of ids in several processes and writes them in one process, as Megatron does."""
    import datasets
    from tokenizers import Tokenizer

    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    datasets.disable_progress_bars()
    tokenizer = Tokenizer.from_file(str(MODEL))

    def encode(batch: dict[str, list[str]]) -> dict[str, Any]:
        return {"ids": [[*found.ids, END_ID] for found in tokenizer.encode_batch_fast(batch["text"])]}

    kind = "parquet" if given.format == "parquet" else "json"
    read = datasets.load_dataset(kind, data_files=list(given.paths), split="train", cache_dir=str(given.out / "cache"))
    mapped = read.map(encode, batched=True, num_proc=given.workers, remove_columns=read.column_names)
    flat = given.out / "flat.bin"
    with flat.open("wb") as file:
        for batch in mapped.with_format("arrow").iter(1000):
            file.write(batch["ids"].combine_chunks().flatten().to_numpy().astype(np.uint16).tobytes())
    return _stored([flat])


JOBS: dict[str, Callable[[Input], Ids]] = {
    OURS: polytok,
    "gigatoken": gigatoken,
    "datatrove": datatrove,
    "datasets.map": datasets_map,
}
WITHOUT = {("text", "datatrove"), ("text", "datasets.map")}
"""They read no text between separators."""
