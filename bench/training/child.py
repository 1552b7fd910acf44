"""Runs one training and prints its figures: ``python -m bench.training.child KIND ENGINE PATH THREADS``."""

from __future__ import annotations

import hashlib
import json
import resource
import sys
import time
from pathlib import Path

from .trainers import TRAINERS_BY_KIND


def main() -> None:
    kind, engine, path, threads = sys.argv[1:]
    train = TRAINERS_BY_KIND[kind][engine]
    start_time, start_processor_time = time.perf_counter(), time.process_time()
    entries = train(Path(path), int(threads))
    seconds, processor_seconds = time.perf_counter() - start_time, time.process_time() - start_processor_time
    digest = hashlib.sha256(b"\0".join(sorted(entries))).hexdigest()
    print(json.dumps([seconds, processor_seconds, peak_memory(), len(entries), digest]))


def peak_memory() -> int:
    """Returns the peak memory of this process in bytes. On Linux, getrusage would include the parent process."""
    status_file = Path("/proc/self/status")
    if not status_file.exists():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return 1024 * next(
        int(line.split()[1]) for line in status_file.read_text().splitlines() if line.startswith("VmHWM")
    )


if __name__ == "__main__":
    main()
