"""Selects, sorts, changes and appends rows of vocabularies."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from ..spec import Vocab


def sorted_by_id(vocab: Vocab) -> Vocab:
    """Returns the vocabulary with its rows in the order of their ids."""
    rows_by_id = np.argsort(vocab.ids, kind="stable")
    if np.array_equal(rows_by_id, np.arange(len(vocab))):
        return vocab
    return select_rows(vocab, rows_by_id)


def select_rows(vocab: Vocab, rows: npt.NDArray[np.int64]) -> Vocab:
    """Returns the vocabulary with only the given rows, in the given order."""
    pieces = [vocab.piece(int(row)) for row in rows]
    return Vocab(b"".join(pieces), offsets_of(pieces), vocab.ids[rows], vocab.scores[rows], vocab.kinds[rows])


def with_texts(vocab: Vocab, pieces: Sequence[bytes]) -> Vocab:
    """Replaces the texts of all rows with ``pieces``."""
    return Vocab(b"".join(pieces), offsets_of(pieces), vocab.ids, vocab.scores, vocab.kinds)


def with_rows(vocab: Vocab, rows: Sequence[tuple[bytes, int, int]]) -> Vocab:
    """Adds rows (text, id, kind), and sorts all rows by id."""
    if not rows:
        return vocab
    pieces = [*vocab.pieces(), *(text for text, _, _ in rows)]
    extended_vocab = Vocab(
        blob=b"".join(pieces),
        offsets=offsets_of(pieces),
        ids=np.concatenate([vocab.ids, np.array([number for _, number, _ in rows], dtype=np.uint32)]),
        scores=np.concatenate([vocab.scores, np.zeros(len(rows), dtype=vocab.scores.dtype)]),
        kinds=np.concatenate([vocab.kinds, np.array([kind for _, _, kind in rows], dtype=np.uint8)]),
    )
    return sorted_by_id(extended_vocab)


def offsets_of(pieces: Sequence[bytes]) -> npt.NDArray[np.uint32]:
    """Returns the offsets of the pieces in their concatenation."""
    return np.cumsum([0, *map(len, pieces)], dtype=np.uint64).astype(np.uint32)
