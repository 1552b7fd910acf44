"""How the entries of each family of models depend on each other, with a file for each family."""

from __future__ import annotations

from ...errors import ArgumentError
from ...spec import Bpe, Char, Longest, Plamo2, Unigram, described
from ..rows import Rows
from .base import Family, NewEntry
from .bpe import BpeFamily
from .unigram import UnigramFamily
from .words import WordFamily, WordPieceFamily

__all__ = ["Family", "NewEntry", "family_of"]


def family_of(rows: Rows) -> Family:
    """Returns the family of a vocabulary; raises `ArgumentError` for a model that cannot be edited."""
    model = rows.spec.model
    if isinstance(model, Bpe):
        return BpeFamily(rows, model)
    if isinstance(model, Unigram):
        return UnigramFamily(rows)
    if model.kind == "wordpiece":
        return WordPieceFamily(rows)
    if isinstance(model, (Plamo2, Longest)):
        raise ArgumentError(
            f"the model {described(model)} cannot be edited: its scores are whole numbers that are computed for all "
            "entries together; train a new vocabulary"
        )
    return WordFamily(rows, only_characters=isinstance(model, Char))
