"""Derives the merge that builds each entry. Equal derivations prove that two models encode alike.

In every text, an entry can be built by at most one pair of entries: the pair of the last merge when the text is the
entry itself (the proof is in crates/polytok-core/src/convert/derivation.rs). So a model that merges any pair whose
concatenation is an entry is equivalent to the list of these pairs in the order of their priorities. Two models with the
same pairs in the same order merge every text alike.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

import numpy as np
import numpy.typing as npt

from .. import _core
from ..columns import has_kind
from ..spec import Bpe, Vocab

NO_ROW = 2**32 - 1
"""The value for a half that is not an entry: a character that occurs only inside entries."""


class DerivationKind(IntEnum):
    """The kind of a derivation: an entry is a symbol, is built by a merge, is never built, or is reserved."""

    SYMBOL = 0
    MERGED = 1
    NEVER_MERGED = 2
    RESERVED = 3


@dataclass(frozen=True, slots=True, eq=False)
class Derivations:
    """The derivation of each row: the ids of the halves of the last merge, the kind, and the priority (lowest first).

    Pairs of equal priority merge from the left.
    """

    left: npt.NDArray[np.uint32]
    right: npt.NDArray[np.uint32]
    kind: npt.NDArray[np.uint8]
    priority: npt.NDArray[np.int64]

    def rows(self, kind: DerivationKind) -> npt.NDArray[np.int64]:
        """Returns the rows with this kind of derivation."""
        return np.flatnonzero(has_kind(self.kind, kind))


def derivations(vocab: Vocab, model: Bpe) -> Derivations:
    """Derives the last merge of each row's entry."""
    symbols = "bytes" if model.symbols == "bytes" else "chars"
    left, right, kind = _core.bpe_derivations(vocab, model.priority, model.merges, symbols, model.reserved)
    return Derivations(left, right, kind, _priorities(vocab, model, left, right, has_kind(kind, DerivationKind.MERGED)))


def _priorities(
    vocab: Vocab,
    model: Bpe,
    left: npt.NDArray[np.uint32],
    right: npt.NDArray[np.uint32],
    merged_mask: npt.NDArray[np.bool_],
) -> npt.NDArray[np.int64]:
    if model.priority == "rank":
        return vocab.ids.astype(np.int64)
    if model.priority == "score":
        return np.asarray(np.unique(-(vocab.scores + 0.0), return_inverse=True)[1], dtype=np.int64)
    assert model.merges is not None
    # If a pair is listed twice, the last position is used.
    index_of_pair = {pair: index for index, pair in enumerate(_pair_keys(model.merges[:, 0], model.merges[:, 1]))}
    pairs = _pair_keys(left[merged_mask], right[merged_mask])
    priority = np.zeros(len(vocab), dtype=np.int64)
    priority[merged_mask] = [index_of_pair[pair] for pair in pairs]
    return priority


def _pair_keys(left: npt.NDArray[np.uint32], right: npt.NDArray[np.uint32]) -> list[int]:
    keys: list[int] = (left.astype(np.uint64) << np.uint64(32) | right).tolist()
    return keys


def rows_merged_differently(first: Derivations, second: Derivations) -> npt.NDArray[np.int64]:
    """Returns the rows that two models may merge differently; an empty result proves that the models agree.

    The result has the rows whose derivations differ. If there are none, it has the rows that merge in another order.
    """
    difference_mask = (first.kind != second.kind) | (first.left != second.left) | (first.right != second.right)
    rows = np.flatnonzero(difference_mask & ~_never_merged_mask(first, second))
    return rows if len(rows) else rows_out_of_order(first, second)


def _never_merged_mask(first: Derivations, second: Derivations) -> npt.NDArray[np.bool_]:
    """Returns a mask of the rows that neither model merges."""
    unmerged_kinds = (DerivationKind.NEVER_MERGED, DerivationKind.RESERVED)
    return np.isin(first.kind, unmerged_kinds) & np.isin(second.kind, unmerged_kinds)


def rows_out_of_order(first: Derivations, second: Derivations) -> npt.NDArray[np.int64]:
    """Returns the merged rows that come after their predecessor in one model, and before it in the other model."""
    rows = first.rows(DerivationKind.MERGED)
    rows_by_priority = rows[np.lexsort((second.priority[rows], first.priority[rows]))]
    priority_differences = np.diff(first.priority[rows_by_priority]), np.diff(second.priority[rows_by_priority])
    misordered_rows: npt.NDArray[np.int64] = rows_by_priority[1:][
        np.sign(priority_differences[0]) != np.sign(priority_differences[1])
    ]
    return misordered_rows
