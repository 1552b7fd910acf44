"""How much memory a process and those it started have while it runs: Linux only."""

from __future__ import annotations

import subprocess
import tempfile
import time
from pathlib import Path

EVERY = 0.25


def watched(command: list[str]) -> tuple[str, list[tuple[float, int]]]:
    """The output of a command, and pairs of seconds and bytes. CalledProcessError if it fails."""
    samples: list[tuple[float, int]] = []
    started = time.monotonic()
    with tempfile.TemporaryFile("w+") as output, tempfile.TemporaryFile("w+") as errors:
        with subprocess.Popen(command, stdout=output, stderr=errors) as process:
            while process.poll() is None:
                samples.append((time.monotonic() - started, resident(process.pid)))
                time.sleep(EVERY)
        output.seek(0)
        errors.seek(0)
        if process.returncode:
            raise subprocess.CalledProcessError(process.returncode, command, stderr=errors.read())
        return output.read(), samples


def resident(pid: int) -> int:
    """Bytes of a process and of those below it; each counts what they share."""
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except (FileNotFoundError, ProcessLookupError, IndexError):
        return 0
    return 4096 * pages + sum(resident(int(child)) for child in children)
