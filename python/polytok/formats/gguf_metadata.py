"""Shows the metadata of a GGUF file to people: numbers, texts, and the first items of arrays."""

from __future__ import annotations

from typing import Any

from ..spec import Spec
from ..utf8 import text_or_bytes
from .gguf_file import ARRAY, BOOL, F32, STRING, GgufFile, Value
from .gguf_texts import text_list
from .gguf_write import column_values

_MAX_ITEMS = 12


def shown_metadata(spec: Spec) -> dict[str, Any]:
    """Returns all keys of the file that a Spec was read from. A value is a number, a bool or a text, and an array is a
    mapping with its ``length`` and its ``first`` items. Texts that are not UTF-8 are bytes.
    """
    facts = spec.extra["gguf"]
    file = GgufFile(facts["keys"], facts["version"], facts["big_endian"])
    derived_values = column_values(spec, file)
    return {
        key: _shown_value(file, derived_values.get(key, value) if value[3] is None else value)
        for key, value in file.values.items()
    }


def _shown_value(file: GgufFile, value: Value) -> Any:
    value_type, element_type, count, data = value
    if value_type == STRING:
        return text_or_bytes(data or b"")
    single_value_file = GgufFile({"": value}, file.version, file.big_endian)
    if value_type == ARRAY:
        return {"length": count, "first": _first_items(single_value_file, element_type)}
    return _number(single_value_file.number("", (value_type,)), value_type)


def _first_items(single_value_file: GgufFile, element_type: int) -> list[Any]:
    """Returns the first items of an array; no items of an array of arrays."""
    if element_type == ARRAY:
        return []
    if element_type == STRING:
        texts = single_value_file.texts("")
        return [] if texts is None else list(map(text_or_bytes, text_list(texts)[:_MAX_ITEMS]))
    numbers = single_value_file.numbers("", (element_type,))
    return [] if numbers is None else [_number(number, element_type) for number in numbers[:_MAX_ITEMS].tolist()]


def _number(number: Any, element_type: int) -> Any:
    """Returns a number of the file, as a bool if it is one; a float32 gets the fewest digits that identify it."""
    if element_type == BOOL:
        return bool(number)
    if element_type == F32:
        import numpy as np

        return float(str(np.float32(number)))
    return number
