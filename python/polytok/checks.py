"""Checks arguments. Each function returns the checked value, or raises `ArgumentError` that names the argument."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any

from .errors import ArgumentError
from .suggestions import did_you_mean


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


def flag(name: str, value: Any) -> bool:
    """Checks that a value is True or False, and returns the value.

    >>> flag("lines", True)
    True
    """
    if not isinstance(value, bool):
        raise ArgumentError(f"{name}={value!r} is neither True nor False")
    return value


def one_of(name: str, value: Any, choices: Sequence[object]) -> Any:
    """Checks that a value is among the choices, and returns the value.

    >>> one_of("long_documents", "skip", ("truncate", "skip"))
    'skip'
    """
    if value not in choices:
        texts = [choice for choice in choices if isinstance(choice, str)]
        suggestion = did_you_mean(value, texts) if isinstance(value, str) else ""
        raise ArgumentError(f"{name}={value!r} is not one of {', '.join(map(repr, choices))}{suggestion}")
    return value


def keywords(function: str, given_names: Iterable[str], known_names: Collection[str]) -> None:
    """Raises `TypeError` for a keyword argument that a function does not have.

    >>> keywords("tokenize", ["eoss"], ["bos", "eos"])
    Traceback (most recent call last):
        ...
    TypeError: tokenize() has no keyword argument 'eoss'; did you mean 'eos'?
    """
    for name in given_names:
        if name not in known_names:
            suggestion = did_you_mean(name, known_names) or f"; it has {', '.join(sorted(set(known_names)))}"
            raise TypeError(f"{function}() has no keyword argument {name!r}{suggestion}")
