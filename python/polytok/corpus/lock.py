"""Locks a folder, so that only one job at a time writes to it.

The lock belongs to an open file, which worker processes inherit. So other jobs cannot write while a worker of a killed
job still runs. The system releases the lock when the last process that has the file open ends, even if that process is
killed. Object stores and some shared file systems have no locks. On Windows, workers cannot inherit the lock, so they
do not prevent other jobs after their own job was killed.
"""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from ..errors import ArgumentError, FileError
from ..files import create_folder

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

LOCK_NAME = ".lock"

_UNSUPPORTED_ERRORS = (errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP)
_TIMEOUT_SECONDS = 5.0
_RETRY_SECONDS = 0.05
# A symbolic link could create the lock file outside the folder. Windows lacks this flag.
_NO_FOLLOW = getattr(os, "O_NOFOLLOW", 0)


@contextmanager
def hold_lock(folder: Path) -> Iterator[int | None]:
    """Holds the lock of ``folder`` and yields the descriptor of the lock file for workers to inherit, or None if the
    system does not support this. Creates the folder if it is missing.

    Raises `ArgumentError` if another job still holds the lock after some seconds, and `FileError` if the lock file
    cannot be created.
    """
    deadline = time.monotonic() + _TIMEOUT_SECONDS
    while (descriptor := _open_and_lock(folder / LOCK_NAME)) is None:
        if time.monotonic() > deadline:
            raise ArgumentError(f"another job is writing to {folder}: wait until that job is done, or stop it")
        time.sleep(_RETRY_SECONDS)
    try:
        yield None if fcntl is None else descriptor
    finally:
        if fcntl is None:  # Windows does not remove an open file, or one that another process opens now
            os.close(descriptor)
            with suppress(OSError):
                (folder / LOCK_NAME).unlink()
        else:
            (folder / LOCK_NAME).unlink(missing_ok=True)
            os.close(descriptor)


def is_locked(folder: Path) -> bool:
    """Reports whether a job holds the lock of ``folder``."""
    try:
        descriptor = os.open(folder / LOCK_NAME, os.O_RDONLY | _NO_FOLLOW)
    except OSError:
        return False
    try:
        return not _try_lock(descriptor, is_shared=True)
    finally:
        os.close(descriptor)


def _open_and_lock(path: Path) -> int | None:
    """Returns the descriptor of the locked file; None if another process holds the lock, or has just removed the
    folder."""
    create_folder(path.parent)
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | _NO_FOLLOW, 0o666)
    except FileNotFoundError:
        return None
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise FileError(
                error.errno, "this is a symbolic link, not the lock file of a job: remove it", str(path)
            ) from error
        raise FileError(error.errno, f"cannot write: {error.strerror}", str(path)) from error
    if _try_lock(descriptor) and _is_same_file(path, descriptor):
        return descriptor
    os.close(descriptor)
    return None


def _try_lock(descriptor: int, *, is_shared: bool = False) -> bool:
    """Tries to lock an open file; returns False if another process holds the lock."""
    if fcntl is None:
        return _try_lock_byte(descriptor)
    try:
        fcntl.flock(descriptor, (fcntl.LOCK_SH if is_shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:
        if error.errno not in _UNSUPPORTED_ERRORS:
            raise
    return True


def _try_lock_byte(descriptor: int) -> bool:
    """Does the work of `_try_lock` on Windows, where closing the file releases the lock."""
    import msvcrt

    try:
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
    except PermissionError:
        return False
    return True


def _is_same_file(path: Path, descriptor: int) -> bool:
    """Reports whether ``path`` still names the open file. The previous holder of the lock can have removed the file."""
    try:
        return os.path.samestat(os.lstat(path), os.fstat(descriptor))
    except FileNotFoundError:
        return False
