"""GGUF's metadata as a dictionary: keys to numbers, bytes (strings) and lists of them."""

from __future__ import annotations

import struct
from typing import Any

CODES = "BbHhIif?..QqD"
STRING, ARRAY = 8, 9


def parse(data: bytes) -> dict[str, Any]:
    """The metadata of a valid file."""
    order = ">" if data[4:6] == b"\0\0" else "<"
    at = 4

    def take(code: str) -> Any:
        nonlocal at
        value = struct.unpack_from(order + code, data, at)[0]
        at += struct.calcsize(order + code)
        return value

    def value(kind: int) -> Any:
        if kind == STRING:
            return take(f"{take('Q')}s")
        if kind == ARRAY:
            element = take("I")
            return [value(element) for _ in range(take("Q"))]
        return take(CODES[kind].replace("D", "d"))

    _version, _tensors, count = take("I"), take("Q"), take("Q")
    return {value(STRING).decode(): value(take("I")) for _ in range(count)}
