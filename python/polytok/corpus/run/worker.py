"""A worker process: reads tasks from standard input, a line of JSON each, and reports their results on standard output.

It ends as soon as its standard input does, even during a task: the process that sent the tasks is then done or dead.
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
    os.dup2(2, 1)  # Text that a library prints is not a message.
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
            traceback.print_exc()  # a bug of ours needs more than its message
        _send(out, error=error_to_plain(error))


def _teller(out: IO[str]) -> Tell:
    """Reports the progress of a task, at most as often as it is displayed."""
    told = time.monotonic()

    def tell(documents: int, tokens: int, size: int) -> None:
        nonlocal told
        if (now := time.monotonic()) - told >= _EACH:
            told = now
            _send(out, progress=[documents, tokens, size])

    return tell


def _send(out: IO[str], **message: Any) -> None:
    out.write(json.dumps(message) + "\n")
