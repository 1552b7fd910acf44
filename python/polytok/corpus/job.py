"""A job: a plan, tasks done by a runner, and a manifest; what is done is found again, whatever ended the job before.

It knows nothing of what its tasks do. The folder looks the same in the end, byte for byte, whoever did the tasks, in
whatever order, and however often the job was begun.
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
    """The tasks that are to be done, and the records of those that an earlier run did."""

    left: tuple[Assignment, ...]
    records: Records


@dataclass(frozen=True, slots=True)
class Verified:
    """So many of the tasks that an earlier run did are verified."""

    tasks: int
    of: int


JobEvent: TypeAlias = Event | Begun | Verified


@dataclass(frozen=True, slots=True)
class Job:
    """What is to be done, and where it is written.

    ``header`` says what the job is: the same command in a folder goes on only if it is the same; where it has no
    ``tasks``, these are the descriptions. ``manifest`` makes of
    all records the data of the file that says that all is done. ``work`` is told in its setup which job it is of, by
    the name ``job``, for the records of its tasks.
    """

    storage: Storage
    work: Work
    header: dict[str, Any]
    assignments: tuple[Assignment, ...]
    manifest: Callable[[Records], bytes]
    tokenizer: bytes | None = None

    def run(self, runner: Runner, *, overwrite: bool = False, listen: Callable[[JobEvent], object]) -> dict[str, Any]:
        """Do what is left to be done, and give the manifest.

        Raises `ArgumentError` if the folder has another job, unless it may be overwritten, or if another process
        writes to it; and what a task raises.
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
                journal.clean(count, records)  # of what workers left that have died
                journal.finish(self.manifest(records), records)
            journal.tidy(count)
            return journal.finished() or {}

    def _begin(self, journal: Journal, overwrite: bool) -> str:
        """Write the plan, or go on with the one that is there. A job that has done nothing yet may become another.

        Gives what tells the job from others.
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
