"""A job: a plan, tasks done by a runner, and a manifest. A job that was interrupted in any way resumes where it
stopped.

This module does not know what its tasks do. The finished folder is the same, byte for byte, regardless of who did the
tasks, in what order, and how often the job was restarted.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

from .journal import Journal, identity
from .run.base import Assignment, Done, Event, Runner, Work
from .storage import Storage

Records: TypeAlias = "dict[int, dict[str, Any]]"


@dataclass(frozen=True, slots=True)
class Begun:
    """The tasks still to do, and the records of those that an earlier run did."""

    left: tuple[Assignment, ...]
    records: Records


@dataclass(frozen=True, slots=True)
class Verified:
    """The number of an earlier run's tasks that are verified so far."""

    tasks: int
    of: int


JobEvent: TypeAlias = Event | Begun | Verified


@dataclass(frozen=True, slots=True)
class Job:
    """What is to be done, and where it is written.

    ``header`` identifies the job: a command resumes the job in a folder only if the headers are equal. If it has no
    ``tasks``, the descriptions are used. ``manifest`` converts all records to the data of the file that marks the job
    as done. The setup of ``work`` contains the job's identity as ``job``, for the records of its tasks.
    """

    storage: Storage
    work: Work
    header: dict[str, Any]
    assignments: tuple[Assignment, ...]
    manifest: Callable[[Records], bytes]
    tokenizer: bytes | None = None

    def run(self, runner: Runner, *, overwrite: bool = False, listen: Callable[[JobEvent], object]) -> dict[str, Any]:
        """Do the remaining tasks and return the manifest.

        Raises `ArgumentError` if the folder has another job, unless ``overwrite`` is set, or if another process is
        writing to it; and any error that a task raises.
        """
        with self.storage.locked() as lock:
            journal = Journal(self.storage)
            count, job = len(self.assignments), self._begin(journal, overwrite)
            if journal.finished() is None:
                records = journal.done(job, count, lambda tasks, of: listen(Verified(tasks, of)))
                journal.clean(count, records)
                work = Work(self.work.prepare, {**self.work.setup, "job": job})
                self._do(work, records, runner, listen, () if lock is None else (lock,))
                journal.check_alone(job)
                journal.clean(count, records)  # removes files left by workers that died
                journal.finish(self.manifest(records), records)
            journal.tidy(count)
            return journal.finished() or {}

    def _begin(self, journal: Journal, overwrite: bool) -> str:
        """Write the plan, or resume the existing one. A job that has done nothing yet can be replaced by another.

        Returns the identity of the job.
        """
        plan = dict(self.header)
        plan.setdefault("tasks", [assignment.description for assignment in self.assignments])
        old = None if overwrite and journal.overwrite() else journal.plan()
        found = [] if old is None else journal.differences(old, plan)
        if found and journal.has_done_something():
            raise journal.refusal(found)
        if found:
            journal.overwrite()
        if found or old is None:
            journal.begin(plan)
        if self.tokenizer is not None:
            journal.keep(self.tokenizer)
        return identity(plan)

    def _do(
        self,
        work: Work,
        records: Records,
        runner: Runner,
        listen: Callable[[JobEvent], object],
        inherited: tuple[int, ...],
    ) -> None:
        left = tuple(assignment for assignment in self.assignments if assignment.number not in records)

        def heard(event: Event) -> None:
            if isinstance(event, Done):
                records[event.number] = event.record
            listen(event)

        listen(Begun(left, dict(records)))
        runner.run(work, left, heard, inherited)
