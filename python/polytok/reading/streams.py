"""Reads any file object as a stream of decompressed bytes.

One loop reads all four compressions. In each of them, a file can consist of several members (called frames in zstd and
streams in xz). The content before damage or truncation is returned before `DamageError` is raised.
"""

from __future__ import annotations

import importlib
import io
from typing import IO, Any, Protocol, cast

from ..errors import ArgumentError, FormatError

COMPRESSED_SUFFIXES = (".gz", ".zst", ".zstd", ".bz2", ".xz")

GZIP_MAGIC, ZSTD_MAGIC, BZIP2_MAGIC, XZ_MAGIC = b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"BZh", b"\xfd7zXZ\x00"

# The last three bytes of the 16 magic numbers of zstd's skippable frames. Files of pzstd begin with such a frame.
_ZSTD_SKIPPABLE_MAGIC_END = b"\x2a\x4d\x18"

_STEP_BYTES = 1 << 13  # the number of compressed bytes that are read at a time

# The largest output of a step. Larger steps of zstd leave the processor's cache.
_MAX_OUTPUT_BYTES = 1 << 17

# The logarithm of zstd's largest window, 2 GiB, as `zstd --long=31` writes it. By default, packages reject windows of
# more than 128 MiB.
_ZSTD_WINDOW_LOG = 31


class DamageError(FormatError):
    """The error for compressed data, or a table, that cannot be read from some position on."""


class Content(Protocol):
    """A stream of bytes."""

    def read(self, size: int, /) -> bytes:
        """Reads up to ``size`` bytes; returns no bytes at the end."""


def peek_first_bytes(file: Any, count: int) -> tuple[IO[bytes], bytes]:
    """Returns the file as a binary file, and its first ``count`` bytes, which reading the binary file returns again."""
    if isinstance(file.read(0), str):
        file = _EncodedTextFile(file)
    start = file.tell() if hasattr(file, "seekable") and file.seekable() else None
    first_bytes = b""
    while len(first_bytes) < count and (data := file.read(count - len(first_bytes))):
        first_bytes += data
    if start is None:
        return cast("IO[bytes]", _PeekedFile(first_bytes, file)), first_bytes
    file.seek(start)
    return file, first_bytes


class _EncodedTextFile:
    """A binary file with the UTF-8 of a text file. Lone surrogates are encoded too, as invalid UTF-8."""

    def __init__(self, file: Any) -> None:
        self._file = file
        self._pending = b""

    def read(self, size: int) -> bytes:
        data = self._pending or cast("str", self._file.read(size)).encode("utf-8", "surrogatepass")
        self._pending = data[size:]
        return data[:size]


class _PeekedFile(io.RawIOBase):
    """A file that cannot seek, and the first bytes, which were already read from the file."""

    def __init__(self, first_bytes: bytes, file: Any) -> None:
        self._peeked_bytes = first_bytes
        self._file = file

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        if not self._peeked_bytes:
            return self._file.read(size) or b""
        data = self._peeked_bytes if size < 0 else self._peeked_bytes[:size]
        self._peeked_bytes = self._peeked_bytes[len(data) :]
        return data

    def readinto(self, buffer: Any) -> int:
        data = self.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)


def is_compressed(first_bytes: bytes) -> bool:
    """Reports whether a file with these first bytes is compressed."""
    return first_bytes.startswith((GZIP_MAGIC, BZIP2_MAGIC, XZ_MAGIC)) or _is_zstandard(first_bytes)


def _is_zstandard(first_bytes: bytes) -> bool:
    return first_bytes.startswith(ZSTD_MAGIC) or (
        first_bytes[1:4] == _ZSTD_SKIPPABLE_MAGIC_END and 0x50 <= first_bytes[0] <= 0x5F
    )


def decompress(name: str, file: IO[bytes], first_bytes: bytes) -> Content:
    """Returns a stream of the decompressed content of a file. The first bytes of the file select the compression.

    Reading the stream raises `DamageError` at damage, and for a file that is not compressed in spite of its name.
    Raises `ArgumentError` if the module for the compression is missing.
    """
    if first_bytes.startswith(GZIP_MAGIC):
        zlib = _standard_module("zlib", name, "gzip")
        return _MemberReader(name, file, lambda: _GzipDecompressor(zlib), zlib.error, is_padded=True)
    if first_bytes.startswith(BZIP2_MAGIC):
        return _MemberReader(name, file, _standard_module("bz2", name, "bzip2").BZ2Decompressor, OSError)
    if first_bytes.startswith(XZ_MAGIC):
        lzma = _standard_module("lzma", name, "xz")
        return _MemberReader(name, file, lambda: lzma.LZMADecompressor(lzma.FORMAT_XZ), lzma.LZMAError, is_padded=True)
    if _is_zstandard(first_bytes):
        zstd_package = _zstd_package(name)
        return _MemberReader(
            name,
            file,
            lambda: zstd_package.ZstdDecompressor(
                options={zstd_package.DecompressionParameter.window_log_max: _ZSTD_WINDOW_LOG}
            ),
            zstd_package.ZstdError,
        )
    return _UncompressedFile(name) if first_bytes and _is_named_wrongly(name, file) else file


def is_stored_compressed(name: str, file: Any, first_bytes: bytes) -> bool:
    """Reports whether a file must be read through `decompress`: it is compressed, or its name says so."""
    return is_compressed(first_bytes) or _is_named_wrongly(name, file)


def _is_named_wrongly(name: str, file: Any) -> bool:
    """Reports whether a file that is not compressed has the name of a compressed file.

    Only a file on the disk can be: a web server or a file object such as ``gzip.open(name)`` can decompress the content
    of a file with such a name.
    """
    is_on_disk = isinstance(file, io.BufferedReader) and isinstance(file.raw, io.FileIO)
    return is_on_disk and name.lower().endswith(COMPRESSED_SUFFIXES)


class _UncompressedFile:
    """The stream of a file that is not compressed in spite of its name: an incomplete download, or a page of errors."""

    def __init__(self, name: str) -> None:
        self._name = name

    def read(self, size: int, /) -> bytes:
        """Raises `DamageError`."""
        suffix = self._name[self._name.rindex(".") :]
        raise DamageError(
            f"{self._name} is not compressed, although its name ends with {suffix}: get the complete file, or rename it"
        )


class _GzipDecompressor:
    """A decompressor of a gzip member with the methods that the decompressors of bz2, lzma and zstd have."""

    def __init__(self, zlib: Any) -> None:
        self._zlib = zlib.decompressobj(zlib.MAX_WBITS | 16)
        self.needs_input = True

    @property
    def eof(self) -> bool:
        return bool(self._zlib.eof)

    @property
    def unused_data(self) -> bytes:
        return cast("bytes", self._zlib.unused_data)

    def decompress(self, data: bytes, max_length: int) -> bytes:
        output: bytes = self._zlib.decompress(self._zlib.unconsumed_tail + data, max_length)
        self.needs_input = len(output) < max_length
        return output


class _MemberReader:
    """A stream of the content of all members of a compressed file. The last member must be complete."""

    def __init__(
        self,
        name: str,
        file: IO[bytes],
        create_decompressor: Any,
        error: type[Exception],
        *,
        is_padded: bool = False,
    ) -> None:
        self._name = name
        self._file = file
        self._create_decompressor = create_decompressor
        self._decompression_error = error
        self._is_padded = is_padded
        self._member_decompressor: Any = None
        self._compressed_bytes = b""
        self._bytes_consumed = 0
        self._pending_bytes = 0  # the compressed bytes of which not all output has been read
        self._damage: DamageError | None = None

    def read(self, size: int, /) -> bytes:
        """Reads at least ``size`` bytes, or all remaining bytes if there are fewer; returns no bytes at the end."""
        parts: list[bytes] = []
        length = 0
        while length < size and (data := self._read_step()) is not None:
            parts.append(data)
            length += len(data)
        if not length and self._damage is not None:
            raise self._damage
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def _read_step(self) -> bytes | None:
        """Decompresses one step and returns its bytes, which can be empty; returns None at the end or at damage."""
        if self._damage is not None:
            return None
        try:
            if self._fill_input():
                return self._decompress()
            self._check_complete()
        except self._decompression_error as error:
            if isinstance(error, OSError) and error.errno is not None:  # an error of the system, not of bzip2
                raise
            self._record_damage(error)
        return None

    def _record_damage(self, error: Exception) -> None:
        self._damage = DamageError(
            f"{self._name} cannot be decompressed after its byte {self._bytes_consumed}: {error}"
        )
        self._damage.__cause__ = error

    def _fill_input(self) -> bool:
        """Reads compressed bytes if the decompressor needs them. Returns False at the end of the file."""
        if self._member_decompressor is not None and not self._member_decompressor.needs_input:
            return True
        while not self._compressed_bytes:
            self._compressed_bytes = self._file.read(_STEP_BYTES)
            if not self._compressed_bytes:
                return False
            if self._member_decompressor is None and self._is_padded and self._bytes_consumed:
                self._skip_padding()
        return True

    def _skip_padding(self) -> None:
        unpadded = self._compressed_bytes.lstrip(b"\0")
        self._bytes_consumed += len(self._compressed_bytes) - len(unpadded)
        self._compressed_bytes = unpadded

    def _check_complete(self) -> None:
        if self._member_decompressor is not None:
            self._damage = DamageError(
                f"{self._name} cannot be decompressed completely: it is truncated after byte {self._bytes_consumed}; "
                "get the complete file"
            )

    def _decompress(self) -> bytes:
        """Decompresses buffered bytes, at most to the end of the member."""
        if self._member_decompressor is None:
            self._member_decompressor = self._create_decompressor()
        decompressor = self._member_decompressor
        step_input, self._compressed_bytes = self._compressed_bytes, b""
        data: bytes = decompressor.decompress(step_input, _MAX_OUTPUT_BYTES)
        self._pending_bytes += len(step_input)
        if decompressor.eof or decompressor.needs_input:
            self._bytes_consumed += self._pending_bytes
            self._pending_bytes = 0
        if decompressor.eof:
            self._bytes_consumed -= len(decompressor.unused_data)
            self._compressed_bytes = decompressor.unused_data + self._compressed_bytes
            self._member_decompressor = None
            if self._is_padded:
                self._skip_padding()
        return data


def _standard_module(module: str, name: str, compression: str) -> Any:
    """Returns a module of the standard library that needs a C library.

    A Python that is compiled on a machine without the library lacks the module, and lacks nothing else: so the module
    is imported when a file needs it. Raises `ArgumentError` if it is missing.
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise ArgumentError(
            f"{name} is compressed with {compression}, and this Python was built without the module {module}: "
            "decompress the file, or use another Python"
        ) from error


def _zstd_package(name: str) -> Any:
    """Returns the module compression.zstd of Python 3.14, or its backport for older versions.

    Raises `ArgumentError` if neither module is installed.
    """
    for module in ("compression.zstd", "backports.zstd"):
        try:
            return importlib.import_module(module)
        except ImportError:
            continue
    raise ArgumentError(
        f"{name} is compressed with zstd, which needs the package backports.zstd: pip install 'polytok[zstd]'"
    )
