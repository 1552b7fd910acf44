"""`Regex` of tokenizers 0.23, and the patterns in a component's JSON."""

from __future__ import annotations

from typing import Any

from .arguments import text
from .component import Component, Field

_BEHAVIORS = {
    "removed": "Removed",
    "isolated": "Isolated",
    "merged_with_previous": "MergedWithPrevious",
    "merged_with_next": "MergedWithNext",
    "contiguous": "Contiguous",
}
SPLIT_BEHAVIORS = tuple(_BEHAVIORS)
"""What can happen to the delimiters of a split."""
_BEHAVIOR_OF_JSON = {name: behavior for behavior, name in _BEHAVIORS.items()}


class Regex:
    """A regular expression: tokenizers.Regex."""

    __slots__ = ("_pattern",)

    def __init__(self, s: str) -> None:
        self._pattern = text(s)


def pattern_json(pattern: object) -> dict[str, str]:
    """Returns the JSON of a pattern: a text, or a Regex."""
    if isinstance(pattern, Regex):
        return {"Regex": pattern._pattern}
    if isinstance(pattern, str):
        return {"String": pattern}
    raise TypeError(f"'{type(pattern).__name__}' object is not an instance of 'str' or 'Regex'")


def behavior_json(behavior: object) -> str:
    """Returns the JSON of what happens to delimiters."""
    name = getattr(behavior, "value", behavior)
    if name not in _BEHAVIORS:
        raise ValueError(f"Wrong value for SplitDelimiterBehavior, expected one of: `{', '.join(_BEHAVIORS)}`")
    return _BEHAVIORS[name]


class Behavior(Field):
    """An attribute with what happens to delimiters."""

    def read(self, value: Any) -> Any:
        return _BEHAVIOR_OF_JSON[value]

    def write(self, value: Any) -> Any:
        return behavior_json(value)


class Pattern(Field):
    """An attribute with a pattern, which can neither be read nor set."""

    def __get__(self, component: Component | None, owner: type) -> Any:
        if component is None:
            return self
        raise NotImplementedError("Cannot get pattern")

    def __set__(self, component: Component, value: Any) -> None:
        raise NotImplementedError("Cannot set pattern, please instantiate a new component instead")
