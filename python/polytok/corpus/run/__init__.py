"""The runners, which distribute the tasks of a job to processes or machines. Each runner has its own file."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import Literal, TypeAlias

from ...errors import ArgumentError
from ...keywords import keyword
from .base import Runner
from .local import LocalRunner
from .ray import RayRunner

RunnerName: TypeAlias = Literal["local", "ray"]
"""The name of a runner."""

RUNNERS: dict[str, Callable[[int | None], Runner]] = {"local": LocalRunner, "ray": RayRunner}
"""The classes of runners by name; the argument is the number of workers, or None for the default."""


def create_runner(name: str, workers: int | None, places: Iterable[str]) -> Runner:
    """Returns a runner for tasks that read and write at ``places``, which are paths or URLs.

    Raises `ArgumentError` for an unknown name, for less than one worker, for a place that the workers cannot access,
    and on Windows.
    """
    if os.name != "posix":
        raise ArgumentError("jobs over corpora run on Linux and macOS; on Windows, run them in WSL")
    if name not in RUNNERS:
        raise ArgumentError(f"unknown {keyword('runner', name)}: choose one of {', '.join(map(repr, RUNNERS))}")
    if workers is not None and (not isinstance(workers, int) or workers < 1):
        raise ArgumentError(f"{keyword('workers', workers)} is not a whole number from 1 on")
    if any(place.startswith("memory://") for place in places):
        if name != "local":
            raise ArgumentError(
                f"other processes cannot access memory:// of this process: choose {keyword('runner', 'local')}"
            )
        workers = 1
    return RUNNERS[name](workers)


__all__ = ["RUNNERS", "RunnerName", "create_runner"]
