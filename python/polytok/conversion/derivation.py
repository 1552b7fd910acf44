"""Derives the merge that builds each entry, which can prove that two models encode alike.

At most one pair of entries merges into an entry, in any text: the pair is the last merge of the entry's own text (the
proof is in crates/polytok-core/src/convert/derivation.rs). So a model that merges any pair whose concatenation is an
entry is equivalent to the list of these pairs in the order of their priorities. Two models with the same pairs in the
same order merge every text alike.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

import numpy as np
import numpy.typing as npt

from .. import _core
from ..spec import Bpe, Spec, Vocab

NO_ROW = 2**32 - 1
"""The value for a half that is not an entry: a character that occurs only inside entries."""


class DerivationKind(IntEnum):
    """Kinds of derivations: the entry is a symbol, is merged, is never merged, or is reserved."""

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
        return np.flatnonzero(self.kind == kind)


def derivations(vocab: Vocab, model: Bpe) -> Derivations:
    """Returns the derivation of each row."""
    symbols = "bytes" if model.symbols == "bytes" else "chars"
    left, right, kind = _core.bpe_derivations(vocab, model.priority, model.merges, symbols, model.reserved)
    return Derivations(left, right, kind, _priorities(vocab, model, left, right, kind == DerivationKind.MERGED))


def _priorities(
    vocab: Vocab,
    model: Bpe,
    left: npt.NDArray[np.uint32],
    right: npt.NDArray[np.uint32],
    is_merged: npt.NDArray[np.bool_],
) -> npt.NDArray[np.int64]:
    if model.priority == "rank":
        return vocab.ids.astype(np.int64)
    if model.priority == "score":
        return np.asarray(np.unique(-(vocab.scores + 0.0), return_inverse=True)[1], dtype=np.int64)
    assert model.merges is not None
    # If a pair is listed twice, the last position is used.
    position_of_pair = {pair: at for at, pair in enumerate(_pair_keys(model.merges[:, 0], model.merges[:, 1]))}
    pairs = _pair_keys(left[is_merged], right[is_merged])
    priority = np.zeros(len(vocab), dtype=np.int64)
    priority[is_merged] = [position_of_pair[pair] for pair in pairs]
    return priority


def _pair_keys(left: npt.NDArray[np.uint32], right: npt.NDArray[np.uint32]) -> list[int]:
    keys: list[int] = (left.astype(np.uint64) << np.uint64(32) | right).tolist()
    return keys


def rows_merged_differently(first: Derivations, second: Derivations) -> npt.NDArray[np.int64]:
    """Returns the rows that two models may merge differently; an empty result proves that the models agree.

    A row is returned if the derivations of the row differ, or if the order of its priorities differs.
    """
    is_different = (first.kind != second.kind) | (first.left != second.left) | (first.right != second.right)
    rows = np.flatnonzero(is_different & ~_is_never_merged(first, second))
    return rows if len(rows) else out_of_order(first, second)


def _is_never_merged(first: Derivations, second: Derivations) -> npt.NDArray[np.bool_]:
    """Returns a mask of the rows that neither model merges."""
    never_kinds = (DerivationKind.NEVER_MERGED, DerivationKind.RESERVED)
    return np.isin(first.kind, never_kinds) & np.isin(second.kind, never_kinds)


def out_of_order(first: Derivations, second: Derivations) -> npt.NDArray[np.int64]:
    """Returns the merged rows whose order, relative to the previous row, differs between the two models."""
    rows = first.rows(DerivationKind.MERGED)
    order = rows[np.lexsort((second.priority[rows], first.priority[rows]))]
    priority_steps = np.diff(first.priority[order]), np.diff(second.priority[order])
    misordered_rows: npt.NDArray[np.int64] = order[1:][np.sign(priority_steps[0]) != np.sign(priority_steps[1])]
    return misordered_rows


def merges_alike(spec: Spec, other_spec: Spec) -> bool:
    """Reports whether two Specs over the same vocabulary provably merge every piece alike."""
    if not (isinstance(spec.model, Bpe) and isinstance(other_spec.model, Bpe)):
        return False
    both_derivations = derivations(spec.vocab, spec.model), derivations(other_spec.vocab, other_spec.model)
    return len(both_derivations[0].kind) == len(both_derivations[1].kind) and not len(
        rows_merged_differently(*both_derivations)
    )
