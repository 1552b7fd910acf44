"""A job: a plan, tasks that a runner does, and a manifest. An interrupted job continues with its remaining tasks.

This module does not depend on what the tasks do. The finished folder is the same, byte for byte, for any runner, any
order of the tasks, and any number of interruptions.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

from .journal import Journal, identity
from .run.base import Assignment, Runner, RunnerEvent, TaskDone, Work
from .storage import Storage

Records: TypeAlias = "dict[int, dict[str, Any]]"


@dataclass(frozen=True, slots=True)
class JobBegun:
    """The event at the start of a run: the remaining tasks, and the records of tasks that an earlier run has done."""

    remaining: tuple[Assignment, ...]
    records: Records


@dataclass(frozen=True, slots=True)
class VerifyProgress:
    """The event while the tasks of an earlier run are verified: the counts of verified tasks and of all tasks."""

    verified_count: int
    total: int


JobEvent: TypeAlias = RunnerEvent | JobBegun | VerifyProgress


@dataclass(frozen=True, slots=True)
class Job:
    """The tasks of a job, and the storage for the files of the job.

    ``header`` identifies the job: a command resumes the job in a folder only if the headers are equal. If the header
    has no field ``tasks``, the descriptions of the assignments are added. ``manifest`` converts the records of all
    tasks to the content of the manifest, which marks the job as done. `run` adds the job's identity to the setup of
    ``work`` as the field ``job``. ``tokenizer`` is the content of a tokenizer file to store in the folder.
    """

    storage: Storage
    work: Work
    header: dict[str, Any]
    assignments: tuple[Assignment, ...]
    manifest: Callable[[Records], bytes]
    tokenizer: bytes | None = None

    def run(self, runner: Runner, *, overwrite: bool = False, listen: Callable[[JobEvent], object]) -> dict[str, Any]:
        """Does the remaining tasks with ``runner`` and returns the manifest. ``listen`` is called with each event.

        Raises `ArgumentError` if another process writes to the folder, or if the folder has another job and
        ``overwrite`` is not set. Also raises any error of a task.
        """
        with self.storage.hold_lock() as lock:
            journal = Journal(self.storage)
            count, job = len(self.assignments), self._begin(journal, overwrite)
            if journal.finished() is None:
                records = journal.verify_records(
                    job, count, lambda done_count, total_count: listen(VerifyProgress(done_count, total_count))
                )
                journal.remove_unrecorded_files(count, records)
                work = Work(self.work.prepare, {**self.work.setup, "job": job})
                self._do_remaining(work, records, runner, listen, () if lock is None else (lock,))
                journal.check_identity(job)
                journal.remove_unrecorded_files(count, records)  # workers that died can have left files
                journal.finish(self.manifest(records), records)
            journal.remove_records(count)
            return journal.finished() or {}

    def _begin(self, journal: Journal, overwrite: bool) -> str:
        """Writes the plan, or checks that the existing plan is equal. Returns the identity of the job.

        The plan of another job is replaced if no task of that job is done.
        """
        plan = dict(self.header)
        plan.setdefault("tasks", [assignment.description for assignment in self.assignments])
        old_plan = None if overwrite and journal.overwrite() else journal.plan()
        differences = [] if old_plan is None else journal.differences(old_plan, plan)
        if differences and journal.has_results():
            raise journal.other_job_error(differences)
        if differences:
            journal.overwrite()
        if differences or old_plan is None:
            journal.begin(plan)
        if self.tokenizer is not None:
            journal.store_tokenizer(self.tokenizer)
        return identity(plan)

    def _do_remaining(
        self,
        work: Work,
        records: Records,
        runner: Runner,
        listen: Callable[[JobEvent], object],
        inherited_files: tuple[int, ...],
    ) -> None:
        remaining = tuple(assignment for assignment in self.assignments if assignment.number not in records)

        def add_record(event: RunnerEvent) -> None:
            if isinstance(event, TaskDone):
                records[event.number] = event.record
            listen(event)

        listen(JobBegun(remaining, dict(records)))
        runner.run(work, remaining, add_record, inherited_files)
