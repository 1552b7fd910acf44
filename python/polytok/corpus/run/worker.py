"""A worker process: takes tasks from standard input, a line of JSON each, and tells on standard output what becomes of
them.

It ends as soon as its standard input does, in the middle of a task too: then whoever gave the tasks is done, or dead.
"""

from __future__ import annotations

import json
import os
import queue
import sys
import threading
import time
import traceback
from typing import IO, Any

from ...errors import PolytokError
from .base import Tell, Work, error_to_plain

_EACH = 0.2


def main() -> None:
    """Run until standard input ends."""
    out = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # What a library prints is no message.
    lines: queue.Queue[str] = queue.Queue()
    threading.Thread(target=_take, args=(sys.stdin, lines), daemon=True).start()
    try:
        _serve(lines, out)
    except BrokenPipeError:
        os._exit(1)


def _take(source: IO[str], lines: queue.Queue[str]) -> None:
    for line in source:
        lines.put(line)
    os._exit(0)


def _serve(lines: queue.Queue[str], out: IO[str]) -> None:
    try:
        first = json.loads(lines.get())
        do_task = Work(first["prepare"], first["setup"]).prepared()
        while True:
            task = json.loads(lines.get())
            _send(out, done=do_task(task, _teller(out)))
    except BrokenPipeError:
        raise
    except BaseException as error:
        if not isinstance(error, (PolytokError, OSError)):
            traceback.print_exc()  # for what is a mistake of ours, more than its message
        _send(out, error=error_to_plain(error))


def _teller(out: IO[str]) -> Tell:
    """Tells how far a task is, but not more often than anybody looks."""
    told = time.monotonic()

    def tell(documents: int, tokens: int, size: int) -> None:
        nonlocal told
        if (now := time.monotonic()) - told >= _EACH:
            told = now
            _send(out, progress=[documents, tokens, size])

    return tell


def _send(out: IO[str], **message: Any) -> None:
    out.write(json.dumps(message) + "\n")
