"""Checks the members ``truncation`` and ``padding`` of a tokenizer.json, as the package `tokenizers` does on loading.

A member is null, an object, or a list of an object's values in order. Other fields of an object are ignored.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...errors import FormatError
from .fields import Fields, Json, shorten

_TRUNCATION = ("direction", "max_length", "strategy", "stride")
_PADDING = ("strategy", "direction", "pad_to_multiple_of", "pad_id", "pad_type_id", "pad_token")
_DIRECTIONS = ("Left", "Right")
_TRUNCATION_STRATEGIES = ("LongestFirst", "OnlyFirst", "OnlySecond")


def read(document: Mapping[str, Json]) -> dict[str, Json]:
    """Returns the members of a document that are not null, as objects in the form in which `tokenizers` writes them."""
    readers = {"truncation": _read_truncation, "padding": _read_padding}
    return {member: reader(document[member]) for member, reader in readers.items() if document.get(member) is not None}


def _read_truncation(value: Json) -> dict[str, Json]:
    fields = _fields(value, "truncation", _TRUNCATION)
    fields.number("max_length")
    fields.number("stride")
    strategy = _variant(fields, "strategy", _TRUNCATION_STRATEGIES)
    direction = _variant(fields, "direction", _DIRECTIONS) if "direction" in fields.value else "Right"
    return {**fields.value, "strategy": strategy, "direction": direction}


def _read_padding(value: Json) -> dict[str, Json]:
    fields = _fields(value, "padding", _PADDING)
    if fields.value.get("pad_to_multiple_of") is not None:
        fields.number("pad_to_multiple_of")
    for name in ("pad_id", "pad_type_id"):
        if fields.number(name) >= 2**32:
            raise FormatError(f"{fields.path}: {name} is {fields.value[name]}, not a number from 0 to 2**32 - 1")
    fields.text("pad_token")
    direction = _variant(fields, "direction", _DIRECTIONS)
    return {**fields.value, "strategy": _padding_strategy(fields), "direction": direction}


def _padding_strategy(fields: Fields) -> Json:
    value = fields.value.get("strategy")
    if isinstance(value, dict) and list(value) == ["Fixed"]:
        return {"Fixed": Fields(value, f"{fields.path}.strategy").number("Fixed")}
    return _variant(fields, "strategy", ("BatchLongest",), 'BatchLongest, {"Fixed": LENGTH}')


def _fields(value: Json, path: str, names: Sequence[str]) -> Fields:
    if isinstance(value, list) and len(value) == len(names):
        value = dict(zip(names, value, strict=True))
    return Fields(value, path)


def _variant(fields: Fields, name: str, variants: Sequence[str], accepted: str = "") -> str:
    """Returns the name in a field, which can also be an object with this name and null."""
    if name not in fields.value:
        raise FormatError(f"{fields.path}: the field {name!r} is missing")
    value = fields.value[name]
    if isinstance(value, dict) and list(value.values()) == [None]:
        (value,) = value
    if isinstance(value, str) and value in variants:
        return value
    raise FormatError(f"{fields.path}: {name} is {shorten(value)}, not one of {accepted or ', '.join(variants)}")
