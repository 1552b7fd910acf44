"""The interface of a runner: it has tasks done anywhere and in any order, and reports their progress.

A task is a pure function of JSON data. So a runner need not know what a task does, and doing a task twice, or on
another machine, changes nothing.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias, cast

from ... import errors
from ...errors import PolytokError

ATTEMPTS = 3
"""The number of times a task is begun if its workers keep dying."""

Tell: TypeAlias = Callable[[int, int, int], object]
"""Receives the progress of a task: documents, tokens, bytes of text."""

DoTask: TypeAlias = Callable[[dict[str, Any], Tell], dict[str, Any]]
"""Does a task and returns its record."""


@dataclass(frozen=True, slots=True)
class Work:
    """What all tasks have in common: ``prepare``, as "module:function", converts ``setup`` to the function that does
    them.
    """

    prepare: str
    setup: dict[str, Any]

    def prepared(self) -> DoTask:
        """Build the function that does the tasks."""
        module, function = self.prepare.split(":")
        return cast("DoTask", getattr(importlib.import_module(module), function)(self.setup))


@dataclass(frozen=True, slots=True)
class Assignment:
    """A task to do. ``size`` is the amount of work, in any unit."""

    number: int
    size: int
    description: dict[str, Any]

    def __str__(self) -> str:
        return f"task {self.number}"


@dataclass(frozen=True, slots=True)
class Progress:
    """The progress of a task."""

    number: int
    documents: int
    tokens: int
    bytes: int


@dataclass(frozen=True, slots=True)
class Done:
    """A task is done."""

    number: int
    record: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Retried:
    """A task is restarted, because its worker died."""

    number: int
    attempt: int
    reason: str


Event: TypeAlias = Progress | Done | Retried
Listener: TypeAlias = Callable[[Event], object]


class Runner(Protocol):
    """Has tasks done by workers."""

    def run(
        self, work: Work, assignments: Sequence[Assignment], listen: Listener, inherited: Sequence[int] = ()
    ) -> None:
        """Return when all tasks are done. The first error of a task is raised here and ends the others.

        ``inherited`` are open files that workers of this machine hold for as long as they live.
        """


def longest_first(assignments: Sequence[Assignment]) -> list[Assignment]:
    """The order of tasks that finishes soonest if each free worker takes the next one."""
    return sorted(assignments, key=lambda assignment: (-assignment.size, assignment.number))


def lost(assignment: Assignment, reason: str) -> PolytokError:
    """The error of a task whose workers all died."""
    return PolytokError(
        f"{assignment} ended its worker {ATTEMPTS} times, the last time by {reason}. If that is for want of memory, "
        "use fewer workers or a smaller shard size; tasks that are done stay done"
    )


def error_to_plain(error: BaseException) -> dict[str, Any]:
    """Convert an error to a JSON value."""
    details = (
        [error.errno, error.strerror, error.filename]
        if isinstance(error, OSError)
        else [str(error) if isinstance(error, PolytokError) else f"{type(error).__name__}: {error}"]
    )
    return {"class": type(error).__name__, "details": details}


def error_from_plain(plain: dict[str, Any]) -> Exception:
    """The error that `error_to_plain` serialized; an error that is not one of polytok's becomes a PolytokError."""
    found = getattr(errors, str(plain["class"]), None)
    if isinstance(found, type) and issubclass(found, PolytokError):
        return found(*plain["details"])
    if len(plain["details"]) == 3:
        return OSError(*plain["details"])
    return PolytokError(*plain["details"])
