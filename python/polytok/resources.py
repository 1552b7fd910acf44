"""The memory limit of a job, and the number of processors that a process can use."""

from __future__ import annotations

import os
import re
from contextlib import suppress

from . import _core
from .checks import number
from .errors import ArgumentError
from .keywords import keyword

_BYTES_OF_UNIT = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}
_MIN_MEMORY_BYTES = 2**24
_MAX_MEMORY_BYTES = 2**62


def memory_size(text: str) -> int:
    """Parses a number of bytes with a unit, such as ``512M``.

    >>> memory_size("512M"), memory_size("1.5g")
    (536870912, 1610612736)
    """
    match = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)\s*([KMGT]?)(?:i?B)?", text.strip(), re.IGNORECASE)
    if match is None:
        raise ArgumentError(f"{text!r} is not a size of memory; write for example 512M or 2G")
    size = float(match[1]) * _BYTES_OF_UNIT[match[2].upper()]
    if size > _MAX_MEMORY_BYTES:
        raise ArgumentError(f"{text!r} is larger than any memory; write for example 512M or 2G")
    return int(size)


def checked_memory(max_memory: int | str | None) -> int | None:
    """Returns a limit in bytes, or None; raises ArgumentError if the limit is not a valid size."""
    max_bytes = memory_size(max_memory) if isinstance(max_memory, str) else max_memory
    if max_bytes is None:
        return None
    number("max_memory", max_bytes, least=0, most=_MAX_MEMORY_BYTES)
    if max_bytes < _MIN_MEMORY_BYTES:
        raise ArgumentError(f"{keyword('max_memory')} is less than 16M, the smallest possible limit")
    return max_bytes


def room(max_memory: int | None) -> int | None:
    """Returns the part of a memory limit that learning can use; the other part is for Python, reading and counting.

    >>> room(512 << 20) >> 20, room(64 << 20) >> 20
    (416, 32)
    """
    return None if max_memory is None else _core.training_room(max_memory)


def processors() -> int:
    """Returns the number of processors that this process can use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def return_free_memory() -> None:
    """Gives memory that is no longer used back to the system, where the C library can (glibc)."""
    with suppress(ImportError, AttributeError, OSError, TypeError):  # other C libraries, a Python without ctypes
        import ctypes

        ctypes.CDLL(None).malloc_trim(0)
