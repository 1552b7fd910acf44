"""Checks arguments. Each function returns the value, or raises `ArgumentError` and names the argument."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .errors import ArgumentError


def number(name: str, value: Any, *, least: int, most: int = 2**63 - 1) -> int:
    """A whole number in a range.

    >>> number("threads", 2, least=1)
    2
    """
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
        raise ArgumentError(f"{name}={value!r} is not a whole number from {least} to {most}")
    return value


def optional_number(name: str, value: Any, *, least: int, most: int = 2**63 - 1) -> int | None:
    """The same, or None."""
    return None if value is None else number(name, value, least=least, most=most)


def one_of(name: str, value: Any, known: Sequence[object]) -> Any:
    """One of several values.

    >>> one_of("unit", "line", ("file", "line"))
    'line'
    """
    if value not in known:
        raise ArgumentError(f"{name}={value!r} is none of {', '.join(map(repr, known))}")
    return value
