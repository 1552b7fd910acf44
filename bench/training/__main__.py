"""Runs the trainers in separate processes, compares them, and writes the section on training of docs/benchmarks.md."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from .. import markdown
from ..cases import OWN_ENGINE_NAME
from . import plot, texts
from .trainers import ENTRY_COUNT, TRAINERS_BY_KIND

DOCS = Path(__file__).parents[2] / "docs"
TIMEOUT_SECONDS = 1800


@dataclass(frozen=True, slots=True)
class TrainingRun:
    """The result of a training. ``seconds`` is wall-clock time, and ``digest`` is a hash of the entries."""

    kind: str
    engine: str
    megabytes: int
    seconds: float
    processor_seconds: float
    peak_bytes: int
    entry_count: int
    digest: str


def main() -> None:
    arguments = create_parser().parse_args()
    folder = Path(arguments.folder or tempfile.gettempdir())
    sizes = arguments.size or [100]
    kinds = [kind for kind in TRAINERS_BY_KIND if not arguments.kind or kind in arguments.kind]
    runs = [
        training_run
        for megabytes in sizes
        for kind in kinds
        for engine in TRAINERS_BY_KIND[kind]
        if engine == OWN_ENGINE_NAME or not arguments.ours
        if (training_run := run_training(kind, engine, megabytes, folder, arguments.threads))
    ]
    report_text = results_table(runs)
    print(report_text)
    if arguments.write:
        markdown.replace_section(DOCS / "benchmarks.md", arguments.write, report_text)
    if arguments.plot:
        plot.draw(
            [(run.kind, run.engine, run.megabytes, run.processor_seconds, run.peak_bytes) for run in runs],
            DOCS / "training.svg",
        )


def create_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bench.training", description=__doc__)
    parser.add_argument(
        "--size", type=int, action="append", metavar="MB", help="megabytes of text (can be repeated; by default 100)"
    )
    parser.add_argument(
        "--kind", action="append", choices=list(TRAINERS_BY_KIND), help="only this kind (can be repeated)"
    )
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--ours", action="store_true", help="without other engines")
    parser.add_argument(
        "--folder",
        help="the folder of the generated texts, which are kept (default: the system's folder for such files)",
    )
    parser.add_argument("--write", metavar="MARKER", help="write the table to docs/benchmarks.md at MARKER")
    parser.add_argument("--plot", action="store_true", help="draw docs/training.svg")
    return parser


def run_training(kind: str, engine: str, megabytes: int, folder: Path, threads: int) -> TrainingRun | None:
    """Runs a training and returns its result; if the training fails, prints a message and returns None."""
    path = texts.write_text_file(folder / f"polytok-training-{megabytes}.txt", megabytes)
    path.read_bytes()  # load the file into the page cache
    print(f"{kind}, {engine}, {megabytes} MB", file=sys.stderr, flush=True)
    command = [sys.executable, "-m", "bench.training.child", kind, engine, str(path), str(threads)]
    try:
        process = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_SECONDS)
    except subprocess.TimeoutExpired:
        print(f"  more than {TIMEOUT_SECONDS} s", file=sys.stderr)
        return None
    if process.returncode:
        print(f"  failed: {process.stderr.strip().splitlines()[-1:]}", file=sys.stderr)
        return None
    seconds, processor_seconds, peak_bytes, entry_count, digest = json.loads(process.stdout.splitlines()[-1])
    return TrainingRun(kind, engine, megabytes, seconds, processor_seconds, peak_bytes, entry_count, digest)


def results_table(runs: list[TrainingRun]) -> str:
    """Returns a table with a row for each training; one column has the time divided by polytok's time."""
    rows = []
    for run in runs:
        own_run = next(
            (
                other
                for other in runs
                if (other.kind, other.megabytes, other.engine) == (run.kind, run.megabytes, OWN_ENGINE_NAME)
            ),
            None,
        )
        times = f"{run.seconds / own_run.seconds:.1f}" if own_run and run is not own_run else ""
        is_same = "" if not own_run or run is own_run else "yes" if run.digest == own_run.digest else "no"
        name = [run.kind, f"{run.megabytes:,}", run.engine]
        rows.append(
            [
                *name,
                f"{run.seconds:.1f}",
                f"{run.processor_seconds:.1f}",
                f"{run.peak_bytes / 1e6:,.0f}",
                times,
                is_same,
            ]
        )
    head = ["kind", "MB of text", "engine", "seconds", "processor's", "peak MB", "polytok is × as fast", "same entries"]
    return f"{ENTRY_COUNT:,} entries.\n\n" + markdown.table(head, rows)


if __name__ == "__main__":
    main()
