"""Shows the progress of a job in a terminal."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import IO, TypeAlias

ReportProgress: TypeAlias = Callable[[str, int, int], object]
"""A function that receives the stage, the amount done, and the total (0 if unknown).

An exception that the function raises ends the job.
"""

_SECONDS_BETWEEN_UPDATES = 0.1
_BAR_WIDTH = 24
_SECONDS_BEFORE_ESTIMATE = 1.0


class ProgressBar:
    """A line in a terminal with the stage, the amount done, and the remaining time.

    >>> import io
    >>> out = io.StringIO()
    >>> with ProgressBar(out) as progress:
    ...     progress("merging", 1, 4)
    >>> "merging" in out.getvalue(), "25%" in out.getvalue()
    (True, True)
    """

    def __init__(self, out: IO[str] | None = None) -> None:
        self._out = sys.stderr if out is None else out
        self._stage = ""
        self._stage_start = 0.0
        self._done_before = 0  # at the start of the stage, by an earlier run
        self._last_update = 0.0
        self._line_length = 0
        self.detail = ""
        """A text to show at the end of the line."""

    def __enter__(self) -> ProgressBar:
        return self

    def __exit__(self, *exception: object) -> None:
        self.clear()

    def __call__(self, stage: str, done: int, total: int) -> None:
        """Shows the progress of the stage, at most ten times per second."""
        current_time = time.monotonic()
        if stage != self._stage:
            self._stage, self._stage_start, self._done_before = stage, current_time, done
        elif current_time - self._last_update < _SECONDS_BETWEEN_UPDATES and done != total:
            return
        self._last_update = current_time
        self._show(line(stage, done, total, current_time - self._stage_start, self.detail, self._done_before))

    def clear(self) -> None:
        """Removes the line."""
        if self._line_length:
            self._out.write("\r" + " " * self._line_length + "\r")
            self._out.flush()
        self._line_length = 0

    def _show(self, text: str) -> None:
        self._out.write("\r" + text.ljust(self._line_length))
        self._out.flush()
        self._line_length = len(text)


def progress_function(progress: bool | ReportProgress) -> AbstractContextManager[ReportProgress | None]:
    """Returns what the option ``progress`` selects, as a context manager: a bar on standard error for True, the
    caller's function, or None for False."""
    if progress is True:
        return ProgressBar()
    return nullcontext(progress or None)


def line(stage: str, done: int, total: int, seconds: float, detail: str = "", done_before: int = 0) -> str:
    """Returns the line to show. The remaining time is estimated without ``done_before``, the work of an earlier run.

    >>> line("merging", 50, 200, 10)
    'merging [######                  ]  25%, 0:30 left'
    >>> line("counting", 3_000_000, 0, 65)
    'counting: 3,000,000, 1:05'
    >>> line("tokenizing", 50, 200, 10, "7 documents")
    'tokenizing [######                  ]  25%, 0:30 left, 7 documents'
    >>> line("tokenizing", 150, 200, 10, done_before=100)
    'tokenizing [##################      ]  75%, 0:10 left'
    """
    suffix = f", {detail}" if detail else ""
    if not total:
        return f"{stage}: {done:,}, {clock(seconds)}{suffix}"
    fraction_done = min(done / total, 1)
    text = f"{stage} [{('#' * int(_BAR_WIDTH * fraction_done)).ljust(_BAR_WIDTH)}] {int(100 * fraction_done):3}%"
    if done > done_before and seconds >= _SECONDS_BEFORE_ESTIMATE:
        text += f", {clock(seconds * max(total - done, 0) / (done - done_before))} left"
    return text + suffix


def clock(seconds: float) -> str:
    """Returns a duration as text.

    >>> clock(65), clock(3600)
    ('1:05', '1:00:00')
    """
    minutes, remaining_seconds = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{remaining_seconds:02}" if hours else f"{minutes}:{remaining_seconds:02}"
