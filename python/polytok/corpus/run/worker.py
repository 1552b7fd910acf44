"""A worker process: reads tasks from standard input and writes their results to standard output, as lines of JSON.

The worker ends as soon as its standard input ends, even during a task, because the process that sends the tasks is then
done or dead.
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
from .base import ProgressFunction, TaskProgram, error_to_json

_REPORT_SECONDS = 0.2  # the minimum time between two reports of progress


def main() -> None:
    """Does tasks until standard input ends."""
    out = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # text that a library prints goes to standard error, because only messages go to standard output
    lines: queue.Queue[str] = queue.Queue()
    threading.Thread(target=_read_lines, args=(sys.stdin, lines), daemon=True).start()
    try:
        _do_tasks(lines, out)
    except BrokenPipeError:
        os._exit(1)


def _read_lines(source: IO[str], lines: queue.Queue[str]) -> None:
    for line in source:
        lines.put(line)
    os._exit(0)


def _do_tasks(lines: queue.Queue[str], out: IO[str]) -> None:
    try:
        first_message = json.loads(lines.get())
        do_task = TaskProgram(first_message["prepare"], first_message["setup"]).task_function()
        while True:
            task = json.loads(lines.get())
            _send_message(out, done=do_task(task, _progress_function(out)))
    except BrokenPipeError:
        raise
    except BaseException as error:
        if not isinstance(error, (PolytokError, OSError, MemoryError)):
            traceback.print_exc()  # an unexpected error is a bug, and its traceback helps to find it
        _send_message(out, error=error_to_json(error))


def _progress_function(out: IO[str]) -> ProgressFunction:
    """Returns a function that writes the progress of a task, at most five times a second."""
    last_report_time = time.monotonic()

    def report_progress(documents: int, tokens: int, size: int) -> None:
        nonlocal last_report_time
        if (current_time := time.monotonic()) - last_report_time >= _REPORT_SECONDS:
            last_report_time = current_time
            _send_message(out, progress=[documents, tokens, size])

    return report_progress


def _send_message(out: IO[str], **message: Any) -> None:
    out.write(json.dumps(message) + "\n")
