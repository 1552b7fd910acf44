"""Data classes that are created in a tenth of the time that the module `dataclasses` takes.

`dataclass` here has the options and the results of `dataclasses.dataclass` that polytok needs, and type checkers see
the original. It generates no source code, and imports `dataclasses` only if a program uses this module's functions on
such a class (`fields`, `replace`, `asdict`, ...). Importing `dataclasses` and creating the classes of a Spec would take
longer than everything else in most loads. Creating an object is slower: it takes 2 to 4 µs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
    from dataclasses import field as field
    from dataclasses import replace as replace
else:

    def dataclass(*, frozen: bool, slots: bool = False, eq: bool = True) -> Callable[[type], type]:
        """Returns a decorator that adds the methods of a frozen dataclass to a class."""
        assert frozen, "only frozen dataclasses are supported"
        return lambda cls: _create(cls, slots, eq)

    def field(*, default_factory: Callable[[], object]) -> _Factory:
        """Marks a field whose default is created for each object."""
        return _Factory(default_factory)

    def replace(record: Any, /, **changes: object) -> Any:
        """Returns a copy of an object with other values of some fields."""
        kept_values = {name: getattr(record, name) for name in record.__match_args__ if name not in changes}
        return type(record)(**kept_values, **changes)


def is_record(value: object) -> bool:
    """Reports whether a value is a class that the `dataclass` of this module created."""
    return isinstance(value, type) and "_template" in value.__dict__


class _Factory:
    def __init__(self, create: Callable[[], object]) -> None:
        self.create = create


def _create(cls: type, slots: bool, eq: bool) -> type:
    annotations: Mapping[str, str] = getattr(cls, "__annotations__", {})  # no class here inherits annotations
    names = tuple(name for name, annotation in annotations.items() if not annotation.startswith("ClassVar"))
    defaults = {name: getattr(cls, name) for name in names if hasattr(cls, name)}
    members = {**_METHODS, **(_COMPARISONS if eq else {}), **_LAZY_ATTRIBUTES}
    members |= {"__match_args__": names, "_defaults": defaults, "_template": (cls, eq)}
    if not slots:
        for name, value in members.items():
            if name not in cls.__dict__:
                setattr(cls, name, value)
        return cls
    own_members = {
        name: value for name, value in cls.__dict__.items() if name not in (*names, "__dict__", "__weakref__")
    }
    namespace = {**members, **own_members, "__slots__": names, "__qualname__": cls.__qualname__}
    return type(cls)(cls.__name__, cls.__bases__, namespace)


def _init(self: Any, /, *args: object, **keywords: object) -> None:
    names: tuple[str, ...] = self.__match_args__
    if len(args) > len(names):
        raise TypeError(f"{type(self).__name__} has {len(names)} fields, not {len(args)}")
    if len(args) == len(names) and not keywords:
        for name, value in zip(names, args, strict=True):
            object.__setattr__(self, name, value)
        if hasattr(self, "__post_init__"):
            self.__post_init__()
        return
    given_values = dict(zip(names, args, strict=False))
    if repeated := given_values.keys() & keywords:
        raise TypeError(f"{type(self).__name__} got multiple values for {', '.join(sorted(repeated))}")
    values = {**self._defaults, **given_values, **keywords}
    if values.keys() != set(names):
        unknown, missing = sorted(values.keys() - set(names)), sorted(set(names) - values.keys())
        reason = f"has no field {', '.join(unknown)}" if unknown else f"needs {', '.join(missing)}"
        raise TypeError(f"{type(self).__name__} {reason}")
    for name, value in values.items():
        object.__setattr__(self, name, value.create() if isinstance(value, _Factory) else value)
    if hasattr(self, "__post_init__"):
        self.__post_init__()


def _values(self: Any) -> tuple[object, ...]:
    return tuple(getattr(self, name) for name in self.__match_args__)


def _repr(self: Any) -> str:
    fields = ", ".join(f"{name}={getattr(self, name)!r}" for name in self.__match_args__)
    return f"{type(self).__qualname__}({fields})"


def _eq(self: object, other: object) -> bool:
    return _values(self) == _values(other) if type(self) is type(other) else NotImplemented


def _hash(self: object) -> int:
    return hash(_values(self))


def _refuse_change(self: object, name: str, value: object = None) -> None:
    from dataclasses import FrozenInstanceError

    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def _reduce(self: object) -> tuple[type, tuple[object, ...]]:
    return type(self), _values(self)


def _replace(self: Any, /, **changes: object) -> Any:
    return replace(self, **changes)


class _FromModuleDataclasses:
    """An attribute that the module `dataclasses` would have created; it is created when it is first read."""

    def __init__(self, create: Callable[[Any], object]) -> None:
        self._create = create

    def __get__(self, instance: object | None, owner: type) -> object:
        return self._create(_original(owner))


@cache
def _original(cls: Any) -> Any:
    """Returns a class with the same fields that the module `dataclasses` creates."""
    import dataclasses

    template, eq = cls._template
    annotations = getattr(template, "__annotations__", {})
    members = {name: value for name, value in template.__dict__.items() if name in annotations}
    for name, value in members.items():
        if isinstance(value, _Factory):
            members[name] = dataclasses.field(default_factory=value.create)
    members |= {"__annotations__": annotations, "__module__": template.__module__}
    original: Any = dataclasses.dataclass(frozen=True, eq=eq)(type(template.__name__, (), members))
    return original


def _signature(original: type) -> object:
    import inspect

    return inspect.signature(original)


_METHODS: Mapping[str, Any] = {
    "__init__": _init,
    "__repr__": _repr,
    "__setattr__": _refuse_change,
    "__delattr__": _refuse_change,
    "__reduce__": _reduce,
    "__replace__": _replace,
}
_COMPARISONS: Mapping[str, Any] = {"__eq__": _eq, "__hash__": _hash}
_LAZY_ATTRIBUTES = {
    "__dataclass_fields__": _FromModuleDataclasses(lambda original: original.__dataclass_fields__),
    "__dataclass_params__": _FromModuleDataclasses(lambda original: original.__dataclass_params__),
    "__signature__": _FromModuleDataclasses(_signature),
}
