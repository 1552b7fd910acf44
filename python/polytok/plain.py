"""Converts a Spec's parts to JSON and back, without loss.

A dataclass of `polytok.spec` is an object that names its class under ``$`` and omits fields with their default value,
so that a field added later changes nothing. Byte strings and arrays are stored beside the JSON, which refers to them.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

from . import spec as spec_module
from .errors import FormatError

_CLASSES: dict[str, Any] = {
    name: value
    for name, value in vars(spec_module).items()
    if isinstance(value, type) and dataclasses.is_dataclass(value)
}

Keep = Callable[[bytes], object]
"""Stores bytes that JSON cannot hold, and returns a reference to them."""


def to_plain(value: Any, keep: Keep) -> Any:
    """The value as a JSON value."""
    if value is None or isinstance(value, (bool, float, str)):
        return value
    if isinstance(value, int):
        return int(value)
    if isinstance(value, (bytes, bytearray)):
        return {"$": "bytes", "at": keep(bytes(value))}
    if isinstance(value, list):
        return [to_plain(item, keep) for item in value]
    if isinstance(value, tuple):
        return {"$": "tuple", "items": [to_plain(item, keep) for item in value]}
    if isinstance(value, Mapping):
        if "$" not in value and all(isinstance(key, str) for key in value):
            return {key: to_plain(item, keep) for key, item in value.items()}
        return {"$": "dict", "items": [[to_plain(key, keep), to_plain(item, keep)] for key, item in value.items()]}
    if type(value).__name__ in _CLASSES and not isinstance(value, type):
        return {"$": type(value).__name__, **fields_to_plain(value, keep)}
    return _array_to_plain(value, keep)


def _array_to_plain(value: Any, keep: Keep) -> Any:
    import numpy as np

    if isinstance(value, (np.ndarray, np.generic)) and value.dtype.kind in "biuf":
        little = np.ascontiguousarray(value, dtype=value.dtype.newbyteorder("<"))
        return {"$": "array", "type": little.dtype.str, "shape": list(value.shape), "at": keep(little.tobytes())}
    raise FormatError(f"{value!r:.100} is of a type that cannot be written: {type(value).__name__}")


def fields_to_plain(value: Any, keep: Keep, leave_out: frozenset[str] = frozenset()) -> dict[str, Any]:
    """The fields of a dataclass that differ from their default."""
    fields = (field for field in dataclasses.fields(value) if field.name not in leave_out)
    return {
        field.name: to_plain(getattr(value, field.name), keep)
        for field in fields
        if not _is_default(field, getattr(value, field.name))
    }


def _is_default(field: dataclasses.Field[Any], value: Any) -> bool:
    default = field.default if field.default_factory is dataclasses.MISSING else field.default_factory()
    return type(value) is type(default) and bool(value == default)


def from_plain(plain: Any, kept: Callable[[Any], bytes]) -> Any:
    """The value that `to_plain` serialized; ``kept`` returns the stored bytes. FormatError if the JSON is not such a
    value.
    """
    if isinstance(plain, list):
        return [from_plain(item, kept) for item in plain]
    if not isinstance(plain, dict):
        return plain
    if "$" not in plain:
        return {key: from_plain(item, kept) for key, item in plain.items()}
    try:
        return _from_tagged(plain, kept)
    except (KeyError, TypeError, ValueError) as error:
        raise FormatError(f"{plain!r:.100} is no part of a Spec: {error}") from error


def _from_tagged(plain: dict[str, Any], kept: Callable[[Any], bytes]) -> Any:
    tag = plain["$"]
    if tag == "bytes":
        return kept(plain["at"])
    if tag == "tuple":
        return tuple(from_plain(item, kept) for item in plain["items"])
    if tag == "dict":
        return {from_plain(key, kept): from_plain(item, kept) for key, item in plain["items"]}
    if tag == "array":
        import numpy as np

        flat = np.frombuffer(kept(plain["at"]), dtype=np.dtype(plain["type"])).reshape(plain["shape"])
        return flat.copy() if plain["shape"] else flat[()]
    fields = {name: from_plain(item, kept) for name, item in plain.items() if name != "$"}
    return _CLASSES[tag](**fields)
