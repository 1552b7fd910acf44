"""Checks that counts are of the words that a training needs."""

from __future__ import annotations

from typing import Any

from ..errors import ArgumentError
from .counting import Counts

_LONGEST = 100


def checked(counts: Counts, expected: Counts, *, any_split: bool) -> Counts:
    """The counts; ArgumentError if their words differ from those of ``expected``, which the options require.

    With ``any_split`` the options do not say how texts are split, so the counts' own split is used.

    >>> counts = Counts(split="a+")
    >>> checked(counts, Counts(), any_split=True) is counts
    True
    """
    if type(counts) is not type(expected):
        raise ArgumentError(f"these counts are of other words: they are for {counts.kind}")
    names = ("normalize", "special_tokens") if any_split else ("normalize", "split", "special_tokens")
    there, here = counts.description, expected.description
    other = [name for name in names if there[name] != here[name]]
    if other:
        listed = ", ".join(
            f"{name} is {_shown(counts, name)} in them and {_shown(expected, name)} here" for name in other
        )
        raise ArgumentError(
            f"these counts are of other words: {listed}; train with the kind and the options that they were counted "
            "with, or count the texts again with these"
        )
    return counts


def _shown(counts: Counts, name: str) -> str:
    value: Any = list(getattr(counts, name))
    if name == "special_tokens":
        value = [token.decode(errors="backslashreplace") for token in value]
    text = repr(value)
    return text if len(text) <= _LONGEST else text[:_LONGEST] + "..."
