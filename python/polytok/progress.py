"""Shows people the progress of some work."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import IO, TypeAlias

Report: TypeAlias = Callable[[str, int, int], object]
"""Receives the stage, the amount done, and the total (0 if it is unknown). An exception that it raises ends the work.
"""

_EACH = 0.1
_WIDTH = 24
_SETTLING = 1.0


class ProgressBar:
    """A line in a terminal that shows the stage, the amount done, and the remaining time.

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
        self._begun = 0.0
        self._shown = 0.0
        self._length = 0

    def __enter__(self) -> ProgressBar:
        return self

    def __exit__(self, *exception: object) -> None:
        self.clear()

    def __call__(self, stage: str, done: int, of: int, detail: str = "") -> None:
        """Show the progress of the stage, unless the last update was just before. ``detail`` is appended."""
        now = time.monotonic()
        if stage != self._stage:
            self._stage, self._begun = stage, now
        elif now - self._shown < _EACH and done != of:
            return
        self._shown = now
        self._show(line(stage, done, of, now - self._begun, detail))

    def clear(self) -> None:
        """Remove the line."""
        if self._length:
            self._out.write("\r" + " " * self._length + "\r")
            self._out.flush()
        self._length = 0

    def _show(self, text: str) -> None:
        self._out.write("\r" + text.ljust(self._length))
        self._out.flush()
        self._length = len(text)


def line(stage: str, done: int, of: int, seconds: float, detail: str = "") -> str:
    """The line to show.

    >>> line("merging", 50, 200, 10)
    'merging [######                  ]  25%, 0:30 left'
    >>> line("counting", 3_000_000, 0, 65)
    'counting: 3,000,000, 1:05'
    >>> line("tokenizing", 50, 200, 10, "7 documents")
    'tokenizing [######                  ]  25%, 0:30 left, 7 documents'
    """
    behind = f", {detail}" if detail else ""
    if not of:
        return f"{stage}: {done:,}, {clock(seconds)}{behind}"
    share = min(done / of, 1)
    text = f"{stage} [{('#' * int(_WIDTH * share)).ljust(_WIDTH)}] {int(100 * share):3}%"
    if share and seconds >= _SETTLING:
        text += f", {clock(seconds / share - seconds)} left"
    return text + behind


def clock(seconds: float) -> str:
    """A duration in readable form.

    >>> clock(65), clock(3600)
    ('1:05', '1:00:00')
    """
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
