"""Vocabularies with other rows, or rows in another order."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from ..spec import Vocab


def sorted_by_id(vocab: Vocab) -> Vocab:
    """The rows in the order of their ids."""
    order = np.argsort(vocab.ids, kind="stable")
    if np.array_equal(order, np.arange(len(vocab))):
        return vocab
    return take(vocab, order)


def take(vocab: Vocab, rows: npt.NDArray[np.int64]) -> Vocab:
    """Some rows, in this order."""
    pieces = [vocab.piece(int(row)) for row in rows]
    return Vocab(b"".join(pieces), offsets(pieces), vocab.ids[rows], vocab.scores[rows], vocab.kinds[rows])


def with_texts(vocab: Vocab, pieces: Sequence[bytes]) -> Vocab:
    """The rows with other texts."""
    return Vocab(b"".join(pieces), offsets(pieces), vocab.ids, vocab.scores, vocab.kinds)


def appended(vocab: Vocab, rows: Sequence[tuple[bytes, int, int]]) -> Vocab:
    """With rows of text, id and kind put in by their ids."""
    if not rows:
        return vocab
    pieces = [*vocab.pieces(), *(text for text, _, _ in rows)]
    longer = Vocab(
        blob=b"".join(pieces),
        offsets=offsets(pieces),
        ids=np.concatenate([vocab.ids, np.array([number for _, number, _ in rows], dtype=np.uint32)]),
        scores=np.concatenate([vocab.scores, np.zeros(len(rows), dtype=vocab.scores.dtype)]),
        kinds=np.concatenate([vocab.kinds, np.array([kind for _, _, kind in rows], dtype=np.uint8)]),
    )
    return sorted_by_id(longer)


def offsets(pieces: Sequence[bytes]) -> npt.NDArray[np.uint32]:
    """Where the pieces start and end in one blob."""
    return np.cumsum([0, *map(len, pieces)], dtype=np.uint64).astype(np.uint32)
