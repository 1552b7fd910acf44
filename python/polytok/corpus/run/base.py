"""What a runner is: something that has tasks done, wherever, in whatever order, and tells how far they are.

A task is a pure function of data that JSON can hold, so that a runner knows nothing of what is done, and doing a task
twice, or on another machine, changes nothing.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias, cast

from ... import errors
from ...errors import PolytokError

ATTEMPTS = 3
"""How often a task is begun whose workers die."""

Tell: TypeAlias = Callable[[int, int, int], object]
"""Is told how far a task is: documents, tokens, bytes of text."""

DoTask: TypeAlias = Callable[[dict[str, Any], Tell], dict[str, Any]]
"""Does a task and gives its record."""


@dataclass(frozen=True, slots=True)
class Work:
    """What all tasks have in common: ``prepare``, as "module:function", makes of ``setup`` what does the tasks."""

    prepare: str
    setup: dict[str, Any]

    def prepared(self) -> DoTask:
        """What does the tasks."""
        module, function = self.prepare.split(":")
        return cast("DoTask", getattr(importlib.import_module(module), function)(self.setup))


@dataclass(frozen=True, slots=True)
class Assignment:
    """A task to be done. ``size`` is how much work it is, in any unit."""

    number: int
    size: int
    description: dict[str, Any]

    def __str__(self) -> str:
        return f"task {self.number}"


@dataclass(frozen=True, slots=True)
class Progress:
    """A task is so far."""

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
    """A task is begun again, for what did it has died."""

    number: int
    attempt: int
    reason: str


Event: TypeAlias = Progress | Done | Retried
Listener: TypeAlias = Callable[[Event], object]


class Runner(Protocol):
    """Has tasks done."""

    def run(
        self, work: Work, assignments: Sequence[Assignment], listen: Listener, inherited: Sequence[int] = ()
    ) -> None:
        """Return when all are done; what a task raises is raised here, and ends the others.

        ``inherited`` are open files that workers of this machine hold as long as they live.
        """


def longest_first(assignments: Sequence[Assignment]) -> list[Assignment]:
    """The order in which workers that take one after the other are done soonest."""
    return sorted(assignments, key=lambda assignment: (-assignment.size, assignment.number))


def lost(assignment: Assignment, reason: str) -> PolytokError:
    """The error of a task that nobody survives."""
    return PolytokError(
        f"{assignment} ended its worker {ATTEMPTS} times, the last time by {reason}. If that is for want of memory, "
        "use fewer workers or a smaller shard size; tasks that are done stay done"
    )


def error_to_plain(error: BaseException) -> dict[str, Any]:
    """An error as JSON has it."""
    details = (
        [error.errno, error.strerror, error.filename]
        if isinstance(error, OSError)
        else [str(error) if isinstance(error, PolytokError) else f"{type(error).__name__}: {error}"]
    )
    return {"class": type(error).__name__, "details": details}


def error_from_plain(plain: dict[str, Any]) -> Exception:
    """The error of which `error_to_plain` made this; one that is none of polytok's is a PolytokError."""
    found = getattr(errors, str(plain["class"]), None)
    if isinstance(found, type) and issubclass(found, PolytokError):
        return found(*plain["details"])
    if len(plain["details"]) == 3:
        return OSError(*plain["details"])
    return PolytokError(*plain["details"])
