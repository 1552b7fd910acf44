"""Writes and reads ``.npy`` files with one row of ids, part by part."""

from __future__ import annotations

from collections.abc import Iterator
from io import BytesIO
from tokenize import TokenError
from typing import IO, Any, Protocol

import numpy as np
import numpy.lib.format as npy_format
import numpy.typing as npt

from .values import IdArray

MAGIC = b"\x93NUMPY"
_HEADER_SIZE = 128
_MAX_PADDED_SIZE = 1 << 16
_MAX_TEXT_SIZE = 512
"""The maximum number of bytes of a header without its padding: one of 600 can exceed the stack of Python's parser."""
_IDS_PER_PART = 1 << 18


class _SeekableOutput(Protocol):
    """The interface of a seekable file to write to."""

    def write(self, data: Any, /) -> int: ...
    def seek(self, position: int, /) -> int: ...


class NpyWriter:
    """Writes a row of ids to a seekable file; `finish` writes the header."""

    def __init__(self, file: _SeekableOutput, dtype: np.dtype[Any]) -> None:
        self._file = file
        self._dtype = dtype
        self._length = 0
        file.write(bytes(_HEADER_SIZE))

    def write(self, ids: IdArray) -> None:
        """Appends ids."""
        self._file.write(np.ascontiguousarray(ids, dtype=self._dtype).data)
        self._length += len(ids)

    def finish(self) -> None:
        """Writes the header, in version 1.0 of the format."""
        header = f"{{'descr': '{self._dtype.str}', 'fortran_order': False, 'shape': ({self._length},), }}"
        text = header.ljust(_HEADER_SIZE - len(MAGIC) - 5) + "\n"
        self._file.seek(0)
        self._file.write(MAGIC + b"\x01\x00" + len(text).to_bytes(2, "little") + text.encode("ascii"))


def read_header(file: IO[bytes]) -> tuple[int, np.dtype[Any]]:
    """Returns the number and the type of the integers in a row; raises ValueError if the header says anything else.

    numpy reads the header as a Python literal, and raises what Python's parser raises.
    """
    version = npy_format.read_magic(file)
    if version not in ((1, 0), (2, 0)):
        raise ValueError(f"version {version} of the .npy format is not known")
    size = int.from_bytes(file.read(2 if version == (1, 0) else 4), "little")
    text = file.read(size).rstrip(b" \n") if size <= _MAX_PADDED_SIZE else b""
    if size > _MAX_PADDED_SIZE or len(text) > _MAX_TEXT_SIZE:
        raise ValueError("the header of the .npy file is too long for a row of integers")
    header = BytesIO(len(text).to_bytes(2, "little") + text)  # both versions have the same text
    try:
        shape, _, dtype = npy_format.read_array_header_1_0(header)
    except (SyntaxError, TokenError, TypeError, IndexError, RecursionError) as error:
        raise ValueError(f"the header of the .npy file is damaged: {error}") from error
    if len(shape) != 1 or shape[0] < 0 or dtype.kind not in "iu":
        raise ValueError(f"the array is of {dtype} and shape {shape}, not a row of integers")
    return shape[0], dtype


def read_ids(file: IO[bytes]) -> Iterator[npt.NDArray[np.integer]]:
    """Yields the ids of a file in parts; raises ValueError if the file is truncated or not a row of integers."""
    remaining_ids, dtype = read_header(file)
    while remaining_ids:
        data = file.read(min(remaining_ids, _IDS_PER_PART) * dtype.itemsize)
        if not data or len(data) % dtype.itemsize:
            raise ValueError(f"the file is truncated: {remaining_ids} ids are missing")
        ids = np.frombuffer(data, dtype=dtype).astype(dtype.newbyteorder("="), copy=False)
        remaining_ids -= len(ids)
        yield ids
