"""The merges of BPE in the order in which they are applied: `Merge`."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from .columns import has_kind
from .conversion.derivation import NO_ROW, DerivationKind, derivations
from .errors import ArgumentError
from .spec import Bpe, Kind, Spec, Vocab, described
from .vocab_table import shortest_numbers

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


class Merge(NamedTuple):
    """A merge of BPE: the pieces ``left`` and ``right`` are joined to ``piece``, the entry with the id ``id``.

    Among the pairs of a text, the pair with the lowest ``rank`` merges first. ``score`` is the score of the entry; None
    if the format has no scores. ``left_id`` and ``right_id`` are None for a character that occurs only inside entries.
    """

    rank: int
    left: bytes
    right: bytes
    piece: bytes
    left_id: int | None
    right_id: int | None
    id: int
    score: float | None


def merges(spec: Spec) -> list[Merge]:
    """Returns the merges of a BPE model, by rank. Raises `ArgumentError` for any other model."""
    model = spec.model
    if not isinstance(model, Bpe):
        raise ArgumentError(
            f"this vocabulary has no merges: its model is {described(model)}, and only BPE merges pairs; "
            "list the entries instead"
        )
    if model.merges is None:
        return _derived_merges(spec.vocab, model)
    piece_of_id = dict(zip(spec.vocab.ids.tolist(), spec.vocab.pieces(), strict=True))
    return [
        Merge(rank, piece_of_id[left], piece_of_id[right], piece_of_id[id], left, right, id, None)
        for rank, (left, right, id) in enumerate(model.merges.tolist())
    ]


def _derived_merges(vocab: Vocab, model: Bpe) -> list[Merge]:
    """Returns the pair that builds each entry of a model that merges by ids or scores."""
    import numpy as np

    table = derivations(vocab, model)
    rows = table.rows(DerivationKind.MERGED)
    if model.symbols != "bytes" and not model.reserved:
        rows = rows[has_kind(vocab.kinds[rows], Kind.NORMAL, Kind.UNUSED)]
    lengths = np.diff(vocab.offsets.astype(np.int64))
    rows = rows[np.lexsort((vocab.ids[rows], -lengths[rows], table.priority[rows]))]
    is_by_rank = model.priority == "rank"
    ranks = vocab.ids[rows].tolist() if is_by_rank else range(len(rows))
    scores = [None] * len(rows) if is_by_rank else shortest_numbers(vocab.scores[rows])
    sides = (table.left[rows].tolist(), table.right[rows].tolist())
    columns = (ranks, _pieces(vocab, rows), *sides, vocab.ids[rows].tolist(), scores)
    length_of_id = dict(zip(vocab.ids.tolist(), lengths.tolist(), strict=True))
    return [
        Merge(rank, *_split(piece, left, right, length_of_id), piece, _id(left), _id(right), id, score)
        for rank, piece, left, right, id, score in zip(*columns, strict=True)
    ]


def _pieces(vocab: Vocab, rows: npt.NDArray[np.int64]) -> list[bytes]:
    return [vocab.piece(row) for row in rows.tolist()]


def _split(piece: bytes, left: int, right: int, length_of_id: dict[int, int]) -> tuple[bytes, bytes]:
    """Returns the two parts of a piece. A part without an entry is a single character."""
    if left != NO_ROW:
        middle = length_of_id[left]
    elif right != NO_ROW:
        middle = len(piece) - length_of_id[right]
    else:
        middle = len(piece.decode()[0].encode())
    return piece[:middle], piece[middle:]


def _id(id: int) -> int | None:
    return None if id == NO_ROW else id
