"""Reads the metadata of a GGUF file as a dictionary from keys to numbers, bytes (strings) and lists of them."""

from __future__ import annotations

import struct
from typing import Any

STRUCT_CODES = "BbHhIif?..QqD"
STRING, ARRAY = 8, 9


def parse(data: bytes) -> dict[str, Any]:
    """Returns the metadata of a valid file."""
    byte_order = ">" if data[4:6] == b"\0\0" else "<"
    at = 4

    def read_number(code: str) -> Any:
        nonlocal at
        number = struct.unpack_from(byte_order + code, data, at)[0]
        at += struct.calcsize(byte_order + code)
        return number

    def read_value(kind: int) -> Any:
        if kind == STRING:
            return read_number(f"{read_number('Q')}s")
        if kind == ARRAY:
            element = read_number("I")
            return [read_value(element) for _ in range(read_number("Q"))]
        return read_number(STRUCT_CODES[kind].replace("D", "d"))

    _version, _tensors, count = read_number("I"), read_number("Q"), read_number("Q")
    return {read_value(STRING).decode(): read_value(read_number("I")) for _ in range(count)}
