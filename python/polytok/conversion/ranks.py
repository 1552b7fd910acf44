"""Converts a list of merges to ranks. With ranks, a pair can merge if its concatenation is an entry."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..columns import has_kind
from ..errors import FormatError
from ..spec import Bpe, Spec, Vocab
from .base import Converted, counted_entries, unmerged_text
from .derivation import DerivationKind, derivations, rows_out_of_order

RANK_MODEL = Bpe("rank", whole_piece_first=True)


def to_ranks(spec: Spec) -> Converted:
    """Returns the Spec with an equivalent model that merges by rank.

    Raises FormatError if ranks merge differently; additional merges are a loss.

    Ids do not change, so a list whose merges are not in the order of ids is refused. A rank model looks up a whole
    piece before it merges, so a piece can also be encoded to an entry that the list's merges never build.
    """
    model = spec.model
    assert isinstance(model, Bpe)
    if model.priority == "rank":
        return Converted(replace(spec, model=RANK_MODEL), _whole_piece_losses(spec.vocab, model))
    list_derivations, rank_derivations = derivations(spec.vocab, model), derivations(spec.vocab, RANK_MODEL)
    unmerged_rows = np.flatnonzero(
        has_kind(list_derivations.kind, DerivationKind.MERGED) & ~has_kind(rank_derivations.kind, DerivationKind.MERGED)
    )
    rows_with_other_halves = np.flatnonzero(
        has_kind(list_derivations.kind, DerivationKind.MERGED)
        & ((list_derivations.left != rank_derivations.left) | (list_derivations.right != rank_derivations.right))
    )
    rows_with_other_order = rows_out_of_order(list_derivations, rank_derivations)
    for rows, one, many, reason in (
        (unmerged_rows, "is", "are", "not built when pairs merge by their ids"),
        (rows_with_other_halves, "is", "are", "built from other halves when pairs merge by their ids"),
        (rows_with_other_order, "has an id that is", "have ids that are", "not in the order of the merges"),
    ):
        if len(rows):
            pieces = [spec.vocab.piece(int(row)) for row in rows]
            text = counted_entries(pieces, f"{one} {reason}", f"{many} {reason}")
            raise FormatError(f"ranks merge differently: {text}")
    newly_merged_rows = np.flatnonzero(
        has_kind(list_derivations.kind, DerivationKind.NEVER_MERGED)
        & has_kind(rank_derivations.kind, DerivationKind.MERGED)
    )
    losses = _whole_piece_losses(spec.vocab, model)
    if len(newly_merged_rows):
        pieces = [spec.vocab.piece(int(row)) for row in newly_merged_rows]
        losses = (f"model: {unmerged_text(pieces, 'is built by rank', 'are built by rank')}",)
    return Converted(replace(spec, model=RANK_MODEL), losses)


def _whole_piece_losses(vocab: Vocab, model: Bpe) -> tuple[str, ...]:
    if model.whole_piece_first:
        return ()
    pieces = unmerged_entries(vocab, model)
    if not pieces:
        return ()
    text = unmerged_text(pieces, "is found if it is a whole piece", "are found if they are a whole piece")
    return (f"model: {text}",)


def unmerged_entries(vocab: Vocab, model: Bpe) -> list[bytes]:
    """Returns the entries that merging never builds. Such an entry is a token only if it is a whole piece."""
    return [vocab.piece(int(row)) for row in derivations(vocab, model).rows(DerivationKind.NEVER_MERGED)]
