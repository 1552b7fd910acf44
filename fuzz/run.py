"""Builds the fuzzing targets, runs them in turn, and prints a table: ``python fuzz/run.py --seconds 60 encode decode``.

The corpus, the findings and the totals over all runs are in target/fuzz. A finding is an input that fails; the command
that runs it again is printed, and the exit status is 1.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import resource
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "target" / "fuzz"
TOTALS = FOLDER / "totals.json"
BINARY = FOLDER / "x86_64-unknown-linux-gnu" / "release" / "polytok-fuzz"
PYTHON_TARGETS = ROOT / "fuzz" / "python_targets.py"

_PROGRESS = re.compile(r"#(\d+)\s+\w+\s+cov: (\d+)")
_EXECUTIONS = re.compile(r"stat::number_of_executed_units:\s*(\d+)")
_LOG_LINES = 60
_MAX_LENGTH = 1 << 14
_INPUT_SECONDS = 25
_MEMORY_MB = 2048

# The instrumentation that libFuzzer reads; these flags need no nightly compiler.
_COVERAGE = (
    "-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 "
    "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table "
    "-Cllvm-args=-sanitizer-coverage-trace-compares --cfg fuzzing"
)


@dataclass
class Total:
    """What all runs of a target did together."""

    executions: int = 0
    edges: int = 0
    cpu_seconds: float = 0.0
    quiet_seconds: float = 0.0
    findings: int = 0


def totals() -> dict[str, Any]:
    """Returns the totals of all targets; another run of other targets may have changed them meanwhile."""
    totals: dict[str, Any] = json.loads(TOTALS.read_text(encoding="utf-8")) if TOTALS.exists() else {}
    return totals


def target_names() -> list[str]:
    """Returns the names of all targets, which the source lists."""
    rust = (ROOT / "fuzz" / "src" / "lib.rs").read_text(encoding="utf-8")
    python = PYTHON_TARGETS.read_text(encoding="utf-8")
    return re.findall(r'\("(\w+)", targets::', rust) + re.findall(r'"(py_\w+)":', python)


def build(sanitizer: str | None) -> None:
    """Builds the Rust targets; ``sanitizer`` is a name that rustc knows, such as address."""
    environment = {**os.environ, "RUSTFLAGS": _COVERAGE, "CARGO_TARGET_DIR": str(FOLDER)}
    if sanitizer:
        environment["RUSTFLAGS"] += f" -Zsanitizer={sanitizer}"
        environment["RUSTC_BOOTSTRAP"] = "1"
    command = ["cargo", "build", "--quiet", "--release", "--target", "x86_64-unknown-linux-gnu"]
    subprocess.run([*command, "--manifest-path", str(ROOT / "fuzz" / "Cargo.toml")], env=environment, check=True)


def command_of(target: str) -> list[str]:
    """Returns the command that runs a target, without libFuzzer's options."""
    if target.startswith("py_"):
        return [sys.executable, str(PYTHON_TARGETS), target]
    return [str(BINARY)]


class Progress:
    """What libFuzzer has printed so far."""

    def __init__(self, lines: Iterable[str]) -> None:
        self._lines = lines
        self.executions, self.edges, self.changed = 0, 0, time.monotonic()
        self.log: list[str] = []

    @property
    def quiet_seconds(self) -> float:
        """The time since the last new edge."""
        return time.monotonic() - self.changed

    def read(self) -> None:
        """Reads all lines."""
        for line in self._lines:
            self.log = [*self.log[-_LOG_LINES:], line]
            if match := _PROGRESS.match(line):
                self.executions = int(match[1])
                if int(match[2]) > self.edges:
                    self.edges, self.changed = int(match[2]), time.monotonic()
            elif match := _EXECUTIONS.match(line):
                self.executions = int(match[1])


@dataclass(frozen=True)
class Limits:
    """When the run of a target ends: after ``seconds``, or once all its runs together have had ``cpu_minutes`` of
    processor time and the last ``quiet`` seconds brought no new edge."""

    seconds: int
    cpu_minutes: float
    quiet: int

    def are_met(self, cpu_seconds: float, quiet_seconds: float) -> bool:
        """Whether a run can end before ``seconds``."""
        return bool(self.quiet) and cpu_seconds >= 60 * self.cpu_minutes and quiet_seconds > self.quiet


def cpu_seconds(process: int) -> float:
    """Returns the processor time of a running process, which Linux tells in ticks; 0 if the process has ended."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def run(target: str, limits: Limits, total: Total) -> str | None:
    """Runs a target, adds to its total, and returns the command for the input that failed."""
    corpus, seeds = FOLDER / "corpus" / target, FOLDER / "seeds" / target
    findings = FOLDER / "findings" / target
    corpus.mkdir(parents=True, exist_ok=True)
    findings.mkdir(parents=True, exist_ok=True)
    old_findings = set(findings.iterdir())
    options = [
        *(f"-max_total_time={limits.seconds}", f"-max_len={_MAX_LENGTH}", f"-timeout={_INPUT_SECONDS}"),
        *(f"-rss_limit_mb={_MEMORY_MB}", f"-artifact_prefix={findings}/", "-print_final_stats=1"),
    ]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    process = subprocess.Popen(
        [*command_of(target), *options, str(corpus), str(seeds)],
        env={**os.environ, "POLYTOK_FUZZ_TARGET": target},
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        text=True,
        errors="replace",
    )
    progress = Progress(process.stderr or ())
    reader = threading.Thread(target=progress.read)
    reader.start()
    try:
        while reader.is_alive():
            reader.join(1.0)
            if limits.are_met(total.cpu_seconds + cpu_seconds(process.pid), progress.quiet_seconds):
                process.terminate()
    finally:  # an interrupted run is counted too
        process.terminate()
        reader.join()
        process.wait()
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        total.executions += progress.executions
        total.cpu_seconds += after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        total.edges, total.quiet_seconds = progress.edges, progress.quiet_seconds
    new_findings = sorted(path for path in set(findings.iterdir()) - old_findings if "slow-unit" not in path.name)
    total.findings += len(new_findings)
    if process.returncode <= 0 and not new_findings:
        return None
    print("".join(progress.log), file=sys.stderr)
    names = " ".join(map(str, new_findings))
    return f"POLYTOK_FUZZ_TARGET={target} {' '.join(command_of(target))} {names}"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python fuzz/run.py", description=__doc__)
    parser.add_argument("targets", nargs="*", help=f"by default all: {', '.join(target_names())}")
    parser.add_argument("--seconds", type=int, default=60, help="for each target")
    parser.add_argument("--quiet", type=int, default=0, help="seconds without a new edge that end a target before that")
    parser.add_argument(
        "--cpu-minutes", type=float, default=0, help="processor time of all runs of a target before --quiet ends it"
    )
    parser.add_argument("--sanitizer", help="address finds wrong uses of memory, and is twice as slow")
    parser.add_argument("--no-build", action="store_true", help="run the targets that were built before")
    arguments = parser.parse_args()
    targets = arguments.targets or target_names()
    if not arguments.no_build and not all(target.startswith("py_") for target in targets):
        build(arguments.sanitizer)
    import seeds

    limits = Limits(arguments.seconds, arguments.cpu_minutes, arguments.quiet)
    print(
        "| target | executions | edges | CPU minutes | seconds since the last new edge | findings |\n"
        + "|---" * 6
        + "|"
    )
    commands = []
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    for target in targets:
        seeds.write(target, FOLDER / "seeds" / target)
        total = Total(**totals().get(target, {}))
        try:
            command = run(target, limits, total)
        finally:
            TOTALS.write_text(json.dumps({**totals(), target: asdict(total)}, indent=1))
        commands += [command] if command else []
        print(
            f"| {target} | {total.executions:,} | {total.edges:,} | {total.cpu_seconds / 60:.1f} | "
            f"{total.quiet_seconds:.0f} | {total.findings} |",
            flush=True,
        )
    for command in commands:
        print(f"failed: {command}")
    return 1 if commands else 0


if __name__ == "__main__":
    sys.exit(main())
