"""Converts ranks or scores to a list of merges."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from .. import _core
from ..columns import has_kind
from ..spec import Bpe, Kind, Spec, Vocab
from .base import counted_entries, first_items
from .derivation import NO_ROW, DerivationKind, Derivations, derivations

_RUN_LENGTH_FACTOR = 4
"""The length of the longest checked run of one character, as a multiple of the longest entry's length."""


@dataclass(frozen=True, slots=True, eq=False)
class MergeList:
    """An ordered list of merges (left id, right id, merged id), and the losses compared with the original model."""

    merges: npt.NDArray[np.uint32]
    derivations: Derivations
    losses: tuple[str, ...] = ()


def with_known_merges(model: Bpe, vocab: Vocab) -> Bpe:
    """Removes the merges of ids that the vocabulary lacks because their rows are now special tokens."""
    if model.merges is None:
        return model
    kept_mask = np.isin(model.merges, vocab.ids).all(axis=1)
    return model if kept_mask.all() else replace(model, merges=model.merges[kept_mask])


def effective_merges(vocab: Vocab, model: Bpe) -> MergeList:
    """Returns the merges of a model that merges by ids or by a list: exactly one pair for each merged entry."""
    vocab_derivations = derivations(vocab, model)
    return MergeList(
        _merges_of_rows(vocab, vocab_derivations, vocab_derivations.rows(DerivationKind.MERGED)), vocab_derivations
    )


def merges_from_scores(vocab: Vocab, model: Bpe) -> MergeList:
    """Returns the merges of a model that merges by scores, from the highest score to the lowest.

    A list cannot express two cases, which are reported as losses. First, among entries of
    equal score, scores merge the leftmost pair first, but a list merges one of the entries first in every text. (Runs
    of one character are not a loss if the list encodes the runs in the same way.) Second, a list cannot contain a
    character that occurs only inside entries, because the character has no id.
    """
    vocab_derivations = derivations(vocab, model)
    rows = vocab_derivations.rows(DerivationKind.MERGED)
    kinds = vocab.kinds[rows]
    rows = rows[has_kind(kinds, Kind.NORMAL, Kind.UNUSED)] if not model.reserved else rows
    has_both_halves = (vocab_derivations.left[rows] != NO_ROW) & (vocab_derivations.right[rows] != NO_ROW)
    losses = []
    if not has_both_halves.all():
        incomplete_entries = [vocab.piece(int(row)).decode(errors="replace") for row in rows[~has_both_halves]]
        losses.append(
            "model: "
            + counted_entries(
                incomplete_entries,
                "is merged from characters without entry",
                "are merged from characters without entry",
            )
        )
    merges = _merges_of_rows(vocab, vocab_derivations, rows[has_both_halves])
    losses += _tie_losses(vocab, model, merges, vocab_derivations, rows[has_both_halves])
    return MergeList(merges, vocab_derivations, tuple(losses))


def _merges_of_rows(
    vocab: Vocab, vocab_derivations: Derivations, rows: npt.NDArray[np.int64]
) -> npt.NDArray[np.uint32]:
    """Returns the merges of rows by priority. At equal priority, longer entries are first, like merging from the
    left."""
    lengths = np.diff(vocab.offsets.astype(np.int64))
    rows = rows[np.lexsort((vocab.ids[rows], -lengths[rows], vocab_derivations.priority[rows]))]
    columns = (vocab_derivations.left[rows], vocab_derivations.right[rows], vocab.ids[rows])
    return np.ascontiguousarray(np.stack(columns, axis=1), dtype=np.uint32).reshape(-1, 3)


def _tie_losses(
    vocab: Vocab,
    model: Bpe,
    merges: npt.NDArray[np.uint32],
    vocab_derivations: Derivations,
    rows: npt.NDArray[np.int64],
) -> list[str]:
    """Returns the losses of entries with equal scores, except runs of one character if their order has no effect."""
    priorities, counts = np.unique(vocab_derivations.priority[rows], return_counts=True)
    losses = []
    for priority_value in priorities[counts > 1].tolist():
        tied_rows = rows[vocab_derivations.priority[rows] == priority_value]
        pieces = [vocab.piece(int(row)).decode(errors="replace") for row in tied_rows]
        if any(len(set(piece)) > 1 for piece in pieces) or not _encode_runs_alike(vocab, model, merges, pieces):
            score = vocab.scores[tied_rows[0]]
            losses.append(
                f"model: {len(pieces)} entries share the score {score:g} ({first_items(pieces)}); if two of them "
                "compete, the leftmost merged first, and now the earlier one in the list does"
            )
    return losses


def _encode_runs_alike(vocab: Vocab, model: Bpe, merges: npt.NDArray[np.uint32], pieces: list[str]) -> bool:
    original_tokenizer, converted_tokenizer = (
        _core.Tokenizer(Spec(vocab, candidate, unknown="bytes" if has_kind(vocab.kinds, Kind.BYTE).any() else "unk"))
        for candidate in (model, replace(model, priority="merges", merges=merges))
    )
    max_length = max(map(len, pieces))
    runs = [
        char * count for char in {piece[0] for piece in pieces} for count in range(1, _RUN_LENGTH_FACTOR * max_length)
    ]
    return all(original_tokenizer.encode(run) == converted_tokenizer.encode(run) for run in runs)
