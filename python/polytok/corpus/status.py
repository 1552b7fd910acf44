"""Reports how much of an unfinished job is done."""

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
from .manifest import local_path
from .storage import FolderStorage


@dataclass(frozen=True, slots=True)
class JobStatus:
    """The finished part of a job: its tasks, the bytes of input in these tasks, and the counts of their documents.

    ``plan`` is the plan of the job as a JSON value, with the options and the inputs.
    """

    tasks: int
    tasks_done: int
    input_bytes: int
    input_bytes_done: int
    documents: int
    tokens: int
    text_bytes: int
    plan: Mapping[str, Any] = field(repr=False)

    def to_json(self) -> dict[str, int]:
        """Returns the numbers as a JSON value."""
        return {name: getattr(self, name) for name in self.__slots__ if name != "plan"}


@checked()
def job_status(folder: str | os.PathLike[str]) -> JobStatus:
    """Returns how much of the unfinished job in ``folder`` is done. The files of finished tasks are not verified.

    Raises `FileError` if the folder has no job, and `ArgumentError` if it has other files.
    """
    path = local_path(folder)
    journal = Journal(FolderStorage(path))
    plan = journal.read_plan()
    if plan is None:
        raise FileError(errno.ENOENT, "no dataset and no unfinished job in this folder", str(path))
    records = journal.read_records(plan)
    sizes = {task["number"]: _task_bytes(task) for task in plan["tasks"]}
    return JobStatus(
        tasks=len(sizes),
        tasks_done=len(records),
        input_bytes=sum(sizes.values()),
        input_bytes_done=sum(map(sizes.__getitem__, records)),
        documents=_sum_field("documents", records),
        tokens=_sum_field("tokens", records),
        text_bytes=_sum_field("text_bytes", records),
        plan=plan,
    )


def has_unfinished_job(folder: Path) -> bool:
    """Reports whether a folder has the plan of a job, but no manifest."""
    return Journal(FolderStorage(folder)).is_unfinished()


def _task_bytes(task: Mapping[str, Any]) -> int:
    return sum(part["bytes"] for part in task.get("parts", ()))


def _sum_field(name: str, records: Mapping[int, Mapping[str, Any]]) -> int:
    return sum(record.get(name, 0) for record in records.values())
