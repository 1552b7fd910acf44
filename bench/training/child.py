"""One training in a process of its own: ``python -m bench.training.child KIND ENGINE PATH THREADS`` prints figures."""

from __future__ import annotations

import hashlib
import json
import resource
import sys
import time
from pathlib import Path

from .trainers import KINDS


def main() -> None:
    kind, engine, path, threads = sys.argv[1:]
    train = KINDS[kind][engine]
    started, used = time.perf_counter(), time.process_time()
    entries = train(Path(path), int(threads))
    seconds, processor = time.perf_counter() - started, time.process_time() - used
    digest = hashlib.sha256(b"\0".join(sorted(entries))).hexdigest()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    print(json.dumps([seconds, processor, peak, len(entries), digest]))


if __name__ == "__main__":
    main()
