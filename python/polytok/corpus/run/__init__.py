"""Runners: who does the tasks of a job, and where. One file per runner, one table naming them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...errors import ArgumentError
from .base import Runner
from .local import LocalRunner

RUNNERS: dict[str, Callable[[int, Sequence[int]], Runner]] = {"local": LocalRunner}
"""The runners by name; each is made of the number of workers and the open files that these are to hold."""


def runner(name: str, workers: int, inherited: Sequence[int] = ()) -> Runner:
    """The runner of this name. Raises `ArgumentError` if there is none."""
    if name not in RUNNERS:
        raise ArgumentError(f"runner={name!r} is none of {', '.join(map(repr, RUNNERS))}")
    return RUNNERS[name](workers, inherited)


__all__ = ["RUNNERS", "runner"]
