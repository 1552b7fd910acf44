"""The base of all components: an object that holds a fragment of tokenizer.json."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, ClassVar, TypeVar

from .representation import represent

CHANGES = [0]
"""How often any component was changed; a `Tokenizer` compares it with the number at which it was compiled."""

_Part = TypeVar("_Part", bound="Component")


class Field:
    """An attribute of a component that is a field of its JSON."""

    __slots__ = ("name",)

    def __init__(self, name: str = "") -> None:
        self.name = name

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = self.name or name

    def __get__(self, component: Any, owner: type) -> Any:
        return self if component is None else self.read(component.fields[self.name])

    def __set__(self, component: Component, value: Any) -> None:
        component.change(self.name, self.write(value))

    def read(self, value: Any) -> Any:
        """Converts the JSON to the value of the attribute."""
        return value

    def write(self, value: Any) -> Any:
        """Converts a value to JSON."""
        return value


class Component:
    """A component: ``fields`` is its JSON without its type; components within it are objects too."""

    family: ClassVar[str]
    """The member of tokenizer.json: "normalizer"."""
    defaults: ClassVar[Mapping[str, Any]] = {}
    """The fields in order, with the values that a file can leave out."""
    members: ClassVar[str] = ""
    """The field with a list of components."""
    classes: ClassVar[dict[str, dict[str, type[Component]]]] = {}
    """For each family, its classes by type."""
    new_arguments: ClassVar[tuple[Any, ...]] = ()
    """The arguments without which the original cannot create an object for a pickle."""

    fields: dict[str, Any]
    object: Any = None
    """The caller's object that does the work of a component in Python."""

    def __init_subclass__(cls, **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        if cls.__base__ is not Component:
            Component.classes.setdefault(cls.family, {})[cls.__name__] = cls

    def __new__(cls, *arguments: Any, **keywords: Any) -> Any:
        component = super().__new__(cls)
        component.fields = dict(cls.defaults)
        return component

    def change(self, name: str, value: Any) -> None:
        """Changes a field."""
        self.fields[name] = value
        self.changed()

    def changed(self) -> None:
        """Has tokenizers with this component compiled again when they are next used."""
        CHANGES[0] += 1

    @classmethod
    def of_object(cls, object: Any) -> Any:
        """Returns a component in Python."""
        component = cls.__new__(cls)
        component.object = object
        return component

    def in_python(self) -> bool:
        """Reports whether the component, or one within it, is in Python."""
        return self.object is not None or any(component.in_python() for component in self.parts())

    def parts(self) -> list[Component]:
        """Returns the components within this one, in order."""
        return list(self.fields[self.members]) if self.members else []

    def json(self) -> dict[str, Any]:
        """Returns the JSON of tokenizer.json; raises a plain Exception for a component in Python."""
        if self.object is not None:
            raise Exception(f"Custom {type(self).__name__} cannot be serialized")
        fields = dict(self.fields)
        if self.members:
            fields[self.members] = [component.json() for component in fields[self.members]]
        return {"type": type(self).__name__, **fields}

    def copy(self) -> Component:
        """Returns an independent copy."""
        copy: Component = Component.__new__(type(self))
        copy.fields, copy.object = dict(self.fields), self.object
        if self.members:
            copy.fields[self.members] = [component.copy() for component in self.fields[self.members]]
        return copy

    def __copy__(self) -> Component:
        return self.copy()

    def __deepcopy__(self, memo: dict[int, Any]) -> Component:
        return self.copy()

    def __getnewargs__(self) -> tuple[Any, ...]:
        return self.new_arguments

    def __getstate__(self) -> bytes:
        return json.dumps(self.json(), ensure_ascii=False, separators=(",", ":")).encode()

    def __setstate__(self, state: bytes) -> None:
        self.fields = component_of_json(self.family, json.loads(state)).fields

    def __repr__(self) -> str:
        return represent(self.json())

    def __str__(self) -> str:
        return represent(self.json(), most=5)


def component_of_json(family: str, value: Mapping[str, Any]) -> Component:
    """Returns the component that a fragment of tokenizer.json describes."""
    cls = Component.classes[family].get(value.get("type", ""))
    if cls is None:
        raise ValueError(f"{family}: unknown type {value.get('type')!r}")
    component: Component = cls.__new__(cls)
    given = {name: field for name, field in value.items() if name in cls.defaults} if cls.defaults else {}
    component.fields.update(given)
    if cls.members:
        component.fields[cls.members] = [component_of_json(family, part) for part in component.fields[cls.members]]
    return component


def component_of(cls: type[_Part], value: object) -> _Part:
    """Returns a component of a family: ours itself, or a copy of one of the original package."""
    if isinstance(value, cls):
        return value
    package = type(value).__module__.partition(".")[0]
    if package == "tokenizers" and any(base.__name__ == cls.__name__ for base in type(value).__mro__):
        state: Any = value.__getstate__()  # type: ignore[attr-defined]  # every component of the original has it
        component: Any = component_of_json(cls.family, json.loads(state))
        return component  # type: ignore[no-any-return]
    raise TypeError(f"'{type(value).__name__}' object is not an instance of '{cls.__name__}'")
