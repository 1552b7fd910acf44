"""Describes in words how two JSON values differ."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

_SHOWN = 20
_LONGEST = 80


def differences(old: Any, new: Any) -> list[str]:
    """Return a line for each difference, old → new. Lists of objects are compared by their names or numbers.

    >>> differences({"eos": 2, "min": 1}, {"eos": None, "min": 1})
    ['eos: 2 → null']
    >>> differences([{"name": "a", "size": 1}], [{"name": "a", "size": 2}, {"name": "b", "size": 1}])
    ['a: size: 1 → 2', 'b: not there → {"name": "b", "size": 1}']
    >>> differences([1, 2], [1, 3])
    ['[1, 2] → [1, 3]']
    """
    found = list(_differences("", old, new))
    more = len(found) - _SHOWN
    return found if more <= 0 else [*found[:_SHOWN], f"and {more} more"]


_ABSENT = object()


def _differences(name: str, old: Any, new: Any) -> Iterator[str]:
    old, new = _by_name(old), _by_name(new)
    if isinstance(old, dict) and isinstance(new, dict):
        for key in [*old, *(key for key in new if key not in old)]:
            yield from _differences(f"{name}{key}: ", old.get(key, _ABSENT), new.get(key, _ABSENT))
        if old == new and list(old) != list(new):
            yield f"{name}the order"
    elif old != new:
        yield f"{name}{_shown(old)} → {_shown(new)}"


def _by_name(value: Any) -> Any:
    """Convert a list of objects that have names, or numbers, to an object."""
    for key, form in (("name", "{}"), ("number", "task {}")):
        if isinstance(value, list) and value and all(isinstance(item, dict) and key in item for item in value):
            return {form.format(item[key]): item for item in value}
    return value


def _shown(value: Any) -> str:
    if value is _ABSENT:
        return "not there"
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
