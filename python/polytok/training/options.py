"""Options that several kinds share, with their checks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import is_dataclass
from functools import partial
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from ..checks import number
from ..errors import ArgumentError

_MOST_ENTRIES = 2**31 - 3
_NAMED: Mapping[Any, str] = {
    int: "a whole number",
    float: "a number",
    bool: "True or False",
    str: "a text",
    bytes: "bytes",
    Sequence[str]: "a list of texts",
}


def sizes(vocab_size: int | Sequence[int]) -> tuple[int, ...]:
    """The requested sizes, one or several."""
    if isinstance(vocab_size, int) or not isinstance(vocab_size, Sequence) or isinstance(vocab_size, (str, bytes)):
        return (number("vocab_size", vocab_size, least=1, most=_MOST_ENTRIES),)
    wanted = tuple(vocab_size)
    if not wanted:
        raise ArgumentError("vocab_size=[] asks for nothing: give one size or several")
    for size in wanted:
        number("vocab_size", size, least=1, most=_MOST_ENTRIES)
    return wanted


def flag(name: str, value: Any) -> bool:
    """True or False, and no value that merely counts as one of them."""
    if not isinstance(value, bool):
        raise ArgumentError(f"{name}={value!r} is neither True nor False")
    return value


def text(name: str, value: Any) -> str:
    """A text that UTF-8 can encode."""
    if not isinstance(value, str):
        raise ArgumentError(f"{name}={value!r} is not a text")
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise ArgumentError(f"{name}={value!r} holds a lone surrogate, which no UTF-8 has") from error
    return value


def characters(name: str, value: Any) -> tuple[str, ...]:
    """Texts of at least one character each; only the first character of each text counts."""
    if not isinstance(value, Iterable):
        raise ArgumentError(f"{name}={value!r} is not a list of characters")
    listed = tuple(value)
    for one in listed:
        if not text(name, one):
            raise ArgumentError(f"{name} holds an empty text: give characters")
    return listed


def steps(name: str, value: Any) -> tuple[Any, ...]:
    """Steps of a Spec."""
    if not isinstance(value, Sequence) or not all(is_dataclass(step) for step in value):
        raise ArgumentError(f"{name}={value!r} is not a list of steps of a Spec")
    return tuple(value)


def check_types(options: Any) -> None:
    """Checks each field of a dataclass against its type, if that is a simple one.

    >>> from dataclasses import make_dataclass
    >>> check_types(make_dataclass("Some", [("size", int), ("share", float)])(7.5, 1))
    Traceback (most recent call last):
        ...
    polytok.errors.ArgumentError: size=7.5 is not a whole number
    """
    for name, annotation in get_type_hints(type(options)).items():
        value = getattr(options, name)
        members = get_args(annotation) if get_origin(annotation) in (Union, UnionType) else (annotation,)
        if value is None and NoneType in members:
            continue
        if isinstance(value, str) and str in members:
            text(name, value)
        elif isinstance(value, tuple):
            for one in value:
                text(name, one)
        elif not any(map(partial(_is_of, value), members)):
            known = " or ".join(_NAMED.get(member, "a path") for member in members if member is not NoneType)
            raise ArgumentError(f"{name}={value!r} is not {known}")


def _is_of(value: Any, annotation: Any) -> bool:
    """Whether a value has a type. Names of choices are checked by the code that uses them."""
    if get_origin(annotation) is Literal:
        return True
    if annotation in (int, float) and isinstance(value, bool):
        return False
    known = (int, float) if annotation is float else get_origin(annotation) or annotation
    return isinstance(value, known)


def special_tokens(tokens: Sequence[str] | Mapping[str, int]) -> dict[str, int | None]:
    """Texts of special tokens with their required ids, or None if they get the next ids."""
    if isinstance(tokens, str):
        raise ArgumentError(f"special_tokens={tokens!r} is one text: give a list, or texts with ids")
    if not isinstance(tokens, Iterable):
        raise ArgumentError(f"special_tokens={tokens!r} is neither a list of texts nor texts with ids")
    for token in tokens:
        text("special_tokens", token)
    listed: dict[str, int | None] = dict.fromkeys(tokens)
    if isinstance(tokens, Mapping):
        listed.update(tokens)
    owners: dict[int, str] = {}
    for token, id in listed.items():
        if not token:
            raise ArgumentError("special_tokens: '' is not a text of one character or more")
        if isinstance(tokens, Mapping):
            number(f"special_tokens: the id of {token!r}", id, least=0, most=_MOST_ENTRIES)
        if id is not None and owners.setdefault(id, token) != token:
            raise ArgumentError(f"special_tokens: {owners[id]!r} and {token!r} have the same id {id}")
    return listed
