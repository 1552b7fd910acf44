"""The memory that work can use, and the number of processors for it."""

from __future__ import annotations

import os
import re

from . import _core
from .checks import number
from .errors import ArgumentError

_UNITS = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}
_FEWEST_BYTES = 2**24
_MOST_BYTES = 2**62


def memory_size(text: str) -> int:
    """Parse a readable number of bytes.

    >>> memory_size("512M"), memory_size("1.5g")
    (536870912, 1610612736)
    """
    found = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)\s*([KMGT]?)(?:i?B)?", text.strip(), re.IGNORECASE)
    if found is None:
        raise ArgumentError(f"{text!r} is no size of memory: write 512M or 2G")
    size = float(found[1]) * _UNITS[found[2].upper()]
    if size > _MOST_BYTES:
        raise ArgumentError(f"{text!r} is more memory than any machine has")
    return int(size)


def checked_memory(max_memory: int | str | None) -> int | None:
    """The bytes of a limit, or None."""
    chosen = memory_size(max_memory) if isinstance(max_memory, str) else max_memory
    if chosen is None:
        return None
    number("max_memory", chosen, least=0, most=_MOST_BYTES)
    if chosen < _FEWEST_BYTES:
        raise ArgumentError("max_memory is less than 16M, which is too little to work with")
    return chosen


def room(max_memory: int | None) -> int | None:
    """The share of a limit that learning can use; the remainder is for Python, and for what is read and counted.

    >>> room(512 << 20) >> 20, room(64 << 20) >> 20
    (416, 32)
    """
    return None if max_memory is None else _core.training_room(max_memory)


def processors() -> int:
    """The number of processors that this process can use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
