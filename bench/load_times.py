"""Measures how long every vocabulary file takes to load: with polytok, with the reference package, and as ``.ptok``.

``python -m bench.load_times`` prints a table, and ``--write`` also writes it to docs/generated/load-times.md. A load
begins with the path of a file in the page cache and ends when the tokenizer has encoded one word. Each loader runs in
its own processes, which take turns. Each process loads the file six times and reports the fastest load except the
first, so that imports and other programs do not count. The table has medians of wall-clock time; with ``--shared``, for
a machine that runs other programs, it has medians of processor time.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from . import markdown
from .cases import DATA

TABLE_PATH = Path(__file__).parents[1] / "docs" / "generated" / "load-times.md"
ROUNDS = 3
LOAD_COUNT = 6

REFERENCE_LOADERS = {
    "sentencepiece": "sentencepiece",
    "tiktoken": "tiktoken",
    "huggingface": "tokenizers",
    "rwkv": "pyrwkv",
    "tekken": "json, reading only",
}
"""The reference loader for each folder of ``vocab/``; files in other folders have no reference. For tekken files, the
reference only reads the JSON. The reader of the package gguf is not included, because reading a file takes seconds."""


def _load_polytok(path: Path) -> Any:
    import polytok

    return polytok.load(path).encode("word")


def _load_sentencepiece(path: Path) -> Any:
    import sentencepiece

    return sentencepiece.SentencePieceProcessor(model_file=str(path)).encode("word")


def _load_tiktoken(path: Path) -> Any:
    import tiktoken
    import tiktoken.load

    ranks = tiktoken.load.load_tiktoken_bpe(str(path))
    return tiktoken.Encoding("x", pat_str=r"\w+|\W+", mergeable_ranks=ranks, special_tokens={}).encode("word")


def _load_tokenizers(path: Path) -> Any:
    import tokenizers

    return tokenizers.Tokenizer.from_file(str(path)).encode("word")


def _load_pyrwkv(path: Path) -> Any:
    import pyrwkv_tokenizer

    return pyrwkv_tokenizer.RWKVTokenizer().encode("word")  # the package contains a copy of the file


def _load_json(path: Path) -> Any:
    return json.loads(path.read_bytes())


LOADERS: dict[str, Callable[[Path], Any]] = {
    "polytok": _load_polytok,
    "sentencepiece": _load_sentencepiece,
    "tiktoken": _load_tiktoken,
    "tokenizers": _load_tokenizers,
    "pyrwkv": _load_pyrwkv,
    "json, reading only": _load_json,
}


def measure(loader: str, path: Path, is_shared: bool) -> float:
    """Loads a file `LOAD_COUNT` times. Returns the milliseconds of the fastest load, not counting the first."""
    load = LOADERS[loader]
    clock = time.process_time if is_shared else time.perf_counter
    load(path)
    times = []
    for _ in range(LOAD_COUNT - 1):
        start = clock()
        load(path)
        times.append(clock() - start)
    return min(times) * 1e3


def _measure_in_process(loader: str, path: Path, is_shared: bool) -> float | None:
    """Runs `measure` in a new process; returns None if the package is missing or cannot read the file."""
    command = [sys.executable, "-m", "bench.load_times", *["--shared"][:is_shared], loader, str(path)]
    process = subprocess.run(command, capture_output=True, text=True, cwd=Path(__file__).parents[1], check=False)
    return float(json.loads(process.stdout)) if process.returncode == 0 else None


def file_row(path: Path, folder: Path, is_shared: bool) -> str | None:
    """Returns the row of a file, or None if polytok cannot read the file."""
    import polytok

    try:
        native_path = folder / f"{path.parent.name}-{path.name}.ptok"
        polytok.load(path).save(native_path, "ptok")
    except polytok.PolytokError:
        return None
    reference = REFERENCE_LOADERS.get(path.parent.name)
    loader_jobs = [("polytok", path), *([(reference, path)] if reference else []), ("polytok", native_path)]
    rounds = [[_measure_in_process(*job, is_shared) for job in loader_jobs] for _ in range(ROUNDS)]
    medians = [_median([round_times[job] for round_times in rounds]) for job in range(len(loader_jobs))]
    polytok_time, reference_time, native_time = medians[0], medians[1] if reference else None, medians[-1]
    reference_cell = f"{reference_time:.1f} ({reference})" if reference_time else "—"
    ratio = f"{reference_time / polytok_time:.1f}×" if reference_time and polytok_time else "—"
    size = native_path.stat().st_size / 1e6
    cells = f"{polytok_time:.1f} | {reference_cell} | {ratio} | {native_time:.2f} | {size:.1f}"
    return f"| {path.parent.name}/{path.name} | {cells} |"


def _median(times: list[float | None]) -> float | None:
    measured_times = [time for time in times if time is not None]
    return statistics.median(measured_times) if measured_times else None


def table_lines(is_shared: bool) -> Iterator[str]:
    """Yields each line of the table immediately after measuring the file, because measuring all files takes minutes."""
    yield "| file | polytok, ms | reference, ms | polytok is | as .ptok, ms | .ptok, MB |"
    yield "| --- | --- | --- | --- | --- | --- |"
    with tempfile.TemporaryDirectory() as folder:
        for path in sorted(path for path in (DATA / "vocab").glob("*/*") if path.suffix not in (".inp", ".out")):
            line = file_row(path, Path(folder), is_shared)
            if line:
                yield line


def main() -> None:
    arguments = create_parser().parse_args()
    if arguments.job:
        loader, path = arguments.job
        print(json.dumps(measure(loader, Path(path), arguments.shared)))
        return
    table = []
    for line in table_lines(arguments.shared):
        print(line, flush=True)
        table.append(line)
    if arguments.write:
        markdown.replace_section(TABLE_PATH, "load-times", "\n".join(table))


def create_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bench.load_times", description="How long every vocabulary loads.")
    parser.add_argument(
        "--shared", action="store_true", help="measure processor time, because other programs run on the machine"
    )
    parser.add_argument("--write", action="store_true", help="update docs/generated/load-times.md")
    parser.add_argument("job", nargs="*", help=argparse.SUPPRESS)  # the loader and the path for a new process
    return parser


if __name__ == "__main__":
    main()
