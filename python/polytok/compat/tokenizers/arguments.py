"""Checks of arguments, with the exceptions of tokenizers 0.23."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

_U32 = 2**32
_U64 = 2**64


def text(value: object) -> str:
    """Returns a str, or raises TypeError."""
    if not isinstance(value, str):
        raise TypeError(f"{_described(value)} is not an instance of 'str'")
    return value


def boolean(value: object) -> bool:
    """Returns a bool, or raises TypeError."""
    if not isinstance(value, bool):
        raise TypeError(f"{_described(value)} is not an instance of 'bool'")
    return value


def check_function(value: object, message: str) -> None:
    """Raises TypeError with the message if a value is not a function."""
    if not callable(value):
        raise TypeError(message)


def _described(value: object) -> str:
    return "'None'" if value is None else f"'{type(value).__name__}' object"


def unsigned(value: Any, limit: int = _U64) -> int:
    """Returns a number from 0 to ``limit`` - 1; raises TypeError or OverflowError."""
    if not hasattr(value, "__index__"):
        raise TypeError(f"'{type(value).__name__}' object cannot be interpreted as an integer")
    number: int = value.__index__()
    if number < 0:
        is_id = limit == _U32
        raise OverflowError(
            "number too small to fit in target type" if is_id else "can't convert negative int to unsigned"
        )
    if number >= limit:
        raise OverflowError("number too large to fit in target type")
    return number


def optional_unsigned(value: Any) -> int | None:
    """Returns a number that is not negative, or None."""
    return None if value is None else unsigned(value)


def id_number(value: Any) -> int:
    """Returns an id as the original accepts it."""
    return unsigned(value, _U32)


def id_list(ids: Iterable[Any]) -> list[int]:
    """Returns a list of ids; raises TypeError or OverflowError."""
    if isinstance(ids, (str, bytes)) or not hasattr(ids, "__iter__"):
        raise TypeError(f"'{type(ids).__name__}' object is not an instance of 'Sequence'")
    return [id_number(id) for id in ids]


def warn_unknown(given: Mapping[str, object], known: Collection[str]) -> None:
    """Prints a line for each unknown keyword, as the original does."""
    for name in given:
        if name not in known:
            print(f"Ignored unknown kwarg option {name}")
