"""Open files as streams of bytes: from any kind of file object or place, compressed or not.

One loop reads all four compressions. So each of them can have several members (frames, streams), can end with one or be
truncated, and gives everything before a damage before it raises. Damage is a `Damaged`.
"""

from __future__ import annotations

import bz2
import importlib
import io
import lzma
import zlib
from typing import IO, Any, Protocol, cast

from ..errors import ArgumentError, FormatError

GZIP, ZSTD, BZIP2, XZ = b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"BZh", b"\xfd7zXZ\x00"

# A file can begin with a frame to skip, as those of pzstd do: 16 magic numbers mark such frames.
_ZSTD_SKIPPED = b"\x2a\x4d\x18"

# The compressed bytes per step. 8 kB of gzip expand to 8 MB at most. In zstd, 4 bytes can expand to 128 kB and its
# package takes no limit; a piece expands to 8 MB at most. The other packages stop at the requested size.
_COMPRESSED = 1 << 13
_ZSTD_PIECE = 1 << 8
_MOST = 1 << 22

# The largest window of zstd, 2 GiB, as `zstd --long=31` makes it; by default its packages refuse more than 128 MiB.
_ZSTD_WINDOW_LOG = 31


class Damaged(FormatError):
    """Compressed data, or a table, that cannot be read from some place on."""


class Content(Protocol):
    """Bytes that can be read once."""

    def read(self, size: int, /) -> bytes:
        """Up to ``size`` bytes; none at the end."""


def begun(file: Any, count: int) -> tuple[IO[bytes], bytes]:
    """The file as a file of bytes, and its first bytes, which can still be read from it."""
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
    """A text file as a file of bytes; lone surrogates become invalid UTF-8."""

    def __init__(self, file: Any) -> None:
        self._file = file
        self._rest = b""

    def read(self, size: int) -> bytes:
        data = self._rest or cast("str", self._file.read(size)).encode("utf-8", "surrogatepass")
        self._rest = data[size:]
        return data[:size]


class _Begun(io.RawIOBase):
    """A file that cannot seek, and whose first bytes were already read."""

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


def is_compressed(first: bytes) -> bool:
    """Whether a file's first bytes mark it as compressed."""
    return first.startswith((GZIP, BZIP2, XZ)) or _is_zstandard(first)


def _is_zstandard(first: bytes) -> bool:
    return first.startswith(ZSTD) or (first[1:4] == _ZSTD_SKIPPED and 0x50 <= first[0] <= 0x5F)


def decompressed(name: str, file: IO[bytes], first: bytes) -> Content:
    """The decompressed content of a file; its first bytes select the format. Reading raises `Damaged` for damage."""
    if first.startswith(GZIP):
        return _Members(name, file, lambda: zlib.decompressobj(zlib.MAX_WBITS | 16), zlib.error, padded=True)
    if first.startswith(BZIP2):
        return _Members(name, file, bz2.BZ2Decompressor, OSError)
    if first.startswith(XZ):
        return _Members(name, file, lambda: lzma.LZMADecompressor(lzma.FORMAT_XZ), lzma.LZMAError, padded=True)
    if _is_zstandard(first):
        package = _zstandard(name)
        return _Members(name, file, lambda: _frame(package), package.ZstdError, piece=_ZSTD_PIECE)
    return file


class _Members:
    """The members of a compressed file, in turn. The end of the file must be the end of a member."""

    def __init__(
        self,
        name: str,
        file: IO[bytes],
        begin: Any,
        error: type[Exception],
        *,
        padded: bool = False,
        piece: int = _COMPRESSED,
    ) -> None:
        self._name = name
        self._file = file
        self._begin = begin
        self._error = error
        self._padded = padded
        self._piece = piece
        self._member: Any = None
        self._compressed = b""
        self._passed = 0
        self._damage: Damaged | None = None

    def read(self, size: int, /) -> bytes:
        """At least ``size`` bytes, if the file has them; none at the end."""
        found: list[bytes] = []
        length = 0
        while length < size and (data := self._next()) is not None:
            found.append(data)
            length += len(data)
        if not length and self._damage is not None:
            raise self._damage
        return found[0] if len(found) == 1 else b"".join(found)

    def _next(self) -> bytes | None:
        """The next bytes, possibly none; None if there are no more."""
        if self._damage is not None:
            return None
        try:
            if self._fill():
                return self._decompress()
            self._end()
        except self._error as error:
            if isinstance(error, OSError) and error.errno is not None:  # the system's, not bzip2's
                raise
            self._damage = Damaged(f"{self._name} cannot be decompressed after its byte {self._passed}: {error}")
            self._damage.__cause__ = error
        return None

    def _fill(self) -> bool:
        """Ensure that compressed bytes are buffered, or that the member can continue without them."""
        if self._member is not None and not getattr(self._member, "needs_input", True):
            return True
        while not self._compressed:
            self._compressed = self._file.read(_COMPRESSED)
            if not self._compressed:
                return False
            if self._member is None and self._padded and self._passed:
                self._skip_padding()
        return True

    def _skip_padding(self) -> None:
        rest = self._compressed.lstrip(b"\0")
        self._passed += len(self._compressed) - len(rest)
        self._compressed = rest

    def _end(self) -> None:
        if self._member is not None:
            self._damage = Damaged(
                f"{self._name} cannot be decompressed: it ends within a member, after byte {self._passed}, so that the "
                "rest is lost: get the whole file"
            )

    def _decompress(self) -> bytes:
        """Decompress the buffered bytes, up to the end of a member."""
        if self._member is None:
            self._member = self._begin()
        member = self._member
        if hasattr(member, "needs_input"):
            given, self._compressed = self._compressed, b""
            data: bytes = member.decompress(given, _MOST)
        else:
            given, self._compressed = self._compressed[: self._piece], self._compressed[self._piece :]
            data = member.decompress(given)
        self._passed += len(given)
        if member.eof:
            self._passed -= len(member.unused_data)
            self._compressed = member.unused_data + self._compressed
            self._member = None
            if self._padded:
                self._skip_padding()
        return data


def _frame(package: Any) -> Any:
    """A decompressor of one frame, of any window size."""
    if hasattr(package, "DecompressionParameter"):  # Python's own module
        return package.ZstdDecompressor(options={package.DecompressionParameter.window_log_max: _ZSTD_WINDOW_LOG})
    return package.ZstdDecompressor(max_window_size=1 << _ZSTD_WINDOW_LOG).decompressobj()


def _zstandard(name: str) -> Any:
    """Python 3.14's own module, or the package zstandard: both have a ZstdDecompressor and a ZstdError."""
    for module in ("compression.zstd", "zstandard"):
        try:
            return importlib.import_module(module)
        except ImportError:
            continue
    raise ArgumentError(f"{name} is compressed by zstd: pip install 'polytok[zstd]' to read it")
