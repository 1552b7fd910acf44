"""Opens URLs with fsspec: s3://, gs://, http://, memory:// and any other protocol with an installed package.

Web servers have limits of time, unless the configuration of fsspec has others: a server that sends nothing for a
minute, or hardly anything for five minutes, is an error. A file that arrives steadily can take any time.

fsspec reads credentials from environment variables or its configuration files. Credentials never pass through this
module and are never written anywhere.
"""

from __future__ import annotations

import errno
import importlib
import io
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO, Any, cast

from ..errors import ArgumentError, FileError, PolytokError
from ..extras import import_extra

_READ_AHEAD_BYTES = 1 << 23
_NOT_FOUND_STATUS = 404
_SILENT_SECONDS = 60.0
"""The time without data after which a web server has failed."""
_SLOW_SECONDS = 300.0
"""The time in which a request is answered, except a request for a whole file."""
_SLOW_BYTES = 2**16
"""The number of bytes that a whole file must bring while ``_SLOW_SECONDS`` are spent with waiting for them."""

# The names of attributes that differ between versions of a file, the most reliable first. Each store has only some of
# these attributes.
_VERSION_ATTRIBUTES = (
    "etag", "ETag", "md5Hash", "Content-MD5", "content_md5", "Digest", "generation", "version_id", "LastModified",
    "last_modified", "Last-Modified", "mtime", "updated", "modified", "created",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Url(os.PathLike[str]):
    """A URL that can be passed as a path-like object."""

    url: str

    def __fspath__(self) -> str:
        return self.url


def _filesystem(url: str, *, whole_file: bool = False) -> tuple[Any, str]:
    fsspec_core = import_extra("fsspec.core", "remote", f"reading the URL {url}")
    try:
        return cast("tuple[Any, str]", fsspec_core.url_to_fs(url, **_time_limits(url, whole_file=whole_file)))
    except (ImportError, ValueError) as error:
        raise ArgumentError(f"cannot open {url}: {error}") from error


def _time_limits(url: str, *, whole_file: bool) -> dict[str, Any]:
    """Returns the options of fsspec's file system that limit the time of requests to a web server."""
    if not url.startswith(("http://", "https://")) or "::" in url:
        return {}
    try:
        aiohttp = importlib.import_module("aiohttp")
    except ImportError:
        return {}  # fsspec says which package it needs
    configuration = importlib.import_module("fsspec.config").conf
    configured = {**configuration.get("http", {}), **configuration.get("https", {})}.get("client_kwargs", {})
    total = None if whole_file else _SLOW_SECONDS
    timeout = aiohttp.ClientTimeout(total=total, sock_connect=_SILENT_SECONDS, sock_read=_SILENT_SECONDS)
    return {"client_kwargs": {"timeout": timeout, **configured}}


def canonical_url(url: str) -> str:
    """Returns the canonical form of a URL, so that different spellings of the same URL can be compared."""
    if "::" in url:
        return url
    filesystem, path = _filesystem(url)
    return cast("str", filesystem.unstrip_protocol(path))


def matching_urls(url: str) -> list[str] | None:
    """Returns the URLs of the files that match a pattern, sorted; None if ``url`` is not a pattern.

    In http URLs, only ``*`` marks a pattern, because a question mark begins the query. Raises `FileError` if the store
    reports an error.
    """
    wildcards = "*" if url.startswith("http") else "*?["
    if "::" in url or not any(wildcard in url for wildcard in wildcards):
        return None
    filesystem, path = _filesystem(url)
    try:
        return sorted(
            filesystem.unstrip_protocol(match) for match in filesystem.glob(path) if not filesystem.isdir(match)
        )
    except Exception as error:
        raise _file_error(url, error) from error


def size_and_stamp(url: str, *, is_refreshed: bool = False) -> tuple[int, str]:
    """Returns the size of a file, 0 if it is unknown, and a text that differs between versions of the file.

    The values can come from fsspec's cache, which is filled when the files of a pattern are listed. With
    ``is_refreshed``, the cache is cleared first. Raises `FileError` if the store reports an error, and for a folder.
    """
    filesystem, path = _filesystem(url)
    try:
        if is_refreshed:
            filesystem.invalidate_cache(path)
            filesystem.invalidate_cache(filesystem._parent(path))
        file_info = filesystem.info(path)
        stamp = next((f"{key}={file_info[key]}" for key in _VERSION_ATTRIBUTES if file_info.get(key) is not None), None)
        stamp = stamp or f"ukey={filesystem.ukey(path)}"
    except Exception as error:
        raise _file_error(url, error) from error
    if file_info.get("type") == "directory":
        raise FileError(errno.EISDIR, "is a folder: name the files with a pattern", url)
    return file_info.get("size") or 0, stamp


def can_read_ranges(url: str) -> bool:
    """Reports whether a file can be read from any position. A web server is tested with a request for the last byte."""
    if not url.startswith("http"):
        return True
    size, _ = size_and_stamp(url)
    filesystem, path = _filesystem(url)
    try:
        with filesystem.open(path, "rb", block_size=1, cache_type="none") as file:
            file.seek(max(size - 1, 0))
            return size > 1 and len(file.read(1)) == 1
    except Exception:
        return False


def open_url(url: str, *, can_seek: bool) -> IO[bytes]:
    """Opens a file for reading: with seeking if ``can_seek``, otherwise as a stream. Raises `FileError`."""
    filesystem, path = _filesystem(url, whole_file=not can_seek)
    try:
        if can_seek:
            return cast("IO[bytes]", filesystem.open(path, "rb", block_size=_READ_AHEAD_BYTES))
        return cast("IO[bytes]", _UnseekableFile(filesystem.open(path, "rb", block_size=0)))
    except Exception as error:
        raise _file_error(url, error) from error


class _UnseekableFile(io.RawIOBase):
    """A file that reports that it cannot seek. Reading it raises an error if its data arrives too slowly."""

    def __init__(self, file: Any) -> None:
        self._file = file
        self._waited_seconds, self._arrived_bytes = 0.0, 0

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        start = time.monotonic()
        data = cast("bytes", self._file.read(size))
        self._waited_seconds += time.monotonic() - start
        self._arrived_bytes += len(data)
        if self._waited_seconds > _SLOW_SECONDS:
            if self._arrived_bytes < _SLOW_BYTES:
                raise TimeoutError(
                    f"only {self._arrived_bytes} bytes arrived in {self._waited_seconds:.0f} seconds; copy the file to "
                    "this machine"
                )
            self._waited_seconds, self._arrived_bytes = 0.0, 0
        return data

    def readinto(self, buffer: Any) -> int:
        data = self.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)

    def close(self) -> None:
        self._file.close()
        super().close()


@contextmanager
def translate_errors(url: str) -> Iterator[None]:
    """Raises any error of a store in this context as a `FileError`, except errors of polytok."""
    try:
        yield
    except PolytokError:
        raise
    except Exception as error:
        raise _file_error(url, error) from error


def _file_error(url: str, error: Exception) -> FileError:
    """Converts an error to a `FileError`. The packages that fsspec uses raise errors of any type.

    For web servers, fsspec raises a FileNotFoundError whatever the reason is; the reason is the cause of that error.
    """
    if url.startswith("http") and isinstance(error, FileNotFoundError) and isinstance(error.__cause__, Exception):
        error = error.__cause__
        if getattr(error, "status", None) == _NOT_FOUND_STATUS:
            error = FileNotFoundError()
    if isinstance(error, FileNotFoundError):
        return FileError(errno.ENOENT, f"cannot read: {os.strerror(errno.ENOENT)}", url)
    error_number = getattr(error, "errno", None) or errno.EIO
    return FileError(error_number, f"cannot read: {_reason(error)}", url)


def _reason(error: Exception) -> str:
    """Returns the reason of an error; errors of time limits have no text."""
    if text := getattr(error, "strerror", None) or str(error):
        return cast("str", text)
    name = type(error).__name__
    return f"the server did not answer in time ({name})" if name.endswith("TimeoutError") else name
