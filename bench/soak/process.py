"""What the system says about this process: memory, threads and open files (Linux)."""

from __future__ import annotations

import ctypes
import os
from pathlib import Path

_SELF = Path("/proc/self")
_PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096


def is_known() -> bool:
    """Reports whether the system describes this process."""
    return (_SELF / "statm").exists()


def memory_bytes() -> int:
    """Returns the resident memory that belongs to this process alone; pages of mapped files are not counted."""
    _, resident, shared, *_ = map(int, (_SELF / "statm").read_text().split())
    return (resident - shared) * _PAGE


class _HeapState(ctypes.Structure):
    """The structure ``mallinfo2`` of glibc (mallinfo(3))."""

    _names = ("arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks", "uordblks", "fordblks", "keepcost")
    _fields_ = [(name, ctypes.c_size_t) for name in _names]


def live_bytes() -> int:
    """Returns the bytes of the C heap that are allocated, so without its gaps. Python's small objects are elsewhere.

    Without glibc 2.33 or newer, returns `memory_bytes`.
    """
    try:
        heap_state = ctypes.CDLL(None).mallinfo2
    except AttributeError:
        return memory_bytes()
    heap_state.restype = _HeapState
    state = heap_state()
    return int(state.uordblks + state.hblkhd)


def threads() -> int:
    return len(list((_SELF / "task").iterdir()))


def open_files() -> int:
    return len(list((_SELF / "fd").iterdir()))
