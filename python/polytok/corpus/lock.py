"""One job at a time in a folder.

The system holds the lock on an open file, and so do processes that inherit the file: workers that briefly outlive their
job still keep others out. The lock ends with the last of these processes, however it ends. Object stores and some
shared file systems have no locks.
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
    """Hold the folder's lock and yield the open file it is on. ArgumentError if another job keeps holding it."""
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
        # A link could lead out of the folder, and the lock file would then be created and left there.
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
    """Lock an open file. Returns False if another process holds the lock. Does nothing without file system locks."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:
        if error.errno not in _NO_LOCKS:
            raise
    return True


def _is_there(path: Path, file: int) -> bool:
    """Whether the path still names the open file: a previous holder of the lock can have removed it."""
    try:
        return os.path.samestat(os.lstat(path), os.fstat(file))
    except FileNotFoundError:
        return False
