"""Shows a running job: the progress bar, and a log of events as lines of JSON."""

from __future__ import annotations

import json
import time
from typing import IO, Any

from ..progress import ProgressBar
from .job import Begun, JobEvent, Verified
from .run.base import Done, Progress, Retried

_EACH = 1.0


class Watch:
    """Receives the events of a job and shows its progress.

    A task reports what it has read of its input only as bytes of text. The number of bytes of text in all inputs is
    estimated from finished tasks, because inputs can be compressed.
    """

    def __init__(self, stage: str, bar: ProgressBar | None, log: IO[str] | None) -> None:
        self._stage = stage
        self._bar = bar
        self._log = log
        self._begun = self._logged = time.monotonic()
        self._sizes: dict[int, int] = {}
        self._running: dict[int, tuple[int, int, int]] = {}
        self._done = (0, 0, 0)
        self._done_size = 0

    def __call__(self, event: JobEvent) -> None:
        """Show the next event."""
        if isinstance(event, Verified):
            if self._bar is not None:
                self._bar("verifying shards", event.tasks, event.of)
            return
        if isinstance(event, Begun):
            self._sizes = {assignment.number: assignment.size for assignment in event.left}
            self.log("begin", tasks=len(event.left) + len(event.records), done_before=len(event.records))
        elif isinstance(event, Progress):
            self._running[event.number] = (event.documents, event.tokens, event.bytes)
        elif isinstance(event, Retried):
            self.log("retry", task=event.number, attempt=event.attempt, reason=event.reason)
        else:
            self._finished(event)
        self._show()

    def _finished(self, event: Done) -> None:
        self._running.pop(event.number, None)
        counted = tuple(event.record.get(name, 0) for name in ("documents", "tokens", "text_bytes"))
        self._done = _sum([self._done, counted])
        self._done_size += self._sizes.get(event.number, 0)
        shown = {name: value for name, value in event.record.items() if name not in ("files", "sources", "number")}
        self.log("task", task=event.number, **shown)

    def _show(self) -> None:
        documents, tokens, size = _sum([self._done, *self._running.values()])
        seconds = time.monotonic() - self._begun
        if self._bar is not None:
            rate = size / 1e6 / max(seconds, 1e-3)
            tokens_said = f"{tokens / 1e6:,.1f} M tokens, " if tokens else ""
            detail = f"{documents:,} documents, {tokens_said}{rate:,.1f} MB/s"
            self._bar(self._stage, self._done_size + self._running_size(), sum(self._sizes.values()), detail)
        if time.monotonic() - self._logged >= _EACH:
            self._logged = time.monotonic()
            self.log("progress", documents=documents, tokens=tokens, text_bytes=size)

    def _running_size(self) -> int:
        """About how much of the input the running tasks have read."""
        share = self._done_size / self._done[2] if self._done_size and self._done[2] else 1.0
        return sum(min(int(size * share), self._sizes[number]) for number, (_, _, size) in self._running.items())

    def log(self, event: str, **details: Any) -> None:
        """Write an event to the log."""
        if self._log is not None:
            seconds = round(time.monotonic() - self._begun, 3)
            self._log.write(json.dumps({"event": event, "seconds": seconds, **details}) + "\n")
            self._log.flush()


def _sum(counts: list[tuple[int, int, int]]) -> tuple[int, int, int]:
    documents, tokens, size = zip(*counts, strict=True)
    return sum(documents), sum(tokens), sum(size)
