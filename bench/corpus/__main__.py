"""Runs the job of each engine over the same files, in separate processes, and compares the jobs' speeds and ids."""

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
from . import plot
from .inputs import WRITERS, write_files
from .jobs import ENCODING_ONLY, JOBS, MODEL, SKIPPED_JOBS
from .watched import run_watched

DOCS = Path(__file__).parents[2] / "docs"


@dataclass(frozen=True, slots=True)
class JobResult:
    """The result of a job.

    ``seconds`` is wall-clock time, and ``processor_seconds`` the processor time of all processes. ``samples`` is a list
    of times in seconds with the bytes of memory in use, and ``digest`` is a hash of the ids.
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
    arguments = create_parser().parse_args()
    folder = Path(arguments.folder)
    engines = [ENCODING_ONLY, OWN_ENGINE_NAME] if arguments.ours or arguments.model else [ENCODING_ONLY, *JOBS]
    runs = []
    for format in arguments.format or list(WRITERS):
        paths = [str(path) for path in write_files(folder, format, arguments.size)]
        for engine in engines:
            if (format, engine) not in SKIPPED_JOBS:
                runs += run_job(engine, format, arguments.size, paths, arguments.workers, arguments.model or str(MODEL))
    report_text = results_table(runs, arguments.workers, Path(arguments.model or MODEL).name)
    print(report_text)
    if arguments.write:
        markdown.replace_section(DOCS / "benchmarks.md", "corpora", report_text)
    if arguments.plot:
        memory = {f"{run.engine}, {run.format}": run.samples for run in runs if run.engine != ENCODING_ONLY}
        plot.draw(memory, DOCS / "corpora-memory.svg")


def create_parser() -> argparse.ArgumentParser:
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


def run_job(engine: str, format: str, megabytes: int, paths: list[str], workers: int, model: str) -> list[JobResult]:
    """Runs a job and returns a list with its result; if the job fails, prints a message and returns an empty list."""
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
    return [
        JobResult(format, engine, megabytes, seconds, usage.processor_seconds - overhead_seconds, usage.samples, digest)
    ]


def results_table(runs: list[JobResult], workers: int, vocabulary: str) -> str:
    """Returns a table with a row for each job.

    The two shares are the time that encoding alone takes, divided by the time of the job: wall-clock time and processor
    time.
    """
    rows = []
    for run in runs:
        encoding_run = _find_run(runs, run.format, ENCODING_ONLY)
        own_run = _find_run(runs, run.format, OWN_ENGINE_NAME)
        is_same = (
            ""
            if run.engine in (ENCODING_ONLY, OWN_ENGINE_NAME) or not own_run
            else "yes"
            if run.digest == own_run.digest
            else "no"
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


def _find_run(runs: list[JobResult], format: str, engine: str) -> JobResult | None:
    return next((run for run in runs if (run.format, run.engine) == (format, engine)), None)


if __name__ == "__main__":
    main()
