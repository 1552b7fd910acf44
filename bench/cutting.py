"""Measures fits, truncate and chunk against counting a whole text, and against a package that makes chunks.

``python -m bench.cutting`` prints the tables of docs/cutting.md. The calls that are compared take turns; a figure is
the median of their ratios or of their times. The text is English prose of the corpus, once with itself repeated for the
largest size; for the slow case it is a word without a place where it can be cut.
"""

from __future__ import annotations

import importlib
import importlib.util
import statistics
import time
from collections.abc import Callable, Sequence
from typing import Any

import polytok

from . import simd
from .cases import DATA

VOCABULARIES = {
    "cl100k": "tiktoken/cl100k_base.tiktoken",
    "Llama 2": "sentencepiece/llama2.model",
    "XLNet": "sentencepiece/xlnet_base_cased.model",
}
SIZES = {"1 KB": 1 << 10, "10 KB": 10 << 10, "100 KB": 100 << 10, "1 MB": 1 << 20, "10 MB": 10 << 20}
LIMIT = 1024
CHUNK_BYTES = 1 << 20
SLOW_LENGTHS = (500, 1000, 2000)
ROUNDS = 9


def seconds(calls: Sequence[Callable[[], object]], rounds: int = ROUNDS) -> list[float]:
    """Returns the median time of each call; the calls take turns."""
    times: list[list[float]] = [[] for _ in calls]
    for _ in range(rounds):
        for call, call_times in zip(calls, times, strict=True):
            start = time.perf_counter()
            call()
            call_times.append(time.perf_counter() - start)
    return [statistics.median(call_times) for call_times in times]


def corpus_text(size: int) -> str:
    """Returns English prose of ``size`` bytes or a few less."""
    text = (DATA / "corpus" / "en_prose.txt").read_text("utf-8")
    return (text * (size // len(text) + 1)).encode()[:size].decode(errors="ignore")


def limit_rows(name: str, tokenizer: polytok.Tokenizer) -> list[str]:
    """Returns a row for each size of a text."""
    rows = []
    for size_name, size in SIZES.items():
        text = corpus_text(size)
        total = tokenizer.count(text)
        limit = min(LIMIT, total // 2)
        calls: list[Callable[[], object]] = [
            lambda text=text: tokenizer.count(text),  # type: ignore[misc]
            lambda text=text, limit=limit: tokenizer.fits(text, limit),  # type: ignore[misc]
            lambda text=text, limit=limit: tokenizer.truncate(text, limit),  # type: ignore[misc]
        ]
        if name != "XLNet":
            calls.append(lambda text=text, limit=limit: tokenizer.truncate(text, limit, direction="left"))  # type: ignore[misc]
        cells = [f"{second * 1e6:,.0f}" for second in seconds(calls)]
        rows.append(f"| {name} | {size_name} | {limit:,} | {' | '.join([*cells, *['-'] * (4 - len(cells))])} |")
    return rows


def chunk_rows(name: str, tokenizer: polytok.Tokenizer) -> list[str]:
    """Returns a row for each kind of chunks of a megabyte, with its speed and the speed of counting."""
    text = corpus_text(CHUNK_BYTES)
    rows = []
    for at in ("token", "sentence"):
        overlap = 64 if at == "sentence" else 0
        calls: list[Callable[[], object]] = [
            lambda: tokenizer.count(text),
            lambda at=at, overlap=overlap: tokenizer.chunk(text, 512, at=at, overlap=overlap),  # type: ignore[misc]
        ]
        if at == "sentence" and (splitter := semantic_splitter(tokenizer)) is not None:
            calls.append(lambda splitter=splitter: splitter(text))  # type: ignore[misc]
        count, chunk, *other = seconds(calls, 3)
        mb = len(text.encode()) / 1e6
        other_cell = f"{mb / other[0]:.2f}" if other else "-"
        rows.append(f"| {name} | {at} | {overlap} | {mb / count:.0f} | {mb / chunk:.1f} | {other_cell} |")
    return rows


def semantic_splitter(tokenizer: polytok.Tokenizer) -> Callable[[str], Any] | None:
    """Returns the chunks of semchunk with polytok's count, if the package is installed."""
    if importlib.util.find_spec("semchunk") is None:
        return None
    chunkerify: Any = importlib.import_module("semchunk").chunkerify
    chunker: Callable[[str], Any] = chunkerify(tokenizer.count, 512)
    return chunker


def slow_rows(name: str, tokenizer: polytok.Tokenizer) -> list[str]:
    """Returns a row for each length of a word without a place where it can be cut."""
    rows = []
    for length in SLOW_LENGTHS:
        text = "a" * length
        limit = tokenizer.count(text) // 2
        (second,) = seconds([lambda text=text, limit=limit: tokenizer.truncate(text, limit)], 3)  # type: ignore[misc]
        rows.append(f"| {name} | {length:,} | {limit} | {second * 1e3:,.1f} |")
    return rows


def main() -> None:
    """Prints the tables."""
    tokenizers = {name: polytok.load(DATA / "vocab" / path) for name, path in VOCABULARIES.items()}
    for tokenizer in tokenizers.values():
        tokenizer.warm_up()
    print(f"{simd.processor()}\n")
    print("| vocabulary | text | limit | `count` of all | `fits` | `truncate` | from the left |\n" + "| --- " * 7 + "|")
    for name, tokenizer in tokenizers.items():
        print(*limit_rows(name, tokenizer), sep="\n")
    print("\n| vocabulary | `at` | overlap | `count` | `chunk` | semchunk |\n" + "| --- " * 6 + "|")
    for name, tokenizer in tokenizers.items():
        print(*chunk_rows(name, tokenizer), sep="\n")
    print("\n| vocabulary | letters | limit | ms |\n" + "| --- " * 4 + "|")
    print(*slow_rows("cl100k", tokenizers["cl100k"]), sep="\n")


if __name__ == "__main__":
    main()
