"""Does tasks on a Ray cluster: an existing cluster, or a temporary cluster on this machine.

Each task is a Ray task that returns its record. If a node dies, Ray restarts its tasks on other nodes. All nodes must
be able to write to the output, which is a shared folder or an object store.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from ...errors import PolytokError
from ...extras import import_extra
from ...keywords import keyword
from .base import (
    MAX_ATTEMPTS,
    Assignment,
    Listener,
    TaskDoneEvent,
    TaskFunction,
    TaskProgram,
    create_worker_death_error,
    error_from_json,
    error_to_json,
    sort_longest_first,
)

_MAX_SUBMITTED_TASKS = 1000


class RayRunner:
    """Does tasks on the nodes of a cluster, at most ``workers`` at a time."""

    def __init__(self, workers: int | None = None) -> None:
        self._workers = workers

    def run(
        self,
        program: TaskProgram,
        assignments: Sequence[Assignment],
        listen: Listener,
        inherited_files: Sequence[int] = (),
    ) -> None:
        """Does all tasks and returns. The first error of a task is raised here and stops the other tasks."""
        with _connect(self._workers) as ray:
            do_task = ray.remote(max_retries=MAX_ATTEMPTS - 1, scheduling_strategy="SPREAD")(_do_task)
            pending = sort_longest_first(assignments)[::-1]
            submitted_tasks: dict[Any, Assignment] = {}
            try:
                while pending or submitted_tasks:
                    while pending and len(submitted_tasks) < (self._workers or _MAX_SUBMITTED_TASKS):
                        assignment = pending.pop()
                        submitted_tasks[do_task.remote(program, assignment.description)] = assignment
                    for reference in ray.wait(list(submitted_tasks))[0]:
                        assignment = submitted_tasks.pop(reference)
                        listen(TaskDoneEvent(assignment.number, _fetch_record(ray, reference, assignment)))
            finally:
                for reference in submitted_tasks:
                    ray.cancel(reference, force=True)


def _do_task(program: TaskProgram, description: dict[str, Any]) -> dict[str, Any]:
    """Does a task on a node. Returns the record, or an error as a JSON value, because Ray would wrap an exception."""
    try:
        return {"done": _task_function(program.prepare, json.dumps(program.setup))(description, lambda *_: None)}
    except (PolytokError, OSError, MemoryError) as error:
        return {"error": error_to_json(error)}


@functools.lru_cache(maxsize=1)
def _task_function(prepare: str, setup: str) -> TaskFunction:
    """Returns the function that does the tasks. A process builds this function once for all of its tasks."""
    return TaskProgram(prepare, json.loads(setup)).task_function()


def _fetch_record(ray: Any, reference: Any, assignment: Assignment) -> dict[str, Any]:
    try:
        answer = ray.get(reference)
    except ray.exceptions.RayTaskError:
        raise
    except ray.exceptions.RayError as error:
        raise create_worker_death_error(assignment, type(error).__name__) from error
    if "error" in answer:
        raise error_from_json(answer["error"])
    record: dict[str, Any] = answer["done"]
    return record


@contextmanager
def _connect(workers: int | None) -> Iterator[Any]:
    """Connects to a Ray cluster and yields the module ray. A cluster that was started here ends with the job."""
    ray = import_extra("ray", "ray", keyword("runner", "ray"))
    if ray.is_initialized():
        yield ray
        return
    quiet_options: dict[str, Any] = {"logging_level": "ERROR", "log_to_driver": False}
    try:
        ray.init(address="auto", **quiet_options)
    except ConnectionError:
        ray.init(num_cpus=workers, include_dashboard=False, **quiet_options)
    try:
        yield ray
    finally:
        ray.shutdown()
