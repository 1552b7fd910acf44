"""JSON objects with checked fields, and how a component without a tag is recognised."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple, TypeVar, cast

from ...errors import FormatError

Json = Any
"""What `json.loads` gives."""

_T = TypeVar("_T")
_REQUIRED: Any = object()


class Shape(NamedTuple):
    """A component by its fields. ``tagged`` ones are recognised by their ``type`` only."""

    type: str
    required: frozenset[str]
    tagged: bool = True


def shape(type: str, required: str = "", *, tagged: bool = True) -> Shape:
    """A shape whose required fields are listed with spaces between."""
    return Shape(type, frozenset(required.split()), tagged)


class Fields:
    """An object of the file; ``where`` names it in errors."""

    def __init__(self, value: Json, where: str) -> None:
        if not isinstance(value, dict):
            raise FormatError(f"{where}: not an object but {brief(value)}")
        self.value: dict[str, Json] = value
        self.where = where

    def get(self, name: str, kind: type[_T], default: Any = _REQUIRED) -> _T:
        """A field of this type, or its default where that is given and the field is missing."""
        if name not in self.value:
            if default is _REQUIRED:
                raise FormatError(f"{self.where}: the field {name!r} is missing")
            return cast(_T, default)
        found = self.value[name]
        if not isinstance(found, kind) or (isinstance(found, bool) and kind is not bool):
            raise FormatError(f"{self.where}: {name} is {brief(found)}, not of the type {_NAMES[kind]}")
        return found

    def flag(self, name: str, default: Any = _REQUIRED) -> bool:
        """A field that is true or false."""
        return self.get(name, bool, default)

    def text(self, name: str, default: Any = _REQUIRED) -> str:
        """A field that is a text."""
        return self.get(name, str, default)

    def optional_text(self, name: str) -> str | None:
        """A field that is a text, null or missing."""
        return None if self.value.get(name) is None else self.text(name)

    def character(self, name: str) -> str:
        """A field that is a text of one character."""
        found = self.text(name)
        if len(found) != 1:
            raise FormatError(f"{self.where}: {name} is {brief(found)}, not one character")
        return found

    def number(self, name: str, default: Any = _REQUIRED) -> int:
        """A field that is a number from 0 on."""
        found = self.get(name, int, default)
        if not 0 <= found < 2**64:
            raise FormatError(f"{self.where}: {name} is {found}, which no index can be")
        return found

    def choice(self, name: str, choices: Mapping[str, _T], default: Any = _REQUIRED) -> _T:
        """A field that is one of some texts; gives what that stands for."""
        found = self.text(name, default)
        if found not in choices:
            raise FormatError(f"{self.where}: {name} is {brief(found)}, not one of {', '.join(choices)}")
        return choices[found]

    def items(self, name: str) -> list[tuple[Json, str]]:
        """The items of a list, each with its place for errors."""
        listed = self.get(name, list)
        return [(item, f"{self.where}.{name}[{index}]") for index, item in enumerate(listed)]


_NAMES: Mapping[type, str] = {bool: "bool", str: "text", int: "whole number", list: "list", dict: "object"}


def type_of(fields: Fields, shapes: Sequence[Shape], *, by_shape: bool = False) -> str:
    """Which component an object is: by its tag, or where it has none (``by_shape``: always) by the fields it has, the
    first that fits."""
    tag = fields.value.get("type")
    if tag is not None and not by_shape:
        if isinstance(tag, str) and tag in {each.type for each in shapes}:
            return tag
        raise FormatError(f"{fields.where}: there is no type {brief(tag)}")
    for each in shapes:
        if each.required <= fields.value.keys() and (not each.tagged or each.type == tag):
            return each.type
    wanted = next((each for each in shapes if each.type == tag), None)
    if wanted is not None:
        missing = sorted(wanted.required - fields.value.keys())
        raise FormatError(f"{fields.where}: the fields {', '.join(missing)} of {tag} are missing")
    what = "an object without a type" if tag is None else f"the type {brief(tag)}"
    raise FormatError(f"{fields.where}: {what} and with these fields is nothing that is known: {brief(fields.value)}")


def pattern_of(fields: Fields) -> tuple[str, bool]:
    """A ``pattern``: its text, and whether it is a regular expression."""
    found = fields.get("pattern", dict)
    if len(found) == 1:
        ((kind, text),) = found.items()
        if kind in ("String", "Regex") and isinstance(text, str):
            return text, kind == "Regex"
    raise FormatError(f'{fields.where}: pattern is {brief(found)}, not {{"String": ...}} or {{"Regex": ...}}')


def pattern_json(text: str, is_regex: bool) -> Json:
    """The other way."""
    return {"Regex" if is_regex else "String": text}


def sequence(type_name: str, member: str, parts: list[Json]) -> Json:
    """None, one component, or several in a Sequence."""
    if len(parts) <= 1:
        return parts[0] if parts else None
    return {"type": type_name, member: parts}


PrependScheme = Literal["always", "first", "never"]
_SCHEMES: Mapping[str, PrependScheme] = {"always": "always", "first": "first", "never": "never"}


def metaspace_of(fields: Fields) -> tuple[str, PrependScheme, bool]:
    """Metaspace's replacement, prepend scheme and whether it splits; older files have ``add_prefix_space``."""
    scheme = fields.choice("prepend_scheme", _SCHEMES, "always")
    if fields.flag("add_prefix_space", True) is False and scheme != "never":
        raise FormatError(f"{fields.where}: add_prefix_space is false, but prepend_scheme is {scheme}")
    return fields.character("replacement"), scheme, fields.flag("split", True)


def brief(value: Json) -> str:
    """A value as an error shows it."""
    text = repr(value)
    return text if len(text) <= 60 else text[:59] + "…"
