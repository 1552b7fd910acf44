"""Shows the progress of a job, with a progress bar or function, and a log of events as lines of JSON."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from typing import IO, Any

from ..progress import ProgressBar, ReportProgress
from .job import AlreadyFinishedEvent, JobEvent, JobStartEvent, VerifyProgressEvent
from .run.base import TaskDoneEvent, TaskProgressEvent, TaskRetryEvent

_LOG_SECONDS = 1.0  # the minimum time between two events of progress in the log


class ProgressMonitor:
    """Receives the events of a job and shows its progress, which includes the tasks that an earlier run has done.

    The bar shows the bytes of input read so far. A running task reports only bytes of text, which differ from bytes of
    input if the input is compressed. So the ratio of input bytes to text bytes is estimated from finished tasks.
    """

    def __init__(self, stage: str, report_progress: ReportProgress | None, log_file: IO[str] | None) -> None:
        self._stage = stage
        self._report_progress = report_progress
        self._log_file = log_file
        self._start_time = self._last_log_time = time.monotonic()
        self._input_sizes: dict[int, int] = {}
        self._running_counts: dict[int, tuple[int, int, int]] = {}
        self._finished_counts = (0, 0, 0)
        self._finished_input_size = 0
        self._total_input_size = 0
        self._text_size_before = 0  # of the earlier runs, which do not count for the speed
        self.was_finished = False
        """Whether an earlier run had finished the job."""

    def __call__(self, event: JobEvent) -> None:
        """Shows an event."""
        if isinstance(event, VerifyProgressEvent):
            if self._report_progress is not None:
                self._report_progress("verifying shards", event.verified_count, event.total)
            return
        if isinstance(event, AlreadyFinishedEvent):
            self.was_finished = True
            self.log("begin", tasks=event.tasks, done_before=event.tasks)
            return
        if isinstance(event, JobStartEvent):
            self._begin(event)
        elif isinstance(event, TaskProgressEvent):
            self._running_counts[event.number] = (event.documents, event.tokens, event.bytes)
        elif isinstance(event, TaskRetryEvent):
            self.log("retry", task=event.number, attempt=event.attempt, reason=event.reason)
        else:
            self._add_finished_task(event)
        self._show_progress()

    def _begin(self, event: JobStartEvent) -> None:
        self._input_sizes = {assignment.number: assignment.size for assignment in event.remaining_assignments}
        self._finished_input_size = event.size_done
        self._total_input_size = event.size_done + sum(self._input_sizes.values())
        self._finished_counts = _sum_counts([self._finished_counts, *map(_record_counts, event.records.values())])
        self._text_size_before = self._finished_counts[2]
        self.log("begin", tasks=len(event.remaining_assignments) + len(event.records), done_before=len(event.records))

    def _add_finished_task(self, event: TaskDoneEvent) -> None:
        self._running_counts.pop(event.number, None)
        self._finished_counts = _sum_counts([self._finished_counts, _record_counts(event.record)])
        self._finished_input_size += self._input_sizes.get(event.number, 0)
        details = {name: value for name, value in event.record.items() if name not in ("files", "sources", "number")}
        self.log("task", task=event.number, **details)

    def _show_progress(self) -> None:
        documents, tokens, size = _sum_counts([self._finished_counts, *self._running_counts.values()])
        seconds = time.monotonic() - self._start_time
        if self._report_progress is not None:
            if isinstance(self._report_progress, ProgressBar):
                token_text = f"{tokens / 1e6:,.1f} M tokens, " if tokens else ""
                speed = (size - self._text_size_before) / 1e6 / max(seconds, 1e-3)
                self._report_progress.detail = f"{documents:,} documents, {token_text}{speed:,.1f} MB/s"
            done = self._finished_input_size + self._estimate_running_size()
            self._report_progress(self._stage, done, self._total_input_size)
        if time.monotonic() - self._last_log_time >= _LOG_SECONDS:
            self._last_log_time = time.monotonic()
            self.log("progress", documents=documents, tokens=tokens, text_bytes=size)

    def _estimate_running_size(self) -> int:
        """Returns an estimate of the bytes of input that the running tasks have read."""
        input_per_text = (
            self._finished_input_size / self._finished_counts[2]
            if self._finished_input_size and self._finished_counts[2]
            else 1.0
        )
        return sum(
            min(int(size * input_per_text), self._input_sizes[number])
            for number, (_, _, size) in self._running_counts.items()
        )

    def log(self, event: str, **details: Any) -> None:
        """Writes an event to the log, if the caller has passed a log."""
        if self._log_file is not None:
            seconds = round(time.monotonic() - self._start_time, 3)
            self._log_file.write(json.dumps({"event": event, "seconds": seconds, **details}) + "\n")
            self._log_file.flush()


def _record_counts(record: Mapping[str, Any]) -> tuple[int, int, int]:
    """Returns the documents, tokens and bytes of text of a task."""
    return record.get("documents", 0), record.get("tokens", 0), record.get("text_bytes", 0)


def _sum_counts(counts: list[tuple[int, int, int]]) -> tuple[int, int, int]:
    documents, tokens, size = zip(*counts, strict=True)
    return sum(documents), sum(tokens), sum(size)
