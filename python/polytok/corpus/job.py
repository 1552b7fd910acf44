"""A job: a plan, tasks that a runner does, and a manifest. An interrupted job continues with its remaining tasks.

This module does not depend on what the tasks do. The finished folder is the same, byte for byte, for any runner, any
order of the tasks, and any number of interruptions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from .journal import Journal, job_identity
from .run.base import Assignment, Runner, RunnerEvent, TaskDoneEvent, TaskProgram
from .storage import Storage

Records: TypeAlias = "dict[int, dict[str, Any]]"


@dataclass(frozen=True, slots=True)
class JobStartEvent:
    """The event at the start of a run: the remaining tasks, and the records of tasks that an earlier run has done.

    ``size_done`` is the sum of the sizes of the tasks that are done.
    """

    remaining_assignments: tuple[Assignment, ...]
    records: Records
    size_done: int


@dataclass(frozen=True, slots=True)
class VerifyProgressEvent:
    """The event while the tasks of an earlier run are verified: the counts of verified tasks and of all tasks."""

    verified_count: int
    total: int


@dataclass(frozen=True, slots=True)
class AlreadyFinishedEvent:
    """The event of a run that finds the job finished and does nothing; ``tasks`` is the number of tasks of the job."""

    tasks: int


JobEvent: TypeAlias = RunnerEvent | JobStartEvent | VerifyProgressEvent | AlreadyFinishedEvent


@dataclass(frozen=True, slots=True)
class Job:
    """The tasks of a job, and the storage for the files of the job.

    ``header`` identifies the job: a command resumes the job in a folder only if the headers are equal. If the header
    has no field ``tasks``, the descriptions of the assignments are added. ``manifest`` converts the records of all
    tasks to the content of the manifest, which marks the job as done. `run` adds the job's identity to the setup of
    ``program`` as the field ``job``. ``tokenizer`` is the content of a tokenizer file to store in the folder, unless
    the folder has a file for which ``is_same_tokenizer`` returns true. ``final_assignments`` are tasks that read the
    files of all ``assignments``; their numbers follow.
    """

    storage: Storage
    program: TaskProgram
    header: dict[str, Any]
    assignments: tuple[Assignment, ...]
    manifest: Callable[[Records], bytes]
    tokenizer: bytes | None = None
    is_same_tokenizer: Callable[[bytes], bool] = lambda _: False
    final_assignments: tuple[Assignment, ...] = ()

    @property
    def _all_assignments(self) -> tuple[Assignment, ...]:
        return (*self.assignments, *self.final_assignments)

    def run(self, runner: Runner, *, overwrite: bool = False, on_event: Callable[[JobEvent], object]) -> dict[str, Any]:
        """Does the remaining tasks with ``runner`` and returns the manifest. ``on_event`` is called with each event.

        Raises `ArgumentError` if another process writes to the folder, or if the folder has another job and
        ``overwrite`` is not set. Also raises any error of a task; if no task is done then, the files of the job are
        removed.
        """
        with self.storage.hold_lock() as lock_descriptor:
            journal = Journal(self.storage)
            identity = self._write_or_check_plan(journal, overwrite)
            if journal.read_manifest() is None:
                inherited_files = () if lock_descriptor is None else (lock_descriptor,)
                try:
                    self._finish(journal, identity, runner, on_event, inherited_files)
                except Exception:
                    journal.remove_job_without_results(identity)
                    raise
            else:
                on_event(AlreadyFinishedEvent(len(self._all_assignments)))
            journal.remove_records(len(self._all_assignments))
            return journal.read_manifest() or {}

    def _finish(
        self,
        journal: Journal,
        identity: str,
        runner: Runner,
        on_event: Callable[[JobEvent], object],
        inherited_files: tuple[int, ...],
    ) -> None:
        """Does the remaining tasks and writes the manifest."""
        task_count = len(self._all_assignments)
        records = journal.verify_records(
            identity,
            task_count,
            lambda done_count, total_count: on_event(VerifyProgressEvent(done_count, total_count)),
        )
        if self.storage.has_lock:  # without a lock, another run of the same job can have just written these files
            journal.remove_unrecorded_files(task_count, records)
        program = TaskProgram(self.program.prepare, {**self.program.setup, "job": identity})
        self._do_remaining(program, records, runner, on_event, inherited_files)
        journal.check_identity(identity)
        journal.remove_unrecorded_files(task_count, records)  # workers that died can have left files
        result_assignments = self.final_assignments or self.assignments
        results = {assignment.number: records[assignment.number] for assignment in result_assignments}
        journal.write_manifest(self.manifest(records), results)

    def _write_or_check_plan(self, journal: Journal, overwrite: bool) -> str:
        """Writes the plan, or checks that the existing plan is equal. Returns the identity of the job.

        The plan of another job is replaced if no task of that job is done, and the lock shows that it does not run.
        """
        plan = dict(self.header)
        plan.setdefault("tasks", [assignment.description for assignment in self._all_assignments])
        stored_plan = None if overwrite and journal.remove_job() else journal.read_plan()
        if stored_plan is None and not journal.create_plan(plan):
            stored_plan = journal.read_plan()  # another job has just begun
        differences = [] if stored_plan is None else journal.differences(stored_plan, plan)
        if differences and (journal.has_results() or not self.storage.has_lock):
            raise journal.create_other_job_error(differences)
        if differences:
            journal.remove_job()
            journal.create_plan(plan)
        if self.tokenizer is not None:
            journal.store_tokenizer(self.tokenizer, self.is_same_tokenizer)
        return job_identity(plan)

    def _do_remaining(
        self,
        program: TaskProgram,
        records: Records,
        runner: Runner,
        on_event: Callable[[JobEvent], object],
        inherited_files: tuple[int, ...],
    ) -> None:
        remaining_assignments = self._remaining(self._all_assignments, records)

        def add_record(event: RunnerEvent) -> None:
            if isinstance(event, TaskDoneEvent):
                records[event.number] = event.record
            on_event(event)

        sizes_done = (assignment.size for assignment in self._all_assignments if assignment.number in records)
        on_event(JobStartEvent(remaining_assignments, dict(records), sum(sizes_done)))
        for assignments in (self.assignments, self.final_assignments):
            if stage_assignments := self._remaining(assignments, records):
                runner.run(program, stage_assignments, add_record, inherited_files)

    def _remaining(self, assignments: Sequence[Assignment], records: Records) -> tuple[Assignment, ...]:
        return tuple(assignment for assignment in assignments if assignment.number not in records)
