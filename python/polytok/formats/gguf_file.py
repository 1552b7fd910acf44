"""Reads and writes GGUF's container: keys with typed values. gguf.py interprets the keys."""

from __future__ import annotations

import struct
import sys
from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

from .. import _core
from ..columns import column_of
from ..errors import FormatError
from ..files import read_error
from ..records import dataclass

MAGIC = b"GGUF"
STRING, ARRAY = 8, 9
U8, I8, U32, I32, F32, BOOL = 0, 1, 4, 5, 6, 7
_TYPECODES = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "B", 10: "Q", 11: "q", 12: "d"}
_NAME_OF_TYPE = {
    **{0: "uint8", 1: "int8", 2: "uint16", 3: "int16", 4: "uint32", 5: "int32", 6: "float32", 7: "bool"},
    **{8: "string", 9: "array", 10: "uint64", 11: "int64", 12: "float64"},
}

Texts: TypeAlias = tuple[bytes, memoryview]
Value: TypeAlias = tuple[int, int, int, bytes | None]
"""The type, the type of the elements (of a scalar: its type), the number of elements (of a scalar: 1), and the bytes in
the file.

The bytes are None if they are derived from the Spec.
"""


@dataclass(frozen=True, slots=True)
class GgufFile:
    """The metadata of a file: keys and values, in the order of the file."""

    values: Mapping[str, Value]
    version: int = 3
    big_endian: bool = False
    tensors: int = 0

    @property
    def order(self) -> str:
        """The character that names the file's byte order in the module `struct`."""
        return ">" if self.big_endian else "<"

    @property
    def _swaps_bytes(self) -> bool:
        """Reports whether the byte orders of the file and of this machine differ."""
        return self.big_endian != (sys.byteorder == "big")

    def text(self, key: str, default: str | None = None) -> str:
        """Returns a string, or the default; raises FormatError if the key is missing and has no default."""
        if key not in self.values:
            return _require_default(key, default)
        return self._bytes(key, (STRING,), STRING).decode("utf-8", "replace")

    def number(self, key: str, value_types: tuple[int, ...], default: Any = None) -> Any:
        """Returns a number whose type is one of these, or the default if the key is missing."""
        if key not in self.values:
            return default
        data = self._bytes(key, value_types, self.values[key][1])
        return struct.unpack(self.order + _TYPECODES[self.values[key][0]], data)[0]

    def flag(self, key: str, default: bool) -> bool:
        """Returns a boolean, or the default if the key is missing."""
        return bool(self.number(key, (BOOL,), default))

    def numbers(self, key: str, element_types: tuple[int, ...]) -> memoryview[Any] | None:
        """Returns an array of numbers whose type is one of these, or None if the key is missing."""
        if key not in self.values:
            return None
        data = self._bytes(key, (ARRAY,), *element_types)
        return column_of(_TYPECODES[self.values[key][1]], data, swaps_bytes=self._swaps_bytes)

    def texts(self, key: str) -> Texts | None:
        """Returns an array of strings, or None if the key is missing."""
        if key not in self.values:
            return None
        data = self._bytes(key, (ARRAY,), STRING)
        return _core.gguf_strings(data, self.values[key][2], self.big_endian)

    def _bytes(self, key: str, value_types: tuple[int, ...], *element_types: int) -> bytes:
        value_type, element_type, _, data = self.values[key]
        if value_type not in value_types or element_type not in element_types or data is None:
            actual_type = (
                f"an array of {_NAME_OF_TYPE[element_type]}"
                if value_type == ARRAY
                else f"a {_NAME_OF_TYPE[value_type]}"
            )
            expected_type = " or ".join(
                _NAME_OF_TYPE[number] for number in (element_types if value_types == (ARRAY,) else value_types)
            )
            raise FormatError(
                f"{key} is {actual_type}, not {'an array of ' if value_types == (ARRAY,) else 'a '}{expected_type}"
            )
        return data

    def text_array(self, texts: Texts) -> Value:
        """Converts an array of strings to a value for this file's metadata."""
        return ARRAY, STRING, len(texts[1]) - 1, _core.gguf_write_strings(texts, self.big_endian)

    def array(self, element_type: int, numbers: Iterable[float]) -> Value:
        """Converts numbers to an array for this file's metadata."""
        column = column_of(_TYPECODES[element_type], numbers, swaps_bytes=self._swaps_bytes)
        return ARRAY, element_type, len(column), column.tobytes()

    def scalar(self, value_type: int, value: Any) -> Value:
        """Converts a number or a string to a value for this file's metadata."""
        data = value.encode() if value_type == STRING else struct.pack(self.order + _TYPECODES[value_type], value)
        return value_type, value_type, 1, data


def _require_default(key: str, default: str | None) -> str:
    if default is None:
        raise FormatError(f"the key {key} is missing")
    return default


def read(data: bytes) -> GgufFile:
    """Reads the metadata at the start of a file."""
    version, big_endian, tensors, entries, _ = _core.gguf_read(data)
    values = {
        key.decode("utf-8", "surrogateescape"): (value_type, element_type, count, data[start:end])
        for key, value_type, element_type, count, start, end in entries
    }
    return GgufFile(values, version, big_endian, tensors)


def write(file: GgufFile) -> bytes:
    """Returns the bytes of a file that has only metadata and no tensors."""
    header = [
        MAGIC,
        struct.pack(f"{file.order}IQQ", file.version, 0, len(file.values)),
    ]
    return b"".join([*header, *_encode_entries(file)])


def _encode_entries(file: GgufFile) -> Iterable[bytes]:
    def encode_integer(value: int, byte_count: int) -> bytes:
        return value.to_bytes(byte_count, "big" if file.big_endian else "little")

    for key, (value_type, element_type, count, data) in file.values.items():
        key_bytes = key.encode("utf-8", "surrogateescape")
        yield from (encode_integer(len(key_bytes), 8), key_bytes, encode_integer(value_type, 4))
        if value_type == ARRAY:
            yield from (encode_integer(element_type, 4), encode_integer(count, 8))
        elif value_type == STRING:
            yield encode_integer(len(data or b""), 8)
        yield data or b""


def read_metadata(path: str) -> bytes | None:
    """Returns the bytes of a GGUF file up to its tensors; None if the file is not a GGUF file."""
    try:
        with open(path, "rb") as file:
            if file.read(len(MAGIC)) != MAGIC:
                return None
            file.seek(0)
            return file.read(_metadata_end(path))
    except OSError as error:
        raise read_error(error, path) from error


def _metadata_end(path: str) -> int:
    """Returns the offset after the metadata, or if the file is damaged, a limit."""
    try:
        return _core.gguf_metadata_end(path)
    except FormatError:
        return _MAX_BYTES_OF_DAMAGED_FILE


_MAX_BYTES_OF_DAMAGED_FILE = 1 << 20
"""The largest number of bytes that are read of a damaged file, to report its error."""
