"""Measures the time and memory of a command and of the processes that it starts (Linux only)."""

from __future__ import annotations

import os
import resource
import subprocess
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

SAMPLE_SECONDS = 0.25
TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True)
class ProcessUsage:
    """The output of a command, its processor time in seconds, and its memory in bytes at regular times."""

    output: str
    processor_seconds: float
    samples: list[tuple[float, int]]


def run_watched(command: list[str]) -> ProcessUsage:
    """Runs a command and measures it. Raises `CalledProcessError` with the command's messages if the command fails."""
    samples: list[tuple[float, int]] = []
    seconds_by_process: dict[int, float] = {}
    earlier_seconds, start_time = _child_seconds(), time.monotonic()
    with tempfile.TemporaryFile("w+") as output, tempfile.TemporaryFile("w+") as errors:
        with subprocess.Popen(command, stdout=output, stderr=errors) as process:
            while process.poll() is None:
                pids = list(_process_tree(process.pid))
                samples.append((time.monotonic() - start_time, sum(map(_resident_bytes, pids))))
                seconds_by_process.update(
                    (pid, max(seconds_by_process.get(pid, 0.0), _processor_seconds(pid))) for pid in pids
                )
                time.sleep(SAMPLE_SECONDS)
        output.seek(0)
        errors.seek(0)
        if process.returncode:
            raise subprocess.CalledProcessError(process.returncode, command, stderr=errors.read())
        # Some commands start processes without waiting for them to end. The samples include the time of these
        # processes, except the time after the last sample.
        return ProcessUsage(
            output.read(), max(_child_seconds() - earlier_seconds, sum(seconds_by_process.values())), samples
        )


def _child_seconds() -> float:
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return children.ru_utime + children.ru_stime


def _process_tree(pid: int) -> Iterator[int]:
    yield pid
    for child in _read_proc_file(pid, f"task/{pid}/children").split():
        yield from _process_tree(int(child))


def _resident_bytes(pid: int) -> int:
    """Returns the bytes of a process that are in memory. Memory that processes share is counted once for each
    process."""
    fields = _read_proc_file(pid, "statm").split()
    return int(fields[1]) * os.sysconf("SC_PAGE_SIZE") if fields else 0


def _processor_seconds(pid: int) -> float:
    fields = _read_proc_file(pid, "stat").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS_PER_SECOND if fields else 0.0


def _read_proc_file(pid: int, name: str) -> str:
    """Reads a file of a process in /proc; returns an empty text if the process has ended."""
    try:
        return Path(f"/proc/{pid}/{name}").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return ""
