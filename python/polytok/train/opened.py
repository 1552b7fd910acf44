"""Open files as streams of bytes: whatever is given as a file, at whatever place it stands, compressed or not."""

from __future__ import annotations

import bz2
import gzip
import importlib
import io
import lzma
from pathlib import Path
from typing import IO, Any, cast

from ..errors import ArgumentError, FormatError

GZIP, ZSTD, BZIP2, XZ = b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"BZh", b"\xfd7zXZ\x00"

# What is decompressed at once: a block that is one byte many times is 30,000 times as long as what stands for it.
_COMPRESSED = 1 << 13


def begun(file: Any, count: int) -> tuple[IO[bytes], bytes]:
    """The file as one of bytes, and its first ones, which are still to be read from it."""
    if isinstance(file.read(0), str):
        file = _Encoded(file)
    start = file.tell() if hasattr(file, "seekable") and file.seekable() else None
    first = b""
    while len(first) < count and (data := file.read(count - len(first))):
        first += data
    if start is None:
        return cast("IO[bytes]", _Begun(first, file)), first
    file.seek(start)
    return file, first


class _Encoded:
    """A file of characters as one of bytes; lone surrogates become no UTF-8."""

    def __init__(self, file: Any) -> None:
        self._file = file
        self._rest = b""

    def read(self, size: int) -> bytes:
        data = self._rest or cast("str", self._file.read(size)).encode("utf-8", "surrogatepass")
        self._rest = data[size:]
        return data[:size]


class _Begun(io.RawIOBase):
    """A file that cannot go back, and of which the first bytes were read."""

    def __init__(self, first: bytes, file: Any) -> None:
        self._first = first
        self._file = file

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        if not self._first:
            return self._file.read(size) or b""
        data = self._first if size < 0 else self._first[:size]
        self._first = self._first[len(data) :]
        return data

    def readinto(self, buffer: Any) -> int:
        data = self.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)


def decompressed(path: Path, file: IO[bytes], first: bytes) -> IO[bytes]:
    """What is in a file, by its first bytes. Damage is an EOFError, OSError, LZMAError or FormatError of a read."""
    if first.startswith(GZIP):
        return cast("IO[bytes]", gzip.open(file))
    if first.startswith(BZIP2):
        return cast("IO[bytes]", bz2.open(file))
    if first.startswith(XZ):
        return cast("IO[bytes]", lzma.open(file))
    return cast("IO[bytes]", _Zstandard(path, file)) if first.startswith(ZSTD) else file


class _Zstandard:
    """The frames of a zstd file, one after the other. The end of the file must be the end of a frame."""

    def __init__(self, path: Path, file: IO[bytes]) -> None:
        self._path = path
        self._file = file
        self._package = _zstandard(path)
        self._frame: Any = None
        self._compressed = b""

    def read(self, size: int) -> bytes:
        """Bytes, until there are so many or more; none at the end."""
        found: list[bytes] = []
        length = 0
        while length < size:
            self._compressed = self._compressed or self._file.read(_COMPRESSED)
            if not self._compressed:
                if self._frame is not None:
                    raise EOFError("it ends within a frame, so that the rest of it is lost: get the whole file")
                break
            found.append(self._decompress())
            length += len(found[-1])
        return b"".join(found)

    def _decompress(self) -> bytes:
        """What the compressed bytes at hand stand for, up to the end of a frame."""
        if self._frame is None:
            self._frame = _frame(self._package)
        try:
            data: bytes = self._frame.decompress(self._compressed)
        except self._package.ZstdError as error:
            raise FormatError(f"{self._path} cannot be decompressed: {error}") from error
        self._compressed = b""
        if self._frame.eof:
            self._compressed = self._frame.unused_data
            self._frame = None
        return data


def _frame(package: Any) -> Any:
    """What decompresses one frame."""
    decompressor = package.ZstdDecompressor()
    return decompressor.decompressobj() if hasattr(decompressor, "decompressobj") else decompressor


def _zstandard(path: Path) -> Any:
    """Python 3.14's own module, or the package zstandard: both have a ZstdDecompressor and a ZstdError."""
    for name in ("compression.zstd", "zstandard"):
        try:
            return importlib.import_module(name)
        except ImportError:
            continue
    raise ArgumentError(f"{path} is compressed by zstd: pip install 'polytok[zstd]' to read it")
