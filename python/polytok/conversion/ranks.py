"""Converts a list of merges to ranks, with which any pair merges whose concatenation is an entry."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..errors import FormatError
from ..spec import Bpe, Spec, Vocab
from .base import Converted, first_items
from .derivation import DerivationKind, derivations, out_of_order

RANKS = Bpe("rank", whole_piece_first=True)


def to_ranks(spec: Spec) -> Converted:
    """Returns the Spec with an equivalent model that merges by rank.

    Raises FormatError if ranks merge differently; additional merges are a loss.

    Ids do not change, so a list whose merges are not in the order of ids is refused. Rank models look up a whole piece
    first: an entry that no merge of the list builds can then be a token.
    """
    model = spec.model
    assert isinstance(model, Bpe)
    if model.priority == "rank":
        return Converted(replace(spec, model=RANKS), _whole_piece_losses(spec.vocab, model))
    list_derivations, rank_derivations = derivations(spec.vocab, model), derivations(spec.vocab, RANKS)
    lost_rows = np.flatnonzero(
        (list_derivations.kind == DerivationKind.MERGED) & (rank_derivations.kind != DerivationKind.MERGED)
    )
    changed_rows = np.flatnonzero(
        (list_derivations.kind == DerivationKind.MERGED)
        & ((list_derivations.left != rank_derivations.left) | (list_derivations.right != rank_derivations.right))
    )
    for rows, reason in (
        (lost_rows, "are not built when pairs merge by their ids"),
        (changed_rows, "are built from other halves when pairs merge by their ids"),
        (out_of_order(list_derivations, rank_derivations), "have ids that are not in the order of the merges"),
    ):
        if len(rows):
            pieces = [spec.vocab.piece(int(row)) for row in rows]
            raise FormatError(f"ranks merge differently: {len(pieces)} entries {reason} ({first_items(pieces)})")
    added_rows = np.flatnonzero(
        (list_derivations.kind == DerivationKind.NEVER_MERGED) & (rank_derivations.kind == DerivationKind.MERGED)
    )
    losses = _whole_piece_losses(spec.vocab, model)
    if len(added_rows):
        pieces = [spec.vocab.piece(int(row)) for row in added_rows]
        losses = (f"model: {len(pieces)} entries that no merge builds are built by rank ({first_items(pieces)})",)
    return Converted(replace(spec, model=RANKS), losses)


def _whole_piece_losses(vocab: Vocab, model: Bpe) -> tuple[str, ...]:
    if model.whole_piece_first:
        return ()
    pieces = unmerged_entries(vocab, model)
    if not pieces:
        return ()
    return (
        (
            f"model: {len(pieces)} entries that no merge builds are found if they are a whole piece "
            f"({first_items(pieces)})"
        ),
    )


def unmerged_entries(vocab: Vocab, model: Bpe) -> list[bytes]:
    """Returns the entries that merging never builds, so that they are found only as whole pieces."""
    return [vocab.piece(int(row)) for row in derivations(vocab, model).rows(DerivationKind.NEVER_MERGED)]
