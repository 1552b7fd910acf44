"""One job at a time in a folder.

The lock is one of the system's on an open file, which processes that inherit the file hold too: workers that outlive
their job for a moment still keep others out. It ends with the last of them, whatever happens. Object stores have none,
nor have some file systems that machines share.
"""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ..errors import ArgumentError, FileError

try:
    import fcntl
except ImportError:  # Windows, where no job runs, but datasets are read
    fcntl = None  # type: ignore[assignment]

NAME = ".lock"

_NO_LOCKS = (errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP)
_PATIENCE = 5.0
_PAUSE = 0.05


@contextmanager
def locked(folder: Path) -> Iterator[int]:
    """Hold the folder's lock; gives the open file that it is on. ArgumentError if another job does not let go of it."""
    deadline = time.monotonic() + _PATIENCE
    while (file := _taken(folder / NAME)) is None:
        if time.monotonic() > deadline:
            raise ArgumentError(f"another job is writing to {folder}: wait until it is done, or end it")
        time.sleep(_PAUSE)
    try:
        yield file
    finally:
        (folder / NAME).unlink(missing_ok=True)
        os.close(file)


def _taken(path: Path) -> int | None:
    try:
        # A link could lead out of the folder, where a file would be made and left.
        file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o666)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise FileError(error.errno, "this is a link, and not the lock of a job: remove it", str(path)) from error
        raise FileError(error.errno, f"cannot write: {error.strerror}", str(path)) from error
    if _locks(file) and _is_there(path, file):
        return file
    os.close(file)
    return None


def _locks(file: int) -> bool:
    """Lock an open file; False if another process holds the lock. Where the file system has no locks there is none."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:
        if error.errno not in _NO_LOCKS:
            raise
    return True


def _is_there(path: Path, file: int) -> bool:
    """Whether the file that was opened is still that of the path: who held the lock before has removed it."""
    try:
        return os.path.samestat(os.lstat(path), os.fstat(file))
    except FileNotFoundError:
        return False
