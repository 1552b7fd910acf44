"""How byte-pair merging makes each entry, and what that proves about two models.

For every entry there is at most one pair of entries that ever merges into it, in any text: the last merge of the
entry's own text (the proof is in crates/polytok-core/src/convert/derivation.rs). So a model that merges whatever has a
concatenation among the entries is the same as the list of these pairs, in the order of their priorities; and two models
with the same pairs in the same order merge every text alike.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

import numpy as np
import numpy.typing as npt

from .. import _core
from ..spec import Bpe, Spec, Vocab

NO_ROW = 2**32 - 1
"""The half of a pair that is no entry: a character that only occurs inside of entries."""


class How(IntEnum):
    """How merging makes an entry."""

    INITIAL = 0
    MERGED = 1
    NEVER = 2
    RESERVED = 3


@dataclass(frozen=True, slots=True, eq=False)
class Derivations:
    """For each row the ids of its last merge's halves, how it is made, and its priority, low first; ties: leftmost."""

    left: npt.NDArray[np.uint32]
    right: npt.NDArray[np.uint32]
    how: npt.NDArray[np.uint8]
    priority: npt.NDArray[np.int64]

    def rows(self, how: How) -> npt.NDArray[np.int64]:
        """The rows that are made so."""
        return np.flatnonzero(self.how == how)


def derivations(vocab: Vocab, model: Bpe) -> Derivations:
    """The last merge of each row."""
    symbols = "bytes" if model.symbols == "bytes" else "chars"
    left, right, how = _core.bpe_derivations(vocab, model.priority, model.merges, symbols, model.reserved)
    return Derivations(left, right, how, _priorities(vocab, model, left, right, how == How.MERGED))


def _priorities(
    vocab: Vocab,
    model: Bpe,
    left: npt.NDArray[np.uint32],
    right: npt.NDArray[np.uint32],
    merged: npt.NDArray[np.bool_],
) -> npt.NDArray[np.int64]:
    if model.priority == "rank":
        return vocab.ids.astype(np.int64)
    if model.priority == "score":
        return np.asarray(np.unique(-(vocab.scores + 0.0), return_inverse=True)[1], dtype=np.int64)
    assert model.merges is not None
    # Of a pair listed twice the last counts.
    place = {pair: at for at, pair in enumerate(_keys(model.merges[:, 0], model.merges[:, 1]))}
    pairs = _keys(left[merged], right[merged])
    priority = np.zeros(len(vocab), dtype=np.int64)
    priority[merged] = [place[pair] for pair in pairs]
    return priority


def _keys(left: npt.NDArray[np.uint32], right: npt.NDArray[np.uint32]) -> list[int]:
    keys: list[int] = (left.astype(np.uint64) << np.uint64(32) | right).tolist()
    return keys


def merge_alike(before: Derivations, after: Derivations) -> npt.NDArray[np.int64]:
    """The rows that keep two models over the same vocabulary from merging every text alike; none proves that they do.

    A row counts if it is made in another way, or if its priority is out of order.
    """
    differs = (before.how != after.how) | (before.left != after.left) | (before.right != after.right)
    rows = np.flatnonzero(differs & ~_unmade(before, after))
    return rows if len(rows) else out_of_order(before, after)


def _unmade(before: Derivations, after: Derivations) -> npt.NDArray[np.bool_]:
    """Rows that neither model makes, whatever it calls them."""
    left_out = (How.NEVER, How.RESERVED)
    return np.isin(before.how, left_out) & np.isin(after.how, left_out)


def out_of_order(before: Derivations, after: Derivations) -> npt.NDArray[np.int64]:
    """Merged rows whose priority does not grow where the other model's does, or is equal where it is not."""
    rows = before.rows(How.MERGED)
    order = rows[np.lexsort((after.priority[rows], before.priority[rows]))]
    steps = np.diff(before.priority[order]), np.diff(after.priority[order])
    wrong: npt.NDArray[np.int64] = order[1:][np.sign(steps[0]) != np.sign(steps[1])]
    return wrong


def same_merging(spec: Spec, other: Spec) -> bool:
    """Whether two Specs over the same vocabulary provably merge every piece alike."""
    if not (isinstance(spec.model, Bpe) and isinstance(other.model, Bpe)):
        return False
    both = derivations(spec.vocab, spec.model), derivations(other.vocab, other.model)
    return len(both[0].how) == len(both[1].how) and not len(merge_alike(*both))
