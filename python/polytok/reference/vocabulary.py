"""The columns of a Spec's vocabulary as plain dictionaries.

There are two maps from pieces to ids, as in SentencePiece: `normal_ids` has the pieces that a text can be encoded to,
`reserved_ids` the pieces that only a program emits (UNKNOWN, CONTROL, BYTE). The same bytes can be in both maps. Of
equal pieces in one map, the first row wins. The maps follow the original ``kinds``; encoding and decoding check
`active`, the kinds that a vocabulary restriction may have changed.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

from polytok.errors import TokenIdError
from polytok.reference.recent import Recent
from polytok.spec import Kind, Vocab

RESERVED = (Kind.UNKNOWN, Kind.CONTROL, Kind.BYTE)


class Vocabulary:
    """The properties of each entry by its id, and the ids by pieces."""

    def __init__(self, columns: Vocab) -> None:
        self.pieces = columns.pieces()
        self.ids: list[int] = columns.ids.tolist()
        rows = list(zip(self.pieces, self.ids, strict=True))
        kinds = columns.kinds.tolist()
        active = kinds if columns.active_kinds is None else columns.active_kinds.tolist()
        self.piece = {id: piece for piece, id in rows}
        self.score: dict[int, float] = dict(zip(self.ids, columns.scores.tolist(), strict=True))
        self.kind: dict[int, int] = dict(zip(self.ids, kinds, strict=True))
        self.active: dict[int, int] = dict(zip(self.ids, active, strict=True))
        self.all_ids = first_ids(rows)
        self.reserved_ids = first_ids(row for row in rows if self.kind[row[1]] in RESERVED)
        self.normal_ids = first_ids(row for row in rows if self.kind[row[1]] not in RESERVED)
        self.user_defined = {piece for piece, id in rows if self.kind[id] == Kind.USER_DEFINED}
        self.control = [(piece, id) for piece, id in rows if self.kind[id] == Kind.CONTROL]
        self.longest = max(map(len, self.normal_ids), default=0)
        self.unknown = next((id for id in self.ids if self.kind[id] == Kind.UNKNOWN), None)

    @cached_property
    def plain_ids(self) -> dict[bytes, int]:
        """The ids of the NORMAL and USER_DEFINED pieces, to which models of bytes encode text."""
        rows = zip(self.pieces, self.ids, strict=True)
        return first_ids(row for row in rows if self.kind[row[1]] in (Kind.NORMAL, Kind.USER_DEFINED))

    @cached_property
    def last_ids(self) -> dict[bytes, int]:
        """The ids of the pieces of every kind; of equal pieces the last counts (Hugging Face, llama.cpp)."""
        return dict(zip(self.pieces, self.ids, strict=True))

    @cached_property
    def last_normal_ids(self) -> dict[bytes, int]:
        """The ids of the pieces that are not reserved; of equal pieces the last counts (llama.cpp)."""
        rows = zip(self.pieces, self.ids, strict=True)
        return {piece: id for piece, id in rows if self.kind[id] not in RESERVED}

    @cached_property
    def byte_ids(self) -> dict[int, int]:
        """The ids of the pieces of kind BYTE, by their byte."""
        return {int(self.piece[id][3:5], 16): id for id in self.ids if self.kind[id] == Kind.BYTE}

    @cached_property
    def normal_scores(self) -> tuple[float, float] | None:
        """The lowest and the highest score of the NORMAL pieces; None if there are none."""
        scores = [self.score[id] for id in self.ids if self.kind[id] == Kind.NORMAL]
        return (min(scores), max(scores)) if scores else None

    @cached_property
    def lowest_score(self) -> float:
        """The lowest score of all pieces."""
        return min(self.score.values(), default=0.0)

    @cached_property
    def ids_without_bytes(self) -> dict[bytes, int]:
        """The ids of all pieces but those of kind BYTE; of equal pieces the last counts (PLaMo-2)."""
        rows = zip(self.pieces, self.ids, strict=True)
        return {piece: id for piece, id in rows if self.kind[id] != Kind.BYTE}

    @cached_property
    def longest_of_all(self) -> int:
        """The length of the longest piece of any kind."""
        return max(map(len, self.last_ids), default=0)

    def piece_of(self, id: int) -> bytes:
        """Returns the bytes of an id."""
        if id not in self.piece:
            raise TokenIdError(f"id {id} is not in the vocabulary")
        return self.piece[id]

    def is_unused(self, id: int | None) -> bool:
        """Reports whether an id belongs to an UNUSED entry, which is never emitted."""
        return id is not None and self.active[id] == Kind.UNUSED


def first_ids(rows: Iterable[tuple[bytes, int]]) -> dict[bytes, int]:
    """Maps each piece to its id; of rows with equal pieces the first counts."""
    ids: dict[bytes, int] = {}
    for piece, id in rows:
        ids.setdefault(piece, id)
    return ids


vocabulary = Recent(Vocabulary)
"""Returns the dictionaries of columns; those of the last vocabularies are kept as long as their columns."""
