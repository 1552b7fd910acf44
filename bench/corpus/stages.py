"""Measures the time of each stage of reading and encoding, in one thread: ``python -m bench.corpus.stages``.

Each block passes through all stages in turn, and the measurements show how long each stage of a job takes.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

import numpy as np

import polytok
from polytok.corpus.documents import documents
from polytok.corpus.plan import plan
from polytok.corpus.write import WRITERS
from polytok.reading import Documents

from .. import markdown
from ..cases import DATA
from .inputs import SEPARATOR, write_files
from .inputs import WRITERS as FORMATS

Item = TypeVar("Item")


class StageClock:
    """Measures the processor seconds of named stages."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        start_time = time.process_time()
        yield
        self.seconds[name] = self.seconds.get(name, 0.0) + time.process_time() - start_time

    def time_items(self, name: str, items: Iterator[Item]) -> Iterator[Item]:
        """Yields the items of an iterator, and measures the time that the iterator needs for them."""
        while True:
            with self.stage(name):
                item = next(items, None)
            if item is None:
                return
            yield item


def measure_stages(model: str, paths: list[Path], format: str) -> tuple[int, dict[str, float]]:
    """Returns the number of bytes of the texts, and the seconds of each stage. The tokenizer is not warmed up."""
    tokenizer = polytok.load(model)
    clock, size = StageClock(), 0
    with tempfile.TemporaryDirectory() as folder:
        writer = WRITERS["flat"](Path(folder), "00000", np.dtype(np.uint16))
        for documents in clock.time_items("read, cut, check", read_blocks(paths, format)):
            size += documents.texts.nbytes
            with clock.stage("encode"):
                batch = tokenizer._encode_texts(documents.texts, threads=1)
            with clock.stage("write"):
                writer.write(batch.ids, batch.offsets, None)
        with clock.stage("write"):
            writer.finish()
    return size, clock.seconds


def read_blocks(paths: list[Path], format: str) -> Iterator[Documents]:
    reading_options = polytok.InputOptions(separator=SEPARATOR) if format == "text" else polytok.InputOptions()
    corpus_plan = plan([str(path) for path in paths], reading_options, 1 << 28)
    for task in corpus_plan.tasks:
        for part in task.parts:
            yield from documents(part, corpus_plan.sources[part.source], reading_options, ())


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.corpus.stages", description=__doc__)
    parser.add_argument("--size", type=int, default=200, metavar="MB")
    parser.add_argument("--folder", default=tempfile.gettempdir())
    parser.add_argument("--model", default=str(DATA / "vocab/huggingface/gpt2.json"))
    arguments = parser.parse_args()
    rows = []
    for format in FORMATS:
        paths = write_files(Path(arguments.folder), format, arguments.size)
        size, seconds = measure_stages(arguments.model, paths, format)
        total_seconds = sum(seconds.values())
        speeds = [
            f"{size / 1e6 / max(stage_seconds, 1e-9):,.0f}" for stage_seconds in (*seconds.values(), total_seconds)
        ]
        rows.append([format, f"{size / 1e6:,.0f}", *speeds, f"{100 * seconds['encode'] / total_seconds:.0f} %"])
    head = ["format", "MB of text", "read, cut, check", "encode", "write", "all", "share of encode"]
    print(markdown.table(head, rows))


if __name__ == "__main__":
    main()
