"""Checks arguments. Each function returns the checked value, or raises an error that names the argument, shows its
value, and says what is accepted: `ArgumentError` for an option, and `TypeError` for texts and ids of a wrong type."""

from __future__ import annotations

import codecs
import operator
import os
from collections.abc import Collection, Iterable, Sequence
from typing import Any, TypeVar

from .errors import ArgumentError
from .keywords import keyword
from .suggestions import did_you_mean, keyword_advice

_MAX_SHOWN_CHARACTERS = 60
_MAX_NUMBER = 2**63 - 1

Value = TypeVar("Value")


def number(name: str, value: Any, *, least: int, most: int = _MAX_NUMBER) -> int:
    """Checks that a value is a whole number in a range, and returns the value as an int.

    >>> number("threads", 2, least=1)
    2
    """
    whole = _index(value)
    if whole is None or not least <= whole <= most:
        range_text = f"from {least} to {most}" if most != _MAX_NUMBER else f"of {least} or more"
        raise ArgumentError(f"{keyword(f'{name}={shown(value)}')} is not a whole number {range_text}")
    return whole


def whole_number(name: str, value: Any) -> int:
    """Checks that a value is a whole number of any size, and returns the value as an int."""
    if (whole := _index(value)) is None:
        raise ArgumentError(f"{keyword(f'{name}={shown(value)}')} is not a whole number")
    return whole


def _index(value: Any) -> int | None:
    """Returns a whole number as an int, and None for any other value. True and False are not numbers here."""
    try:
        return None if isinstance(value, bool) else operator.index(value)
    except TypeError:
        return None


def optional_number(name: str, value: Any, *, least: int, most: int = _MAX_NUMBER) -> int | None:
    """Checks that a value is None or a whole number in a range, and returns the value."""
    return None if value is None else number(name, value, least=least, most=most)


def real(name: str, value: Any) -> float:
    """Checks that a value is a finite number, and returns the value as a float.

    >>> real("alpha", 1)
    1.0
    """
    try:
        real_number = float("nan" if isinstance(value, (str, bytes)) else value)
    except (TypeError, OverflowError):
        real_number = float("nan")
    if real_number - real_number != 0:  # the difference is NaN for NaN and for infinities
        raise ArgumentError(f"{keyword(f'{name}={shown(value)}')} is not a number")
    return real_number


def flag(name: str, value: Any) -> bool:
    """Checks that a value is True or False, and returns the value.

    >>> flag("lines", True)
    True
    """
    if not isinstance(value, bool):
        raise ArgumentError(f"{keyword(f'{name}={shown(value)}')} is neither True nor False")
    return value


def one_of(name: str, value: Any, choices: Sequence[object]) -> Any:
    """Checks that a value is among the choices, and returns the value.

    >>> one_of("long_documents", "skip", ("truncate", "skip"))
    'skip'
    """
    if value not in choices:
        texts = [choice for choice in choices if isinstance(choice, str)]
        suggestion = did_you_mean(value, texts) if isinstance(value, str) else ""
        raise ArgumentError(
            f"{keyword(f'{name}={shown(value)}')} is not one of {', '.join(map(repr, choices))}{suggestion}"
        )
    return value


def error_handler(name: str, value: Any) -> str:
    """Checks that a value is the name of one of Python's handlers for decoding errors, and returns the value.

    >>> error_handler("errors", "replace")
    'replace'
    """
    try:
        codecs.lookup_error(value)
    except (LookupError, TypeError, ValueError):
        choices = "'replace', 'strict', 'ignore', or another error handler of Python"
        raise ArgumentError(f"{keyword(f'{name}={shown(value)}')} is not one of {choices}") from None
    return str(value)


def text(name: str, value: Any) -> str | bytes:
    """Checks that a value is a text, and returns the value."""
    if not isinstance(value, (str, bytes)):
        raise TypeError(f"{name}={shown(value)} is not a text, which is a str or bytes")
    return value


def texts(name: str, value: Any, kind: str = "texts") -> list[Any]:
    """Checks that a value holds several texts, and returns them as a list. ``kind`` is the error's word for them.

    >>> texts("pieces", ("a", b"b"))
    ['a', b'b']
    """
    if isinstance(value, (str, bytes)):
        raise TypeError(f"{name}={shown(value)} is a single text: pass several {kind}, such as [{shown(value)}]")
    values = list(iterable(name, value, kind))
    for place, item in enumerate(values):
        if not isinstance(item, (str, bytes)):
            raise TypeError(f"{name}[{place}]={shown(item)} is not a text, which is a str or bytes")
    return values


def iterable(name: str, value: Any, items: str) -> Iterable[Any]:
    """Checks that a value can be iterated, and returns the value. ``items`` is the error's word for the items."""
    try:
        iter(value)
    except TypeError:
        raise TypeError(f"{name}={shown(value)} is not a list of {items}, or another iterable of them") from None
    accepted: Iterable[Any] = value
    return accepted


def path(name: str, value: Any) -> str | os.PathLike[str]:
    """Checks that a value is a path, and returns the value."""
    if not isinstance(value, (str, os.PathLike)):
        raise TypeError(f"{name}={shown(value)} is not a path, which is a str or an os.PathLike")
    return value


def piece_or_id(name: str, value: Any) -> int | str | None:
    """Checks that a value is a piece, an id or None, and returns the value."""
    if value is not None and not isinstance(value, str) and _index(value) is None:
        raise ArgumentError(f"{keyword(f'{name}={shown(value)}')} is neither a piece nor an id")
    accepted: int | str | None = value
    return accepted


def instance(name: str, value: Any, cls: type[Value], type_name: str) -> Value:
    """Checks that a value is an object of a class, and returns the value.

    >>> instance("state", {}, dict, "dict")
    {}
    """
    if not isinstance(value, cls):
        raise TypeError(f"{name}={shown(value)} is not a {type_name}")
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
            raise TypeError(f"{function}() has no keyword argument {name!r}{keyword_advice(name, known_names)}")


def shown(value: object) -> str:
    """Returns the repr of a value, shortened if it is long.

    >>> shown([16]), len(shown(range(1000))), len(shown(list(range(1000))))
    ('[16]', 14, 60)
    """
    text = repr(value)
    return text if len(text) <= _MAX_SHOWN_CHARACTERS else f"{text[: _MAX_SHOWN_CHARACTERS - 1]}…"
