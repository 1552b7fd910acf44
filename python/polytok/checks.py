"""Checks arguments. Each function returns the checked value, or raises `ArgumentError` that names the argument."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .errors import ArgumentError


def number(name: str, value: Any, *, least: int, most: int = 2**63 - 1) -> int:
    """Checks that a value is a whole number in a range, and returns the value.

    >>> number("threads", 2, least=1)
    2
    """
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
        raise ArgumentError(f"{name}={value!r} is not a whole number from {least} to {most}")
    return value


def optional_number(name: str, value: Any, *, least: int, most: int = 2**63 - 1) -> int | None:
    """Checks that a value is None or a whole number in a range, and returns the value."""
    return None if value is None else number(name, value, least=least, most=most)


def one_of(name: str, value: Any, choices: Sequence[object]) -> Any:
    """Checks that a value is among the choices, and returns the value.

    >>> one_of("unit", "line", ("file", "line"))
    'line'
    """
    if value not in choices:
        raise ArgumentError(f"{name}={value!r} is not one of {', '.join(map(repr, choices))}")
    return value
