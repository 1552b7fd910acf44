"""The interface of a runner, which does tasks in other processes or on other machines, in any order, and reports
progress.

A task is a pure function of a JSON value. So a runner does not depend on what a task does, and the result is the same
if a task is done twice or on another machine.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias, cast

from ... import errors
from ...errors import PolytokError
from ...keywords import marked_message

MAX_ATTEMPTS = 3
"""The maximum number of attempts at a task whose workers die."""

ProgressFunction: TypeAlias = Callable[[int, int, int], object]
"""A function that is called with the progress of a task: the numbers of documents, tokens and bytes of text."""

TaskFunction: TypeAlias = Callable[[dict[str, Any], ProgressFunction], dict[str, Any]]
"""A function that does the task with a description, reports its progress, and returns its record."""


@dataclass(frozen=True, slots=True)
class TaskProgram:
    """The code and settings that all tasks of a job share.

    ``prepare`` names a function in the form "module:function". That function receives ``setup``, a JSON value, and
    returns the function that does the tasks.
    """

    prepare: str
    setup: dict[str, Any]

    def task_function(self) -> TaskFunction:
        """Returns the function that does the tasks."""
        module, function = self.prepare.split(":")
        return cast("TaskFunction", getattr(importlib.import_module(module), function)(self.setup))


@dataclass(frozen=True, slots=True)
class Assignment:
    """A task to do. ``size`` is the amount of work in any unit; larger tasks are begun first."""

    number: int
    size: int
    description: dict[str, Any]

    def __str__(self) -> str:
        return f"task {self.number}"


@dataclass(frozen=True, slots=True)
class TaskProgressEvent:
    """The event of progress in a task: the counts of documents, tokens and bytes of text done so far."""

    number: int
    documents: int
    tokens: int
    bytes: int


@dataclass(frozen=True, slots=True)
class TaskDoneEvent:
    """The event of a finished task, with its record."""

    number: int
    record: dict[str, Any]


@dataclass(frozen=True, slots=True)
class TaskRetryEvent:
    """The event of a task that is restarted because its worker died. ``attempt`` is the number of the new attempt."""

    number: int
    attempt: int
    reason: str


RunnerEvent: TypeAlias = TaskProgressEvent | TaskDoneEvent | TaskRetryEvent
Listener: TypeAlias = Callable[[RunnerEvent], object]


class Runner(Protocol):
    """Distributes tasks to workers."""

    def run(
        self,
        program: TaskProgram,
        assignments: Sequence[Assignment],
        listen: Listener,
        inherited_files: Sequence[int] = (),
    ) -> None:
        """Does all tasks, calls ``listen`` with each event, and returns when all tasks are done.

        The first error of a task is raised here and stops the other tasks. ``inherited_files`` are descriptors of open
        files that workers on this machine keep open until they end.
        """


def sort_longest_first(assignments: Sequence[Assignment]) -> list[Assignment]:
    """Sorts tasks by decreasing size, so that no long task begins last while the other workers are idle."""
    return sorted(assignments, key=lambda assignment: (-assignment.size, assignment.number))


def create_worker_death_error(assignment: Assignment, reason: str) -> PolytokError:
    """Returns the error for a task whose workers all died."""
    return PolytokError(
        f"the worker of {assignment} died {MAX_ATTEMPTS} times, the last time with {reason}. If memory ran out, use "
        "fewer workers or a smaller shard size; the results of finished tasks are kept"
    )


def error_to_json(error: BaseException) -> dict[str, Any]:
    """Converts an error to a JSON value."""
    if isinstance(error, MemoryError):
        return {"class": "MemoryError", "details": [str(error)]}
    details = (
        [error.errno, error.strerror, error.filename]
        if isinstance(error, OSError)
        else [marked_message(error) if isinstance(error, PolytokError) else f"{type(error).__name__}: {error}"]
    )
    return {"class": type(error).__name__, "details": details}


def error_from_json(plain: dict[str, Any]) -> Exception:
    """Converts a value that `error_to_json` returned back to the error.

    An error of a class that is neither in `polytok.errors` nor an OSError nor a MemoryError is converted to a
    `PolytokError`.
    """
    if plain["class"] == "MemoryError":
        return MemoryError(*plain["details"])
    error_class = getattr(errors, str(plain["class"]), None)
    if isinstance(error_class, type) and issubclass(error_class, PolytokError):
        return error_class(*plain["details"])
    if len(plain["details"]) == 3:
        return OSError(*plain["details"])
    return PolytokError(*plain["details"])
