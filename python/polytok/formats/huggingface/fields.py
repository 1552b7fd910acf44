"""Reads the fields of JSON objects with checks, and finds the name of a component, with or without its tag."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple, TypeVar, cast

from ...errors import FormatError

Json = Any
"""Any value that `json.loads` returns."""

_T = TypeVar("_T")
_NO_DEFAULT: Any = object()


class ComponentFields(NamedTuple):
    """The name of a component, and the fields by which it is recognized; a tagged component needs its ``type`` too."""

    type: str
    required: frozenset[str]
    tagged: bool = True


def component_fields(type: str, required: str = "", *, tagged: bool = True) -> ComponentFields:
    """Describes a component; ``required`` lists the names of its required fields, separated by spaces."""
    return ComponentFields(type, frozenset(required.split()), tagged)


class Fields:
    """A JSON object of the file, with checked access to its fields. ``path`` names the object in errors."""

    def __init__(self, value: Json, path: str) -> None:
        if not isinstance(value, dict):
            raise FormatError(f"{path}: not an object but {shorten(value)}")
        self.value: dict[str, Json] = value
        self.path = path

    def get(self, name: str, kind: type[_T], default: Any = _NO_DEFAULT) -> _T:
        """Returns a field, which must have this type; returns the default, or raises FormatError, if it is missing."""
        if name not in self.value:
            if default is _NO_DEFAULT:
                raise FormatError(f"{self.path}: the field {name!r} is missing")
            return cast(_T, default)
        value = self.value[name]
        if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
            raise FormatError(f"{self.path}: {name} is {shorten(value)}, not of the type {_NAME_OF_TYPE[kind]}")
        return value

    def flag(self, name: str, default: Any = _NO_DEFAULT) -> bool:
        """Returns a field that is true or false."""
        return self.get(name, bool, default)

    def text(self, name: str, default: Any = _NO_DEFAULT) -> str:
        """Returns a field that is a text."""
        return self.get(name, str, default)

    def optional_text(self, name: str) -> str | None:
        """Returns a field that is a text; None if it is null or missing."""
        return None if self.value.get(name) is None else self.text(name)

    def character(self, name: str) -> str:
        """Returns a field that is a text of one character."""
        value = self.text(name)
        if len(value) != 1:
            raise FormatError(f"{self.path}: {name} is {shorten(value)}, not one character")
        return value

    def number(self, name: str, default: Any = _NO_DEFAULT) -> int:
        """Returns a field that is a whole number from 0 to 2**64 - 1."""
        value = self.get(name, int, default)
        if not 0 <= value < 2**64:
            raise FormatError(f"{self.path}: {name} is {value}, not a number from 0 to 2**64 - 1")
        return value

    def choice(self, name: str, choices: Mapping[str, _T], default: Any = _NO_DEFAULT) -> _T:
        """Looks up the text of a field in ``choices``, and returns the value found there."""
        value = self.text(name, default)
        if value not in choices:
            raise FormatError(f"{self.path}: {name} is {shorten(value)}, not one of {', '.join(choices)}")
        return choices[value]

    def items(self, name: str) -> list[tuple[Json, str]]:
        """Returns the items of a list, each with its path for errors."""
        items = self.get(name, list)
        return [(item, f"{self.path}.{name}[{index}]") for index, item in enumerate(items)]


_NAME_OF_TYPE: Mapping[type, str] = {bool: "bool", str: "text", int: "whole number", list: "list", dict: "object"}


def component_name(fields: Fields, components: Sequence[ComponentFields], *, by_fields: bool = False) -> str:
    """Returns the name of the component that an object describes.

    An object with a tag has the name in its tag. An object without a tag is recognized by its fields: the first of
    ``components`` whose required fields it contains has the name. With ``by_fields``, a tag does not decide alone.
    """
    tag = fields.value.get("type")
    if tag is not None and not by_fields:
        if isinstance(tag, str) and tag in {candidate.type for candidate in components}:
            return tag
        raise FormatError(f"{fields.path}: unknown type {shorten(tag)}")
    for candidate in components:
        if candidate.required <= fields.value.keys() and (not candidate.tagged or candidate.type == tag):
            return candidate.type
    candidate_with_tag = next((candidate for candidate in components if candidate.type == tag), None)
    if candidate_with_tag is not None:
        missing_fields = sorted(candidate_with_tag.required - fields.value.keys())
        raise FormatError(f"{fields.path}: the fields {', '.join(missing_fields)} of {tag} are missing")
    description = "an object without a type" if tag is None else f"the type {shorten(tag)}"
    raise FormatError(
        f"{fields.path}: {description} and with these fields is not a known component: {shorten(fields.value)}"
    )


def read_pattern(fields: Fields) -> tuple[str, bool]:
    """Returns the text of a field ``pattern``, and whether it is a regular expression."""
    value = fields.get("pattern", dict)
    if len(value) == 1:
        ((kind, text),) = value.items()
        if kind in ("String", "Regex") and isinstance(text, str):
            return text, kind == "Regex"
    raise FormatError(f'{fields.path}: pattern is {shorten(value)}, not {{"String": ...}} or {{"Regex": ...}}')


def pattern_json(text: str, is_regex: bool) -> Json:
    """Returns a field ``pattern`` as JSON, the opposite of `read_pattern`."""
    return {"Regex" if is_regex else "String": text}


def sequence_json(type_name: str, member: str, parts: list[Json]) -> Json:
    """Returns several parts as one component: None for no parts, a single part unchanged, otherwise a Sequence."""
    if len(parts) <= 1:
        return parts[0] if parts else None
    return {"type": type_name, member: parts}


PrependScheme = Literal["always", "first", "never"]
_PREPEND_SCHEMES: Mapping[str, PrependScheme] = {"always": "always", "first": "first", "never": "never"}


def read_metaspace(fields: Fields) -> tuple[str, PrependScheme, bool]:
    """Reads the fields of Metaspace: the replacement, the prepend scheme, and the flag ``split``."""
    scheme = fields.choice("prepend_scheme", _PREPEND_SCHEMES, "always")
    if fields.flag("add_prefix_space", True) is False and scheme != "never":
        raise FormatError(f"{fields.path}: add_prefix_space is false, but prepend_scheme is {scheme}")
    return fields.character("replacement"), scheme, fields.flag("split", True)


def shorten(value: Json) -> str:
    """Returns a value as text for an error, with at most 60 characters."""
    text = repr(value)
    return text if len(text) <= 60 else text[:59] + "…"
