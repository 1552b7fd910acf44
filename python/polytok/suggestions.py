"""Suggests the name that a user probably meant."""

from __future__ import annotations

from collections.abc import Iterable


def did_you_mean(name: str, known_names: Iterable[str]) -> str:
    """Returns the end of an error message, with the known name that is most similar; empty if no name is similar.

    >>> did_you_mean("eoss", ["bos", "eos"]), did_you_mean("x", ["bos", "eos"])
    ("; did you mean 'eos'?", '')
    """
    match = similar_name(name, known_names)
    return f"; did you mean {match!r}?" if match else ""


def similar_name(name: str, known_names: Iterable[str]) -> str | None:
    """Returns the known name that is most similar, or None.

    A name that is almost the same comes first, then one with some of the same words, then any similar name.

    >>> similar_name("--max-tokens", ["--max", "--special-tokens"])
    '--max'
    """
    from difflib import get_close_matches  # only an error needs it

    names = list(known_names)
    matches = get_close_matches(name, names, 1, cutoff=0.85)
    matches += sorted((known for known in names if _begins_with_words(name, known)), key=len, reverse=True)
    matches += get_close_matches(name, names, 1)
    return matches[0] if matches else None


def _begins_with_words(name: str, other: str) -> bool:
    """Reports whether the words of one name begin the other."""
    shorter, longer = sorted((name, other), key=len)
    return len(shorter) > 2 and longer.startswith((f"{shorter}-", f"{shorter}_"))
