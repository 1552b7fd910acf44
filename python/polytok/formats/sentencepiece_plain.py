"""Parses the messages of a SentencePiece model without the package protobuf, which takes longer to import than a model
takes to load.

`parse` accepts only messages as SentencePiece writes them: known fields with their usual types, each message and each
value once. For all other messages it returns None, and sentencepiece_proto.py parses them with protobuf.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from typing import Any

_Field = tuple[int, int, Any]
"""The number of a field, its wire type, and its value: an int, or the bytes of the value."""

_MAX_BYTES = 1 << 17
"""The maximum length of a message in bytes. Real messages have some kilobytes; protobuf parses long ones faster."""
_VARINT, _BYTES, _FOUR_BYTES = 0, 2, 5
_NEGATIVE_INT32 = range(2**64 - 2**31, 2**64)
"""The numbers of 64 bits that represent negative int32."""
_VALUES_OF_KIND: Mapping[str, range] = {
    "bool": range(2),
    "enum": range(1, 5),
    "int32": range(2**31),
    "uint64": range(2**64),
}


class _UnusualMessageError(Exception):
    """A message has something that only protobuf parses."""


def parse(data: bytes, tables: Mapping[str, str], message: str) -> dict[str, Any] | None:
    """Returns the fields that a message sets, ordered by field number; None if the message is unusual.

    ``tables`` has the fields of each message, as in sentencepiece_proto.py, and ``message`` is the name of a table.
    """
    if len(data) > _MAX_BYTES:
        return None
    try:
        return _parse_message(data, tables, message)
    except _UnusualMessageError:
        return None


def _parse_message(data: bytes, tables: Mapping[str, str], message: str) -> dict[str, Any]:
    fields_of_message = _fields_of_table(tables[message])
    values: dict[int, Any] = {}
    for number, wire_type, value in _wire_fields(data):
        name_and_kind = fields_of_message.get(number)
        if name_and_kind is None:
            raise _UnusualMessageError
        kind = name_and_kind[1]
        if kind.endswith("*"):
            values.setdefault(number, []).append(_value_of_kind(kind[:-1], wire_type, value, tables))
        elif number in values:
            raise _UnusualMessageError
        else:
            values[number] = _value_of_kind(kind, wire_type, value, tables)
    plain_values = ((number, tuple(value) if isinstance(value, list) else value) for number, value in values.items())
    return {fields_of_message[number][0]: value for number, value in sorted(plain_values)}


def _fields_of_table(table: str) -> dict[int, tuple[str, str]]:
    """Returns the name and the kind of each field by its number."""
    rows = (row.split() for row in table.split(","))
    return {int(number): (name, kind) for number, name, kind in rows}


def _value_of_kind(kind: str, wire_type: int, value: Any, tables: Mapping[str, str]) -> Any:
    if kind in _VALUES_OF_KIND and wire_type == _VARINT:
        number = value - 2**64 if kind == "int32" and value in _NEGATIVE_INT32 else value
        if number < 0 or number in _VALUES_OF_KIND[kind]:
            return bool(number) if kind == "bool" else number
    elif kind == "float" and wire_type == _FOUR_BYTES:
        return struct.unpack("<f", value)[0]
    elif kind == "bytes" and wire_type == _BYTES:
        return value
    elif kind in tables and wire_type == _BYTES:
        return _parse_message(value, tables, kind)
    raise _UnusualMessageError


def _wire_fields(data: bytes) -> Iterator[_Field]:
    at = 0
    while at < len(data):
        tag, at = _varint(data, at, 2)
        wire_type = tag & 7
        if wire_type == _VARINT:
            value, at = _varint(data, at, 10)
            yield tag >> 3, wire_type, value
            continue
        if wire_type not in (_BYTES, _FOUR_BYTES):
            raise _UnusualMessageError
        size, at = _varint(data, at, 5) if wire_type == _BYTES else (4, at)
        if size > len(data) - at:
            raise _UnusualMessageError
        yield tag >> 3, wire_type, data[at : at + size]
        at += size


def _varint(data: bytes, at: int, max_bytes: int) -> tuple[int, int]:
    """Returns the number at an offset, and the offset after it."""
    number = 0
    for index, byte in enumerate(data[at : at + max_bytes]):
        number |= (byte & 127) << 7 * index
        if byte < 128:
            return number, at + index + 1
    raise _UnusualMessageError
