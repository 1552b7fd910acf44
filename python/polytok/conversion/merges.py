"""From ranks or scores to a list of merges."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from .. import _core
from ..spec import Bpe, Kind, Spec, Vocab
from .base import some
from .derivation import NO_ROW, Derivations, How, derivations

_CHECKED_RUNS = 4
"""Runs of one character are checked up to so many times the longest entry."""


@dataclass(frozen=True, slots=True, eq=False)
class MergeList:
    """Merges in order, (left id, right id, merged id), and what they do not do as the model they were made from."""

    merges: npt.NDArray[np.uint32]
    derived: Derivations
    losses: tuple[str, ...] = ()


def known_merges(model: Bpe, vocab: Vocab) -> Bpe:
    """The model without merges of entries that the vocabulary does not have (special tokens that were rows)."""
    if model.merges is None:
        return model
    kept = np.isin(model.merges, vocab.ids).all(axis=1)
    return model if kept.all() else replace(model, merges=model.merges[kept])


def live_merges(vocab: Vocab, model: Bpe) -> MergeList:
    """The merges of a model that merges by ids or by a list: exact, one pair for each entry that merging makes."""
    derived = derivations(vocab, model)
    return MergeList(_listed(vocab, derived, derived.rows(How.MERGED)), derived)


def merges_from_scores(vocab: Vocab, model: Bpe) -> MergeList:
    """The merges of a model that merges by scores, the highest first.

    Two things cannot be listed. Among entries of the same score the leftmost pair goes first; a list has one order for
    all places. And a character that is no entry but a part of some is no id to list. Of either kind what exists is
    named, but for runs of one character, which are tried out.
    """
    derived = derivations(vocab, model)
    rows = derived.rows(How.MERGED)
    kinds = vocab.kinds[rows]
    rows = rows[(kinds == Kind.NORMAL) | (kinds == Kind.UNUSED)] if not model.reserved else rows
    known = (derived.left[rows] != NO_ROW) & (derived.right[rows] != NO_ROW)
    losses = []
    if not known.all():
        strangers = [vocab.piece(int(row)).decode(errors="replace") for row in rows[~known]]
        losses.append(f"model: {len(strangers)} entries are merged from characters without entry ({some(strangers)})")
    merges = _listed(vocab, derived, rows[known])
    losses += _ties(vocab, model, merges, derived, rows[known])
    return MergeList(merges, derived, tuple(losses))


def _listed(vocab: Vocab, derived: Derivations, rows: npt.NDArray[np.int64]) -> npt.NDArray[np.uint32]:
    """By priority; of equal ones the longest first, so that what was begun is finished first, as from the left."""
    lengths = np.diff(vocab.offsets.astype(np.int64))
    rows = rows[np.lexsort((vocab.ids[rows], -lengths[rows], derived.priority[rows]))]
    columns = (derived.left[rows], derived.right[rows], vocab.ids[rows])
    return np.ascontiguousarray(np.stack(columns, axis=1), dtype=np.uint32).reshape(-1, 3)


def _ties(
    vocab: Vocab, model: Bpe, merges: npt.NDArray[np.uint32], derived: Derivations, rows: npt.NDArray[np.int64]
) -> list[str]:
    """Entries of equal score, unless they are runs of one character for which the order proves not to matter."""
    values, counts = np.unique(derived.priority[rows], return_counts=True)
    losses = []
    for value in values[counts > 1].tolist():
        group = rows[derived.priority[rows] == value]
        pieces = [vocab.piece(int(row)).decode(errors="replace") for row in group]
        if any(len(set(piece)) > 1 for piece in pieces) or not _runs_agree(vocab, model, merges, pieces):
            score = vocab.scores[group[0]]
            losses.append(
                f"model: {len(pieces)} entries share the score {score:g} ({some(pieces)}); where two of them compete "
                "the leftmost went first, now it is the earlier in the list"
            )
    return losses


def _runs_agree(vocab: Vocab, model: Bpe, merges: npt.NDArray[np.uint32], pieces: list[str]) -> bool:
    before, after = (
        _core.Tokenizer(Spec(vocab, each, unknown="bytes" if (vocab.kinds == Kind.BYTE).any() else "unk"))
        for each in (model, replace(model, priority="merges", merges=merges))
    )
    longest = max(map(len, pieces))
    runs = [char * count for char in {piece[0] for piece in pieces} for count in range(1, _CHECKED_RUNS * longest)]
    return all(before.encode(run) == after.encode(run) for run in runs)
