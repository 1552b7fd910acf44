"""From a list of merges to ranks: any pair may merge whose concatenation is an entry, and its id is the priority."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..errors import FormatError
from ..spec import Bpe, Spec, Vocab
from .base import Converted, some
from .derivation import How, derivations, out_of_order

RANKS = Bpe("rank", whole_piece_first=True)


def to_ranks(spec: Spec) -> Converted:
    """The same merging by rank. FormatError where ranks would merge in another way; what they merge more is a loss.

    Ids stay as they are, so a list is refused that does not merge in the order of its ids. Ranks look a whole piece up
    first: an entry that the list's merges never make is a token then.
    """
    model = spec.model
    assert isinstance(model, Bpe)
    if model.priority == "rank":
        return Converted(replace(spec, model=RANKS), _whole_pieces(spec.vocab, model))
    before, after = derivations(spec.vocab, model), derivations(spec.vocab, RANKS)
    lost = np.flatnonzero((before.how == How.MERGED) & (after.how != How.MERGED))
    moved = np.flatnonzero((before.how == How.MERGED) & ((before.left != after.left) | (before.right != after.right)))
    for rows, what in (
        (lost, "are not made when pairs merge by their ids"),
        (moved, "are made of other halves when pairs merge by their ids"),
        (out_of_order(before, after), "have an id that is not in the order of the merges"),
    ):
        if len(rows):
            pieces = [spec.vocab.piece(int(row)) for row in rows]
            raise FormatError(f"ranks merge in another way: {len(pieces)} entries {what} ({some(pieces)})")
    made = np.flatnonzero((before.how == How.NEVER) & (after.how == How.MERGED))
    losses = _whole_pieces(spec.vocab, model)
    if len(made):
        pieces = [spec.vocab.piece(int(row)) for row in made]
        losses = (f"model: {len(pieces)} entries that no merge makes are made by rank ({some(pieces)})",)
    return Converted(replace(spec, model=RANKS), losses)


def _whole_pieces(vocab: Vocab, model: Bpe) -> tuple[str, ...]:
    if model.whole_piece_first:
        return ()
    pieces = unmade(vocab, model)
    if not pieces:
        return ()
    return (
        f"model: {len(pieces)} entries that no merge makes are found where they are a whole piece ({some(pieces)})",
    )


def unmade(vocab: Vocab, model: Bpe) -> list[bytes]:
    """The entries that merging never makes, and so only a look-up of whole pieces finds."""
    return [vocab.piece(int(row)) for row in derivations(vocab, model).rows(How.NEVER)]
