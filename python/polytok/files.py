"""Writing files so that a reader never sees half of one."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from .errors import FileError


@contextmanager
def replacing(path: Path) -> Iterator[IO[bytes]]:
    """A binary file under a temporary name beside the target, renamed to it at the end and removed on any error.

    A target that is a device or a pipe is written as it is. Raises `FileError` where the system does not let it be
    written.
    """
    target = Path(os.path.realpath(path))
    try:
        if target.exists() and not target.is_file():
            with open(target, "wb") as file:
                yield file
            return
        handle, temporary = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    except OSError as error:
        raise _not_written(error, path) from error
    try:
        with os.fdopen(handle, "w+b") as file:
            yield file
        os.chmod(temporary, 0o666 & ~_umask())
        os.replace(temporary, target)
    except BaseException as error:
        os.unlink(temporary)
        # Another file's error, raised while this one was being written, keeps its name.
        if isinstance(error, OSError) and error.filename in (None, temporary):
            raise _not_written(error, path) from error
        raise


def _not_written(error: OSError, path: Path) -> FileError:
    return FileError(error.errno, f"cannot write: {error.strerror}", str(path))


def _umask() -> int:
    """The process's file mode mask, which can only be read by setting it."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
