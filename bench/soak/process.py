"""What the system says about this process: memory, threads and open files (Linux)."""

from __future__ import annotations

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


def threads() -> int:
    return len(list((_SELF / "task").iterdir()))


def open_files() -> int:
    return len(list((_SELF / "fd").iterdir()))
