"""Tasks on a Ray cluster: an existing one, or a temporary one on this machine.

Each task is a Ray task that returns its record. If a node dies, Ray restarts its tasks elsewhere. The output goes to a
place that all nodes can write to: a shared folder, or an object store.
"""

from __future__ import annotations

import functools
import importlib
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from ...errors import ArgumentError, PolytokError
from .base import (
    ATTEMPTS,
    Assignment,
    Done,
    DoTask,
    Listener,
    Work,
    error_from_plain,
    error_to_plain,
    longest_first,
    lost,
)

_MOST_SUBMITTED = 1000


class RayRunner:
    """Does tasks on the nodes of a cluster, at most ``workers`` at a time."""

    def __init__(self, workers: int | None = None) -> None:
        self._workers = workers

    def run(
        self, work: Work, assignments: Sequence[Assignment], listen: Listener, inherited: Sequence[int] = ()
    ) -> None:
        """Return when all tasks are done. The first error of a task is raised here and ends the others."""
        with _connected(self._workers) as ray:
            do_task = ray.remote(max_retries=ATTEMPTS - 1, scheduling_strategy="SPREAD")(_do_task)
            waiting = longest_first(assignments)[::-1]
            submitted: dict[Any, Assignment] = {}
            try:
                while waiting or submitted:
                    while waiting and len(submitted) < (self._workers or _MOST_SUBMITTED):
                        assignment = waiting.pop()
                        submitted[do_task.remote(work, assignment.description)] = assignment
                    for reference in ray.wait(list(submitted))[0]:
                        assignment = submitted.pop(reference)
                        listen(Done(assignment.number, _record(ray, reference, assignment)))
            finally:
                for reference in submitted:
                    ray.cancel(reference, force=True)


def _do_task(work: Work, description: dict[str, Any]) -> dict[str, Any]:
    """The function that runs on a node. It returns errors as data, because Ray would wrap them."""
    try:
        return {"done": _prepared(work.prepare, json.dumps(work.setup))(description, lambda *_: None)}
    except (PolytokError, OSError) as error:
        return {"error": error_to_plain(error)}


@functools.lru_cache(maxsize=1)
def _prepared(prepare: str, setup: str) -> DoTask:
    """The function that does the tasks; built once per process, which does many of them."""
    return Work(prepare, json.loads(setup)).prepared()


def _record(ray: Any, reference: Any, assignment: Assignment) -> dict[str, Any]:
    try:
        answer = ray.get(reference)
    except ray.exceptions.RayTaskError:
        raise
    except ray.exceptions.RayError as error:
        raise lost(assignment, type(error).__name__) from error
    if "error" in answer:
        raise error_from_plain(answer["error"])
    record: dict[str, Any] = answer["done"]
    return record


@contextmanager
def _connected(workers: int | None) -> Iterator[Any]:
    """Ray, connected to a cluster. A cluster that was started here ends with the job."""
    try:
        ray = importlib.import_module("ray")
    except ImportError as error:
        raise ArgumentError("runner='ray' needs Ray: pip install 'polytok[ray]'") from error
    if ray.is_initialized():
        yield ray
        return
    quiet: dict[str, Any] = {"logging_level": "ERROR", "log_to_driver": False}
    try:
        ray.init(address="auto", **quiet)
    except ConnectionError:
        ray.init(num_cpus=workers, include_dashboard=False, **quiet)
    try:
        yield ray
    finally:
        ray.shutdown()
