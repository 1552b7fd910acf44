"""Writing files so that a reader never sees half of one."""

from __future__ import annotations

import os
import secrets
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
        is_file = target.is_file() or not target.exists()
        temporary = target.with_name(f".{target.name}.{secrets.token_hex(4)}") if is_file else None
        file = open(temporary, "x+b") if temporary else open(target, "wb")  # noqa: SIM115
    except OSError as error:
        raise _not_written(error, path) from error
    if temporary is None:
        with file:
            yield file
        return
    try:
        with file:
            yield file
        os.replace(temporary, target)
    except BaseException as error:
        os.unlink(temporary)
        # Another file's error, raised while this one was being written, keeps its name.
        if isinstance(error, OSError) and error.filename in (None, str(temporary)):
            raise _not_written(error, path) from error
        raise


def _not_written(error: OSError, path: Path) -> FileError:
    return FileError(error.errno, f"cannot write: {error.strerror}", str(path))
