"""Describes the differences between two JSON values in words."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

_MAX_LINES = 20
_MAX_VALUE_LENGTH = 80


def differences(old: Any, new: Any) -> list[str]:
    """Returns a line for each difference, with the old and the new value.

    If both values are lists of objects, objects with the same name or number are compared.

    >>> differences({"eos": 2, "min": 1}, {"eos": None, "min": 1})
    ['eos: 2 → null']
    >>> differences([{"name": "a", "size": 1}], [{"name": "a", "size": 2}, {"name": "b", "size": 1}])
    ['a: size: 1 → 2', 'b: missing → {"name": "b", "size": 1}']
    >>> differences([1, 2], [1, 3])
    ['[1, 2] → [1, 3]']
    """
    lines = list(_differences("", old, new))
    omitted_count = len(lines) - _MAX_LINES
    return lines if omitted_count <= 0 else [*lines[:_MAX_LINES], f"and {omitted_count} more"]


_MISSING_VALUE = object()


def _differences(name: str, old: Any, new: Any) -> Iterator[str]:
    old, new = _map_by_name(old), _map_by_name(new)
    if isinstance(old, dict) and isinstance(new, dict):
        for key in [*old, *(key for key in new if key not in old)]:
            yield from _differences(f"{name}{key}: ", old.get(key, _MISSING_VALUE), new.get(key, _MISSING_VALUE))
        if old == new and list(old) != list(new):
            yield f"{name}the order"
    elif old != new:
        yield f"{name}{_shorten(old)} → {_shorten(new)}"


def _map_by_name(value: Any) -> Any:
    """Converts a list of objects with names or numbers to a mapping; returns any other value unchanged."""
    for key, form in (("name", "{}"), ("number", "task {}")):
        if isinstance(value, list) and value and all(isinstance(item, dict) and key in item for item in value):
            return {form.format(item[key]): item for item in value}
    return value


def _shorten(value: Any) -> str:
    if value is _MISSING_VALUE:
        return "missing"
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _MAX_VALUE_LENGTH else text[: _MAX_VALUE_LENGTH - 1] + "…"
