"""The vocabulary as a table with one row for each id: `VocabTable` and `VocabEntry`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from .checks import whole_number
from .columns import has_kind
from .errors import TokenIdError
from .spec import Bpe, Kind, Spec

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

_NO_RANK = -1


class VocabEntry(NamedTuple):
    """An entry of the vocabulary or a special token.

    * ``piece``: the bytes, exactly as in the vocabulary. ``text``: the piece as text; bytes that are not UTF-8 are
      replaced with U+FFFD.
    * ``kind``: the kind of the entry. An ordinary entry that the format lists as a special token is CONTROL, and one
      that the format lists as another added token is USER_DEFINED.
    * ``score``: the score; None if the format has no scores.
    * ``rank``: the number by which BPE orders merges, the lowest first: the id in a vocabulary of ranks, and in one
      with a list of merges the position of the merge that builds the entry. None if the entry has no such number.
    * ``special``: True for a special token, which a text can contain only if the caller allows it.
    """

    id: int
    piece: bytes
    text: str
    kind: Kind
    score: float | None
    rank: int | None
    special: bool


class VocabTable:
    """The vocabulary in the order of ids, with one row for each id.

    ``table[id]`` is the entry of an id, and ``table.get(id)`` is None for an id without an entry. Iterating yields all
    entries, and ``len(table)`` is their number. Unused ids have no entry: ``id in table`` is false.

    The columns have one value for each entry, in the same order:

    * ``ids``: uint32. ``kinds``: uint8, the values of `Kind`. ``special``: bool.
    * ``scores``: float32 or float64, NaN for a special token outside the vocabulary; None without scores.
    * ``ranks``: int64, -1 for an entry without a rank; None if the model does not use ranks.
    * ``pieces``: a list of bytes.

    >>> import polytok
    >>> table = polytok.load("default").vocab()
    >>> table[6988]
    VocabEntry(id=6988, piece=b' the', text=' the', kind=<Kind.NORMAL: 1>, score=None, rank=6988, special=False)
    >>> len(table), table.ids[:3].tolist(), table.pieces[97]
    (32768, [0, 1, 2], b'a')
    >>> [entry.text for entry in table if entry.special]
    ['<|endoftext|>']
    """

    __slots__ = ("ids", "kinds", "pieces", "ranks", "scores", "special")

    ids: npt.NDArray[np.uint32]
    kinds: npt.NDArray[np.uint8]
    special: npt.NDArray[np.bool_]
    scores: npt.NDArray[np.floating] | None
    ranks: npt.NDArray[np.int64] | None
    pieces: list[bytes]

    def __init__(self, spec: Spec) -> None:
        import numpy as np

        vocab = spec.vocab
        row_ids = vocab.ids.tolist()
        known_ids = set(row_ids)
        # Several special tokens can share an id; the first is the one that is decoded.
        outside_tokens = {token.id: token for token in reversed(spec.special) if token.id not in known_ids}
        all_ids = np.array([*row_ids, *outside_tokens], dtype=np.uint32)
        order = np.argsort(all_ids, kind="stable")
        outside_pieces = [token.text.encode("utf-8", "surrogateescape") for token in outside_tokens.values()]
        pieces = [*vocab.pieces(), *outside_pieces]
        self.ids = all_ids[order]
        self.pieces = [pieces[row] for row in order.tolist()]
        self.kinds, self.special = _kinds_and_special(spec, self.ids, order)
        padding = np.full(len(outside_tokens), np.nan, dtype=vocab.scores.dtype)
        self.scores = np.concatenate([vocab.scores, padding])[order] if vocab.scores.any() else None
        self.ranks = _ranks(spec, self.ids, order < len(vocab))

    def __len__(self) -> int:
        return len(self.ids)

    def __iter__(self) -> Iterator[VocabEntry]:
        return self._entries(slice(None))

    def __contains__(self, id: object) -> bool:
        return isinstance(id, int) and self._row(id) is not None

    def __getitem__(self, id: int) -> VocabEntry:
        entry = self.get(id)
        if entry is None:
            raise TokenIdError(f"the vocabulary has no entry with the id {id}")
        return entry

    def __repr__(self) -> str:
        return f"<polytok.VocabTable of {len(self)} entries>"

    def get(self, id: int) -> VocabEntry | None:
        """Returns the entry of an id, or None if the id has no entry."""
        row = self._row(whole_number("id", id))
        return None if row is None else next(self._entries(slice(row, row + 1)))

    def _row(self, id: int) -> int | None:
        row = int(self.ids.searchsorted(id))
        return row if row < len(self) and self.ids[row] == id else None

    def _entries(self, rows: slice) -> Iterator[VocabEntry]:
        """Yields the entries of some rows."""
        pieces = self.pieces[rows]
        scores = [None] * len(pieces) if self.scores is None else shortest_numbers(self.scores[rows])
        ranks = [_NO_RANK] * len(pieces) if self.ranks is None else self.ranks[rows].tolist()
        kind_of_number = {int(kind): kind for kind in Kind}
        columns = (
            self.ids[rows].tolist(),
            pieces,
            self.kinds[rows].tolist(),
            scores,
            ranks,
            self.special[rows].tolist(),
        )
        for id, piece, kind, score, rank, special in zip(*columns, strict=True):
            text = piece.decode(errors="replace")
            yield VocabEntry(id, piece, text, kind_of_number[kind], score, None if rank == _NO_RANK else rank, special)


def _kinds_and_special(
    spec: Spec, ids: npt.NDArray[np.uint32], order: npt.NDArray[np.intp]
) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.bool_]]:
    """Returns the kinds of all ids, and whether they are special tokens. Rows of the vocabulary are before other tokens
    in ``order``."""
    import numpy as np

    vocab = spec.vocab
    row_kinds = vocab.kinds if vocab.active_kinds is None else vocab.active_kinds
    outside_kinds = np.full(len(ids) - len(vocab), Kind.NORMAL, dtype=np.uint8)
    kinds = np.concatenate([row_kinds, outside_kinds])[order]
    special = has_kind(kinds, Kind.CONTROL)
    is_special_of_id = {token.id: token.special for token in reversed(spec.special)}
    rows = ids.searchsorted(np.array(list(is_special_of_id), dtype=np.uint32))
    special[rows] = list(is_special_of_id.values())
    is_plain = has_kind(kinds[rows], Kind.NORMAL, Kind.UNUSED)
    kinds[rows[is_plain]] = np.where(special[rows[is_plain]], Kind.CONTROL, Kind.USER_DEFINED)
    return kinds, special


def _ranks(spec: Spec, ids: npt.NDArray[np.uint32], is_row: npt.NDArray[np.bool_]) -> npt.NDArray[np.int64] | None:
    """Returns the rank of each id; None if the model does not use ranks."""
    import numpy as np

    if not isinstance(spec.model, Bpe) or spec.model.priority == "score":
        return None
    if spec.model.merges is None:
        return np.where(is_row, ids.astype(np.int64), _NO_RANK)
    ranks = np.full(len(ids), _NO_RANK, dtype=np.int64)
    merged_ids = spec.model.merges[:, 2]
    ranks[ids.searchsorted(merged_ids[::-1])] = np.arange(len(merged_ids))[::-1]
    return ranks


def shortest_numbers(numbers: npt.NDArray[np.floating]) -> list[float]:
    """Returns numbers with the fewest digits that identify them: the float32 nearest to 0.1 becomes 0.1."""
    return list(map(float, numbers.astype(str).tolist()))
