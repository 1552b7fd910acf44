"""Runners: they decide who does the tasks of a job, and where. One file per runner, one table naming them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable

from ...errors import ArgumentError
from .base import Runner
from .local import LocalRunner
from .ray import RayRunner

RUNNERS: dict[str, Callable[[int | None], Runner]] = {"local": LocalRunner, "ray": RayRunner}
"""The runners by name; each is created with the number of workers, if it is given."""


def runner(name: str, workers: int | None, places: Iterable[str]) -> Runner:
    """The runner of this name, for tasks that read and write at these places.

    Raises `ArgumentError` if there is no such runner, for less than one worker, if it cannot reach a place, and on
    Windows.
    """
    if os.name != "posix":
        raise ArgumentError("jobs over corpora run on Linux and macOS; on Windows, run them in WSL")
    if name not in RUNNERS:
        raise ArgumentError(f"runner={name!r} is none of {', '.join(map(repr, RUNNERS))}")
    if workers is not None and (not isinstance(workers, int) or workers < 1):
        raise ArgumentError(f"workers={workers!r} is no whole number from 1 on")
    if any(place.startswith("memory://") for place in places):
        if name != "local":
            raise ArgumentError("memory:// is within this process, where no other gets at it: choose runner='local'")
        workers = 1
    return RUNNERS[name](workers)


__all__ = ["RUNNERS", "runner"]
