"""Reports how much of a job is done."""

from __future__ import annotations

import errno
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..checked import checked
from ..errors import FileError
from .journal import Journal
from .lock import is_locked
from .manifest import DocumentCounts, load, local_path, total
from .storage import FolderStorage


@dataclass(frozen=True, slots=True)
class JobStatus:
    """The finished part of a job: its tasks, the bytes of input in these tasks, and the counts of their documents.

    ``running`` is true if a process of this machine is doing the job now; object stores do not show that. ``plan`` is
    the plan of the job as a JSON value, with the options and the inputs.
    """

    tasks: int
    tasks_done: int
    input_bytes: int
    input_bytes_done: int
    documents: int
    tokens: int
    text_bytes: int
    running: bool
    plan: Mapping[str, Any] = field(repr=False)

    def to_json(self) -> dict[str, int]:
        """Returns the numbers as a JSON value."""
        return {name: getattr(self, name) for name in self.__slots__ if name != "plan"}


@checked()
def job_status(folder: str | os.PathLike[str]) -> JobStatus:
    """Returns how much of the job in ``folder`` is done, also if all of it is. The files of finished tasks are not
    verified.

    Raises `FileError` if the folder has no job, `ArgumentError` if it has other files, and `FormatError` if the
    manifest of a finished job is damaged.
    """
    path = local_path(folder)
    journal = Journal(FolderStorage(path))
    plan = journal.read_plan()
    if plan is None:
        raise FileError(errno.ENOENT, "no job has written this folder", str(path))
    sizes = {task["number"]: _task_bytes(task) for task in plan["tasks"]}
    if journal.is_unfinished():
        records = journal.read_records(plan)
        tasks_done, counts = list(records), total(map(_record_counts, records.values()))
    else:  # a finished job has no records anymore
        tasks_done, counts = list(sizes), load(path).totals
    return JobStatus(
        tasks=len(sizes),
        tasks_done=len(tasks_done),
        input_bytes=sum(sizes.values()),
        input_bytes_done=sum(map(sizes.__getitem__, tasks_done)),
        documents=counts.documents,
        tokens=counts.tokens,
        text_bytes=counts.text_bytes,
        running=is_locked(path),
        plan=plan,
    )


def has_unfinished_job(folder: Path) -> bool:
    """Reports whether a folder has the plan of a job, but no manifest."""
    return Journal(FolderStorage(folder)).is_unfinished()


def _task_bytes(task: Mapping[str, Any]) -> int:
    return sum(part["bytes"] for part in task.get("parts", ()))


def _record_counts(record: Mapping[str, Any]) -> DocumentCounts:
    """Returns the counts in the record of a task; those that tasks of this kind do not count are 0."""
    return DocumentCounts(*(record.get(name, 0) for name in ("documents", "tokens", "text_bytes")))
