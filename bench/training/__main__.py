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
from ..cases import OURS
from . import plot, texts
from .trainers import ENTRY_COUNT, KINDS

DOCS = Path(__file__).parents[2] / "docs"
PATIENCE = 1800


@dataclass(frozen=True, slots=True)
class Run:
    """The result of a training: seconds of wall-clock and processor time, peak bytes of memory, a hash of entries."""

    kind: str
    engine: str
    megabytes: int
    seconds: float
    processor: float
    peak: int
    entries: int
    digest: str


def main() -> None:
    arguments = parser().parse_args()
    folder = Path(arguments.folder or tempfile.gettempdir())
    sizes = arguments.size or [100]
    kinds = [kind for kind in KINDS if not arguments.kind or kind in arguments.kind]
    runs = [
        run_result
        for megabytes in sizes
        for kind in kinds
        for engine in KINDS[kind]
        if engine == OURS or not arguments.ours
        if (run_result := run(kind, engine, megabytes, folder, arguments.threads))
    ]
    report = table(runs)
    print(report)
    if arguments.write:
        markdown.replace_section(DOCS / "benchmarks.md", arguments.write, report)
    if arguments.plot:
        plot.draw(
            [(run.kind, run.engine, run.megabytes, run.processor, run.peak) for run in runs], DOCS / "training.svg"
        )


def parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bench.training", description=__doc__)
    parser.add_argument(
        "--size", type=int, action="append", metavar="MB", help="megabytes of text (can be repeated; by default 100)"
    )
    parser.add_argument("--kind", action="append", choices=list(KINDS), help="only this kind (can be repeated)")
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--ours", action="store_true", help="without other engines")
    parser.add_argument(
        "--folder", help="where the texts are parser and kept (default: the system's folder for such files)"
    )
    parser.add_argument("--write", metavar="MARKER", help="write the table to docs/benchmarks.md at MARKER")
    parser.add_argument("--plot", action="store_true", help="draw docs/training.svg")
    return parser


def run(kind: str, engine: str, megabytes: int, folder: Path, threads: int) -> Run | None:
    """Runs a training; returns None and prints a message if the training fails."""
    path = texts.write(folder / f"polytok-training-{megabytes}.txt", megabytes)
    path.read_bytes()  # load the file into the page cache
    print(f"{kind}, {engine}, {megabytes} MB", file=sys.stderr, flush=True)
    command = [sys.executable, "-m", "bench.training.child", kind, engine, str(path), str(threads)]
    try:
        process = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        print(f"  more than {PATIENCE} s", file=sys.stderr)
        return None
    if process.returncode:
        print(f"  failed: {process.stderr.strip().splitlines()[-1:]}", file=sys.stderr)
        return None
    seconds, processor, peak, entries, digest = json.loads(process.stdout.splitlines()[-1])
    return Run(kind, engine, megabytes, seconds, processor, peak, entries, digest)


def table(runs: list[Run]) -> str:
    """Returns a table with a row for each training, with the ratio of its time to polytok's time."""
    rows = []
    for run in runs:
        ours = next((o for o in runs if (o.kind, o.megabytes, o.engine) == (run.kind, run.megabytes, OURS)), None)
        times = f"{run.seconds / ours.seconds:.1f}" if ours and run is not ours else ""
        is_same = "" if not ours or run is ours else "yes" if run.digest == ours.digest else "no"
        name = [run.kind, f"{run.megabytes:,}", run.engine]
        rows.append([*name, f"{run.seconds:.1f}", f"{run.processor:.1f}", f"{run.peak / 1e6:,.0f}", times, is_same])
    head = ["kind", "MB of text", "engine", "seconds", "processor's", "peak MB", "polytok is × as fast", "same entries"]
    return f"{ENTRY_COUNT:,} entries.\n\n" + markdown.table(head, rows)


if __name__ == "__main__":
    main()
