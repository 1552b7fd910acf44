"""Prepares a process for forking."""

from __future__ import annotations

import os
import sys
from functools import cache

from . import _core


@cache
def load_numpy_before_fork() -> None:
    """Loads numpy before each fork of a process in which several threads run.

    numpy is imported when a thread first needs an array. If the process forked meanwhile, the child would wait forever
    for the end of this import, which holds two locks: that of the import, and that of the engine's access to numpy.
    """
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(before=_load_numpy_if_threads_run)


def _load_numpy_if_threads_run() -> None:
    if len(sys._current_frames()) > 1:
        _core.load_numpy()
