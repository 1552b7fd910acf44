"""Runs the jobs side by side over the same files, each in processes of its own, and compares their ids."""

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
from .jobs import JOBS, MODEL, RAW, WITHOUT
from .watched import watched

DOCS = Path(__file__).parents[2] / "docs"


@dataclass(frozen=True, slots=True)
class Run:
    """One job: its seconds by the clock and of processors' time, its memory over time, and a hash of its ids."""

    format: str
    engine: str
    megabytes: int
    seconds: float
    processors: float
    samples: list[tuple[float, int]]
    digest: str

    @property
    def peak(self) -> int:
        return max((size for _, size in self.samples), default=0)


def main() -> None:
    arguments = parser().parse_args()
    folder = Path(arguments.folder)
    engines = [RAW, OURS] if arguments.ours or arguments.model else [RAW, *JOBS]
    runs = []
    for format in arguments.format or list(WRITERS):
        paths = [str(path) for path in files(folder, format, arguments.size)]
        for engine in engines:
            if (format, engine) not in WITHOUT:
                runs += run(engine, format, arguments.size, paths, arguments.workers, arguments.model or str(MODEL))
    report = table(runs, arguments.workers, Path(arguments.model or MODEL).name)
    print(report)
    if arguments.write:
        markdown.put(DOCS / "benchmarks.md", "corpora", report)
    if arguments.plot:
        memory = {f"{run.engine}, {run.format}": run.samples for run in runs if run.engine != RAW}
        plot.draw(memory, DOCS / "corpora-memory.svg")


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(prog="python -m bench.corpus", description=__doc__)
    made.add_argument("--size", type=int, default=500, metavar="MB", help="megabytes of text in each format")
    made.add_argument("--format", action="append", choices=list(WRITERS), help="only this one (may be repeated)")
    made.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    made.add_argument("--ours", action="store_true", help="without the peers")
    made.add_argument("--model", metavar="FILE", help="another vocabulary than gpt2, without the peers")
    made.add_argument("--folder", default=tempfile.gettempdir(), help="where the files are made and kept")
    made.add_argument("--write", action="store_true", help="put the table into docs/benchmarks.md")
    made.add_argument("--plot", action="store_true", help="draw docs/corpora-memory.svg")
    return made


def run(engine: str, format: str, megabytes: int, paths: list[str], workers: int, model: str) -> list[Run]:
    """One job; none where it failed, which is said."""
    for path in paths:
        Path(path).read_bytes()  # into the page cache
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
            found = watched(command)
        except subprocess.CalledProcessError as error:
            print(f"  failed: {error.stderr.strip().splitlines()[-1:]}", file=sys.stderr)
            return []
    seconds, aside, digest = json.loads(found.output.splitlines()[-1])
    return [Run(format, engine, megabytes, seconds, found.processors - aside, found.samples, digest)]


def table(runs: list[Run], workers: int, vocabulary: str) -> str:
    """A row for each job. The shares are those of encoding alone, by the clock and by processors' time."""
    rows = []
    for each in runs:
        raw = _of(runs, each.format, RAW)
        ours = _of(runs, each.format, OURS)
        same = "" if each.engine in (RAW, OURS) or not ours else "yes" if each.digest == ours.digest else "no"
        shares = (
            [f"{100 * raw.seconds / each.seconds:.0f} %", f"{100 * raw.processors / each.processors:.0f} %"]
            if raw
            else ["", ""]
        )
        speeds = [f"{each.megabytes / seconds:,.1f}" for seconds in (each.seconds, each.processors)]
        rows.append([each.format, str(each.megabytes), each.engine, *speeds, *shares, f"{each.peak / 1e6:,.0f}", same])
    head = ["format", "MB of text", "engine", "MB/s", "MB per processor's second", "share of encoding by the clock"]
    head += ["by processors' time", "peak MB", "same ids"]
    return f"{workers} workers, {vocabulary}.\n\n" + markdown.table(head, rows)


def _of(runs: list[Run], format: str, engine: str) -> Run | None:
    return next((run for run in runs if (run.format, run.engine) == (format, engine)), None)


if __name__ == "__main__":
    main()
