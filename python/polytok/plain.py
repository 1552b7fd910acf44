"""Converts the fields of a Spec to JSON and back, without loss.

A dataclass of `polytok.spec` is an object that has the name of its class under ``$`` and omits fields with their
default value, so that fields added later change nothing. Byte strings and arrays are stored beside the JSON, which
refers to them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from . import spec as spec_module
from .errors import FormatError
from .records import is_record

if TYPE_CHECKING:
    import dataclasses

_CLASS_OF_NAME: dict[str, Any] = {name: value for name, value in vars(spec_module).items() if is_record(value)}

StoreBytes = Callable[[bytes], object]
"""A function that stores bytes, which JSON cannot contain, and returns a reference to them."""


def to_plain(value: Any, store_bytes: StoreBytes) -> Any:
    """Converts a value to a value that JSON can contain."""
    if value is None or isinstance(value, (bool, float, str)):
        return value
    if isinstance(value, int):
        return int(value)
    if isinstance(value, (bytes, bytearray)):
        return {"$": "bytes", "at": store_bytes(bytes(value))}
    if isinstance(value, list):
        return [to_plain(item, store_bytes) for item in value]
    if isinstance(value, tuple):
        return {"$": "tuple", "items": [to_plain(item, store_bytes) for item in value]}
    if isinstance(value, Mapping):
        if "$" not in value and all(isinstance(key, str) for key in value):
            return {key: to_plain(item, store_bytes) for key, item in value.items()}
        return {
            "$": "dict",
            "items": [[to_plain(key, store_bytes), to_plain(item, store_bytes)] for key, item in value.items()],
        }
    if type(value).__name__ in _CLASS_OF_NAME and not isinstance(value, type):
        return {"$": type(value).__name__, **fields_to_plain(value, store_bytes)}
    return _array_to_plain(value, store_bytes)


def _array_to_plain(value: Any, store_bytes: StoreBytes) -> Any:
    import numpy as np

    if isinstance(value, (np.ndarray, np.generic)) and value.dtype.kind in "biuf":
        little_endian = np.ascontiguousarray(value, dtype=value.dtype.newbyteorder("<"))
        return {
            "$": "array",
            "type": little_endian.dtype.str,
            "shape": list(value.shape),
            "at": store_bytes(little_endian.tobytes()),
        }
    raise FormatError(f"{value!r:.100} has a type that cannot be written: {type(value).__name__}")


def fields_to_plain(value: Any, store_bytes: StoreBytes, leave_out: frozenset[str] = frozenset()) -> dict[str, Any]:
    """Converts the fields of a dataclass that differ from their default."""
    import dataclasses  # reading a file does not need this module

    fields = (field for field in dataclasses.fields(value) if field.name not in leave_out)
    return {
        field.name: to_plain(getattr(value, field.name), store_bytes)
        for field in fields
        if not _is_default(field, getattr(value, field.name))
    }


def _is_default(field: dataclasses.Field[Any], value: Any) -> bool:
    import dataclasses

    default = field.default if field.default_factory is dataclasses.MISSING else field.default_factory()
    return type(value) is type(default) and bool(value == default)


def from_plain(plain: Any, load_bytes: Callable[[Any], bytes]) -> Any:
    """Converts a result of `to_plain` to the original value. ``load_bytes`` returns the bytes of a reference.

    Raises FormatError if the JSON is not a result of `to_plain`.
    """
    if isinstance(plain, list):
        return [from_plain(item, load_bytes) for item in plain]
    if not isinstance(plain, dict):
        return plain
    if "$" not in plain:
        return {key: from_plain(item, load_bytes) for key, item in plain.items()}
    try:
        return _from_tagged(plain, load_bytes)
    except (KeyError, TypeError, ValueError) as error:
        raise FormatError(f"{plain!r:.100} is not a part of a Spec: {error}") from error


def _from_tagged(plain: dict[str, Any], load_bytes: Callable[[Any], bytes]) -> Any:
    tag = plain["$"]
    if tag == "bytes":
        return load_bytes(plain["at"])
    if tag == "tuple":
        return tuple(from_plain(item, load_bytes) for item in plain["items"])
    if tag == "dict":
        return {from_plain(key, load_bytes): from_plain(item, load_bytes) for key, item in plain["items"]}
    if tag == "array":
        import numpy as np

        array = np.frombuffer(load_bytes(plain["at"]), dtype=np.dtype(plain["type"])).reshape(plain["shape"])
        return array.copy() if plain["shape"] else array[()]
    fields = {name: from_plain(item, load_bytes) for name, item in plain.items() if name != "$"}
    return _CLASS_OF_NAME[tag](**fields)
