"""Runs the job of each engine over the same files, in separate processes, and compares their speed and ids."""

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
from . import plot
from .inputs import WRITERS, files
from .jobs import ENCODING_ONLY, JOBS, MODEL, SKIPPED_JOBS
from .watched import run_watched

DOCS = Path(__file__).parents[2] / "docs"


@dataclass(frozen=True, slots=True)
class Run:
    """The result of a job.

    ``seconds`` is wall-clock time, and ``processor_seconds`` the processor time of all processes. ``samples`` has pairs
    of seconds and bytes of memory, and ``digest`` is a hash of the ids.
    """

    format: str
    engine: str
    megabytes: int
    seconds: float
    processor_seconds: float
    samples: list[tuple[float, int]]
    digest: str

    @property
    def peak(self) -> int:
        return max((size for _, size in self.samples), default=0)


def main() -> None:
    arguments = parser().parse_args()
    folder = Path(arguments.folder)
    engines = [ENCODING_ONLY, OURS] if arguments.ours or arguments.model else [ENCODING_ONLY, *JOBS]
    runs = []
    for format in arguments.format or list(WRITERS):
        paths = [str(path) for path in files(folder, format, arguments.size)]
        for engine in engines:
            if (format, engine) not in SKIPPED_JOBS:
                runs += run(engine, format, arguments.size, paths, arguments.workers, arguments.model or str(MODEL))
    report = table(runs, arguments.workers, Path(arguments.model or MODEL).name)
    print(report)
    if arguments.write:
        markdown.replace_section(DOCS / "benchmarks.md", "corpora", report)
    if arguments.plot:
        memory = {f"{run.engine}, {run.format}": run.samples for run in runs if run.engine != ENCODING_ONLY}
        plot.draw(memory, DOCS / "corpora-memory.svg")


def parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bench.corpus", description=__doc__)
    parser.add_argument("--size", type=int, default=500, metavar="MB", help="megabytes of text in each format")
    parser.add_argument("--format", action="append", choices=list(WRITERS), help="only this format (can be repeated)")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--ours", action="store_true", help="without other engines")
    parser.add_argument("--model", metavar="FILE", help="use another vocabulary than gpt2, without other engines")
    parser.add_argument("--folder", default=tempfile.gettempdir(), help="the folder of the input files, which are kept")
    parser.add_argument("--write", action="store_true", help="write the table to docs/benchmarks.md")
    parser.add_argument("--plot", action="store_true", help="draw docs/corpora-memory.svg")
    return parser


def run(engine: str, format: str, megabytes: int, paths: list[str], workers: int, model: str) -> list[Run]:
    """Runs a job and returns a list of its result; prints a message and returns an empty list if the job fails."""
    for path in paths:
        Path(path).read_bytes()  # load the file into the page cache
    print(f"{format}, {engine}", file=sys.stderr, flush=True)
    with tempfile.TemporaryDirectory(dir=Path(paths[0]).parent) as out:
        command = [
            sys.executable,
            "-m",
            "bench.corpus.child",
            engine,
            format,
            str(workers),
            out + "/out",
            model,
            *paths,
        ]
        try:
            usage = run_watched(command)
        except subprocess.CalledProcessError as error:
            print(f"  failed: {error.stderr.strip().splitlines()[-1:]}", file=sys.stderr)
            return []
    seconds, overhead_seconds, digest = json.loads(usage.output.splitlines()[-1])
    return [Run(format, engine, megabytes, seconds, usage.processor_seconds - overhead_seconds, usage.samples, digest)]


def table(runs: list[Run], workers: int, vocabulary: str) -> str:
    """Returns a table with a row for each job.

    The shares are the time of encoding alone divided by the time of the job, by wall-clock and processor time.
    """
    rows = []
    for run in runs:
        encoding_run = _find_run(runs, run.format, ENCODING_ONLY)
        ours = _find_run(runs, run.format, OURS)
        is_same = (
            "" if run.engine in (ENCODING_ONLY, OURS) or not ours else "yes" if run.digest == ours.digest else "no"
        )
        shares = (
            [
                f"{100 * encoding_run.seconds / run.seconds:.0f} %",
                f"{100 * encoding_run.processor_seconds / run.processor_seconds:.0f} %",
            ]
            if encoding_run
            else ["", ""]
        )
        speeds = [f"{run.megabytes / seconds:,.1f}" for seconds in (run.seconds, run.processor_seconds)]
        rows.append([run.format, str(run.megabytes), run.engine, *speeds, *shares, f"{run.peak / 1e6:,.0f}", is_same])
    head = ["format", "MB of text", "engine", "MB/s", "MB per processor's second", "share of encoding by the clock"]
    head += ["by processors' time", "peak MB", "same ids"]
    return f"{workers} workers, {vocabulary}.\n\n" + markdown.table(head, rows)


def _find_run(runs: list[Run], format: str, engine: str) -> Run | None:
    return next((run for run in runs if (run.format, run.engine) == (format, engine)), None)


if __name__ == "__main__":
    main()
