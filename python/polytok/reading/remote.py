"""Files that fsspec opens: s3://, gs://, http://, memory:// and any other protocol that it has a package for.

fsspec handles credentials (environment variables, its own configuration files): they never pass through this module,
and are never written anywhere.
"""

from __future__ import annotations

import errno
import importlib
import io
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO, Any, cast

from ..errors import ArgumentError, FileError, PolytokError

_READ_AHEAD = 1 << 23

# What distinguishes versions of a file, the most reliable first; each store has some of them.
_STAMPS = (
    "etag", "ETag", "md5Hash", "Content-MD5", "content_md5", "Digest", "generation", "version_id", "LastModified",
    "last_modified", "Last-Modified", "mtime", "updated", "modified", "created",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Url(os.PathLike[str]):
    """A URL that can be passed as a path."""

    url: str

    def __fspath__(self) -> str:
        return self.url


def _filesystem(url: str) -> tuple[Any, str]:
    try:
        core = importlib.import_module("fsspec.core")
    except ImportError as error:
        raise ArgumentError(f"{url} is not on this machine: pip install 'polytok[remote]' to read it") from error
    try:
        return cast("tuple[Any, str]", core.url_to_fs(url))
    except (ImportError, ValueError) as error:
        raise ArgumentError(f"{url} cannot be opened: {error}") from error


def canonical(url: str) -> str:
    """The canonical form of a URL that can be written in several ways."""
    if "::" in url:
        return url
    files, path = _filesystem(url)
    return cast("str", files.unstrip_protocol(path))


def matching(url: str) -> list[str] | None:
    """The files that match a pattern, sorted; None if it is not a pattern. A question mark in an http URL is not a
    pattern.
    """
    magic = "*" if url.startswith("http") else "*?["
    if "::" in url or not any(sign in url for sign in magic):
        return None
    files, path = _filesystem(url)
    try:
        return sorted(files.unstrip_protocol(found) for found in files.glob(path) if not files.isdir(found))
    except Exception as error:
        raise _refused(url, error) from error


def facts(url: str, *, anew: bool = False) -> tuple[int, str]:
    """A file's size, 0 if it is unknown, and a stamp that distinguishes it from other versions.

    The files of a pattern were just listed, so they are not queried one by one, unless ``anew`` is set.
    """
    files, path = _filesystem(url)
    try:
        if anew:
            files.invalidate_cache(path)
            files.invalidate_cache(files._parent(path))
        info = files.info(path)
        stamp = next((f"{key}={info[key]}" for key in _STAMPS if info.get(key) is not None), None)
        stamp = stamp or f"ukey={files.ukey(path)}"
    except Exception as error:
        raise _refused(url, error) from error
    if info.get("type") == "directory":
        raise FileError(errno.EISDIR, "is a folder: give a pattern", url)
    return info.get("size") or 0, stamp


def takes_ranges(url: str) -> bool:
    """Whether a file can be read from any position. Only web servers need a test: it requests the file's last byte."""
    if not url.startswith("http"):
        return True
    size, _ = facts(url)
    files, path = _filesystem(url)
    try:
        with files.open(path, "rb", block_size=1, cache_type="none") as file:
            file.seek(max(size - 1, 0))
            return size > 1 and len(file.read(1)) == 1
    except Exception:
        return False


def open_url(url: str, *, ranges: bool) -> IO[bytes]:
    """Open a file for reading, with seeking or as a stream."""
    files, path = _filesystem(url)
    try:
        if ranges:
            return cast("IO[bytes]", files.open(path, "rb", block_size=_READ_AHEAD))
        return cast("IO[bytes]", _Stream(files.open(path, "rb", block_size=0)))
    except Exception as error:
        raise _refused(url, error) from error


class _Stream(io.RawIOBase):
    """A file that cannot seek, and reports so."""

    def __init__(self, file: Any) -> None:
        self._file = file

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        return cast("bytes", self._file.read(size))

    def close(self) -> None:
        self._file.close()
        super().close()


@contextmanager
def reading(url: str) -> Iterator[None]:
    """Raise errors of a store during reading as ours."""
    try:
        yield
    except PolytokError:
        raise
    except Exception as error:
        raise _refused(url, error) from error


def _refused(url: str, error: Exception) -> FileError:
    """An error of ours. The packages that fsspec uses raise errors of any type."""
    if isinstance(error, FileNotFoundError):
        return FileError(errno.ENOENT, f"cannot read: {os.strerror(errno.ENOENT)}", url)
    number = getattr(error, "errno", None) or errno.EIO
    return FileError(number, f"cannot read: {getattr(error, 'strerror', None) or error or type(error).__name__}", url)
