"""Suggests the name that a user probably meant."""

from __future__ import annotations

from collections.abc import Iterable


def did_you_mean(name: str, known_names: Iterable[str]) -> str:
    """Returns the end of an error message, with the known name that is most similar; empty if no name is similar.

    >>> did_you_mean("eoss", ["bos", "eos"]), did_you_mean("x", ["bos", "eos"])
    ("; did you mean 'eos'?", '')
    """
    from difflib import get_close_matches  # only an error needs it

    matches = get_close_matches(name, list(known_names), 1)
    return f"; did you mean {matches[0]!r}?" if matches else ""
