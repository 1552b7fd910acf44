"""Checks that counts hold the words that a training needs."""

from __future__ import annotations

from typing import Any

from ..errors import ArgumentError
from ..keywords import keyword
from .counting import Counts

_MAX_TEXT_LENGTH = 100


def check_counts(counts: Counts, expected_counts: Counts, *, any_split: bool) -> Counts:
    """Returns the counts. Raises `ArgumentError` if the counts do not count the same words as ``expected_counts``.

    ``expected_counts`` are empty counts with the options of the training. With ``any_split``, the splits can differ,
    because the training uses the split of the counts.

    >>> counts = Counts(split="a+")
    >>> check_counts(counts, Counts(), any_split=True) is counts
    True
    """
    if type(counts) is not type(expected_counts):
        raise ArgumentError(
            f"these counts have other words than this kind needs: use the counts to train {counts.kind}"
        )
    names = ("normalize", "special_tokens") if any_split else ("normalize", "split", "special_tokens")
    actual_values, expected_values = counts.description, expected_counts.description
    different_names = [name for name in names if actual_values[name] != expected_values[name]]
    if different_names:
        differences = ", ".join(
            f"{keyword(name)} is {_option_text(counts, name)} in the counts "
            f"and {_option_text(expected_counts, name)} in this training"
            for name in different_names
        )
        raise ArgumentError(
            f"these counts have other words than this training needs: {differences}; train with the kind and the "
            "options of the counts, or count the texts again with the options of this training"
        )
    return counts


def _option_text(counts: Counts, name: str) -> str:
    value: Any = list(getattr(counts, name))
    if name == "special_tokens":
        value = [token.decode(errors="backslashreplace") for token in value]
    text = repr(value)
    return text if len(text) <= _MAX_TEXT_LENGTH else text[:_MAX_TEXT_LENGTH] + "..."
