"""Reads and writes GGUF's container: keys with typed values. gguf.py interprets the keys."""

from __future__ import annotations

import mmap
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from .. import _core
from ..errors import FileError, FormatError

MAGIC = b"GGUF"
STRING, ARRAY = 8, 9
U8, I8, U32, I32, F32, BOOL = 0, 1, 4, 5, 6, 7
_DTYPES = {0: "u1", 1: "i1", 2: "u2", 3: "i2", 4: "u4", 5: "i4", 6: "f4", 7: "u1", 10: "u8", 11: "i8", 12: "f8"}
_NAMES = {
    **{0: "uint8", 1: "int8", 2: "uint16", 3: "int16", 4: "uint32", 5: "int32", 6: "float32", 7: "bool"},
    **{8: "string", 9: "array", 10: "uint64", 11: "int64", 12: "float64"},
}

Texts: TypeAlias = tuple[bytes, npt.NDArray[np.uint32]]
Value: TypeAlias = tuple[int, int, int, bytes | None]
"""Type, type of the elements (or the type again), number of elements (or 1), and the bytes as in the file.

The bytes are None if they are derived from the Spec.
"""


@dataclass(frozen=True, slots=True)
class GgufFile:
    """The metadata of a file: its keys and values, in the file's order."""

    values: Mapping[str, Value]
    version: int = 3
    big_endian: bool = False
    tensors: int = field(default=0, compare=False)

    @property
    def order(self) -> str:
        """The character for the byte order in numpy's types."""
        return ">" if self.big_endian else "<"

    def text(self, key: str, default: str | None = None) -> str:
        """Returns a string, or the default; raises FormatError if the key is missing and has no default."""
        if key not in self.values:
            return _default_or_error(key, default)
        return self._bytes(key, (STRING,), STRING).decode("utf-8", "replace")

    def number(self, key: str, kinds: tuple[int, ...], default: Any = None) -> Any:
        """Returns a number of one of the types, or the default if the key is missing."""
        if key not in self.values:
            return default
        data = self._bytes(key, kinds, self.values[key][1])
        return np.frombuffer(data, self.order + _DTYPES[self.values[key][0]])[0].item()

    def flag(self, key: str, default: bool) -> bool:
        """Returns a boolean, or the default if the key is missing."""
        return bool(self.number(key, (BOOL,), default))

    def numbers(self, key: str, elements: tuple[int, ...]) -> npt.NDArray[Any] | None:
        """Returns an array of numbers of one of the types, or None if the key is missing."""
        if key not in self.values:
            return None
        data = self._bytes(key, (ARRAY,), *elements)
        return np.frombuffer(data, self.order + _DTYPES[self.values[key][1]])

    def texts(self, key: str) -> Texts | None:
        """Returns an array of strings, or None if the key is missing."""
        if key not in self.values:
            return None
        data = self._bytes(key, (ARRAY,), STRING)
        return _core.gguf_strings(data, self.values[key][2], self.big_endian)

    def _bytes(self, key: str, kinds: tuple[int, ...], *elements: int) -> bytes:
        kind, element, _, data = self.values[key]
        if kind not in kinds or element not in elements or data is None:
            actual_type = f"an array of {_NAMES[element]}" if kind == ARRAY else f"a {_NAMES[kind]}"
            expected_type = " or ".join(_NAMES[number] for number in (elements if kinds == (ARRAY,) else kinds))
            raise FormatError(
                f"{key} is {actual_type}, not {'an array of ' if kinds == (ARRAY,) else 'a '}{expected_type}"
            )
        return data

    def text_array(self, texts: Texts) -> Value:
        """Converts an array of strings to a value for this file's metadata."""
        return ARRAY, STRING, len(texts[1]) - 1, _core.gguf_write_strings(texts, self.big_endian)

    def array(self, element: int, numbers: npt.NDArray[Any]) -> Value:
        """Converts an array of numbers to a value for this file's metadata."""
        return ARRAY, element, len(numbers), numbers.astype(self.order + _DTYPES[element]).tobytes()

    def scalar(self, kind: int, value: Any) -> Value:
        """Converts a number or a string to a value for this file's metadata."""
        data = value.encode() if kind == STRING else np.array(value, self.order + _DTYPES[kind]).tobytes()
        return kind, kind, 1, data


def _default_or_error(key: str, default: str | None) -> str:
    if default is None:
        raise FormatError(f"the key {key} is missing")
    return default


def read(data: bytes) -> GgufFile:
    """Reads the metadata at the start of a file."""
    version, big_endian, tensors, entries, _ = _core.gguf_read(np.frombuffer(data, np.uint8))
    values = {
        key.decode("utf-8", "surrogateescape"): (kind, element, count, data[start:end])
        for key, kind, element, count, start, end in entries
    }
    return GgufFile(values, version, big_endian, tensors)


def write(file: GgufFile) -> bytes:
    """Returns the bytes of a file that has only metadata and no tensors."""
    header = [
        MAGIC,
        np.array(file.version, f"{file.order}u4").tobytes(),
        np.array([0, len(file.values)], f"{file.order}u8").tobytes(),
    ]
    return b"".join([*header, *_encoded_entries(file)])


def _encoded_entries(file: GgufFile) -> Iterable[bytes]:
    def integer(value: int, width: int) -> bytes:
        return value.to_bytes(width, "big" if file.big_endian else "little")

    for key, (kind, element, count, data) in file.values.items():
        name = key.encode("utf-8", "surrogateescape")
        yield from (integer(len(name), 8), name, integer(kind, 4))
        if kind == ARRAY:
            yield from (integer(element, 4), integer(count, 8))
        elif kind == STRING:
            yield integer(len(data or b""), 8)
        yield data or b""


def read_metadata(path: Path) -> bytes | None:
    """Returns the bytes of a GGUF file's metadata, without the tensors after them; None for any other format."""
    try:
        with path.open("rb") as file:
            if file.read(len(MAGIC)) != MAGIC:
                return None
            with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapping:
                return mapping[: _metadata_end(mapping)]
    except OSError as error:
        raise FileError(error.errno, f"cannot read the tokenizer file: {error.strerror}", str(path)) from error


def _metadata_end(mapping: mmap.mmap) -> int:
    """Returns the position after the metadata; for a damaged file, the smaller of the file's size and a limit."""
    try:
        return _core.gguf_read(np.frombuffer(mapping, np.uint8))[-1]
    except FormatError:
        return min(len(mapping), _MAX_DAMAGED_BYTES)


_MAX_DAMAGED_BYTES = 1 << 20
"""The number of bytes of a damaged file that are read, to report the error in them."""
