"""Options that several kinds have, checked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..errors import ArgumentError


def sizes(vocab_size: int | Sequence[int]) -> tuple[int, ...]:
    """The sizes that are asked for, one or several."""
    wanted = (vocab_size,) if isinstance(vocab_size, int) else tuple(vocab_size)
    if not wanted:
        raise ArgumentError("vocab_size=[] asks for nothing: give one size or several")
    for size in wanted:
        number("vocab_size", size, least=1, most=2**31 - 3)
    return wanted


def number(name: str, value: Any, *, least: int, most: int = 2**63 - 1) -> int:
    """A whole number in a range."""
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
        raise ArgumentError(f"{name}={value!r} is not a whole number from {least} to {most}")
    return value


def optional_number(name: str, value: Any, *, least: int) -> int | None:
    """The same, or None."""
    return None if value is None else number(name, value, least=least)


def one_of(name: str, value: Any, known: Sequence[str]) -> Any:
    """One of several names."""
    if value not in known:
        raise ArgumentError(f"{name}={value!r} is none of {', '.join(map(repr, known))}")
    return value


def special_tokens(tokens: Sequence[str] | Mapping[str, int]) -> dict[str, int | None]:
    """Texts of special tokens with the ids that they must have, or None where they get the next ones."""
    if isinstance(tokens, str):
        raise ArgumentError(f"special_tokens={tokens!r} is one text: give a list, or texts with ids")
    listed: dict[str, int | None] = dict.fromkeys(tokens)
    if isinstance(tokens, Mapping):
        listed.update(tokens)
    for text in listed:
        if not isinstance(text, str) or not text:
            raise ArgumentError(f"special_tokens: {text!r} is not a text of one character or more")
    return listed
