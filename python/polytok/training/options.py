"""Checks options that several kinds of trainers share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import is_dataclass
from functools import partial
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from ..checks import number
from ..errors import ArgumentError
from ..keywords import keyword

_MAX_ENTRIES = 2**31 - 3
_TYPE_NAMES: Mapping[Any, str] = {
    int: "a whole number",
    float: "a number",
    bool: "True or False",
    str: "a text",
    bytes: "bytes",
    Sequence[str]: "a list of texts",
}


def check_sizes(vocab_size: int | Sequence[int]) -> tuple[int, ...]:
    """Returns the requested sizes, one or several. Raises `ArgumentError` for an invalid size."""
    if isinstance(vocab_size, int) or not isinstance(vocab_size, Sequence) or isinstance(vocab_size, (str, bytes)):
        return (number("vocab_size", vocab_size, least=1, most=_MAX_ENTRIES),)
    all_sizes = tuple(vocab_size)
    if not all_sizes:
        raise ArgumentError(f"{keyword('vocab_size', [])} has no size: give one size or several")
    for size in all_sizes:
        number("vocab_size", size, least=1, most=_MAX_ENTRIES)
    return all_sizes


def check_text(name: str, value: Any) -> str:
    """Returns a text. Raises `ArgumentError` for any other value, and for a text that UTF-8 cannot encode."""
    if not isinstance(value, str):
        raise ArgumentError(f"{keyword(name, value)} is not a text")
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise ArgumentError(
            f"{keyword(name, value)} contains a lone surrogate, which UTF-8 cannot encode: remove it"
        ) from error
    return value


def check_characters(name: str, value: Any) -> tuple[str, ...]:
    """Returns texts of at least one character, of which only the first character is used.

    Raises `ArgumentError` for an empty text and for a value that is not a text.
    """
    if not isinstance(value, Iterable):
        raise ArgumentError(f"{keyword(name, value)} is not a list of characters")
    texts = tuple(value)
    for item in texts:
        if not check_text(name, item):
            raise ArgumentError(f"{name} contains an empty text: give texts of one character")
    return texts


def check_steps(name: str, value: Any) -> tuple[Any, ...]:
    """Returns steps of a Spec. Raises `ArgumentError` for any other value."""
    if not isinstance(value, Sequence) or not all(is_dataclass(step) for step in value):
        raise ArgumentError(f"{keyword(name, value)} is not a list of steps of a Spec")
    return tuple(value)


def check_types(options: Any) -> None:
    """Checks the type of each field of a dataclass, if the type is a simple one. Raises `ArgumentError`.

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
            check_text(name, value)
        elif isinstance(value, tuple):
            for item in value:
                check_text(name, item)
        elif not any(map(partial(_has_type, value), members)):
            type_names = " or ".join(_TYPE_NAMES.get(member, "a path") for member in members if member is not NoneType)
            raise ArgumentError(f"{keyword(name, value)} is not {type_names}")


def _has_type(value: Any, annotation: Any) -> bool:
    """Reports whether a value has a type. Values of a Literal are not checked here, but by the code that uses them."""
    if get_origin(annotation) is Literal:
        return True
    if annotation in (int, float) and isinstance(value, bool):
        return False
    classes = (int, float) if annotation is float else get_origin(annotation) or annotation
    return isinstance(value, classes)


def check_special_tokens(tokens: Sequence[str] | Mapping[str, int]) -> dict[str, int | None]:
    """Returns the texts of special tokens with their ids, or with None if the trainer assigns the ids.

    Raises `ArgumentError` for an empty text and for two special tokens with the same id.
    """
    if isinstance(tokens, str):
        raise ArgumentError(
            f"{keyword('special_tokens', tokens)} is a single text: give a list of texts, or a mapping of texts to ids"
        )
    if not isinstance(tokens, Iterable):
        raise ArgumentError(
            f"{keyword('special_tokens', tokens)} is neither a list of texts nor a mapping of texts to ids"
        )
    for token in tokens:
        check_text("special_tokens", token)
    ids_by_text: dict[str, int | None] = dict.fromkeys(tokens)
    if isinstance(tokens, Mapping):
        ids_by_text.update(tokens)
    text_by_id: dict[int, str] = {}
    for token, id in ids_by_text.items():
        if not token:
            raise ArgumentError(f"{keyword('special_tokens')} contains an empty text: remove it")
        if isinstance(tokens, Mapping):
            number(f"special_tokens: the id of {token!r}", id, least=0, most=_MAX_ENTRIES)
        if id is not None and text_by_id.setdefault(id, token) != token:
            raise ArgumentError(f"{keyword('special_tokens')}: {text_by_id[id]!r} and {token!r} have the same id {id}")
    return ids_by_text
