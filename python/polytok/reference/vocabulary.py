"""A Spec's vocabulary columns as plain dictionaries.

Two maps, as in SentencePiece: what text can become (`normal`), and what only code may emit (`reserved`). The same
bytes may stand in both. Of equal pieces in one map the first row wins. Tables follow ``kinds``; what is emitted and
decoded follows `active`, which a vocabulary restriction may have changed.
"""

from __future__ import annotations

from collections.abc import Iterable

from polytok.errors import TokenIdError
from polytok.spec import Kind, Vocab

RESERVED = (Kind.UNKNOWN, Kind.CONTROL, Kind.BYTE)


class Vocabulary:
    """Rows by id, and ids by piece."""

    def __init__(self, columns: Vocab) -> None:
        self.columns = columns
        self.ids: list[int] = columns.ids.tolist()
        rows = list(zip(columns.pieces(), self.ids, strict=True))
        kinds = columns.kinds.tolist()
        active = kinds if columns.active_kinds is None else columns.active_kinds.tolist()
        self.piece = {id: piece for piece, id in rows}
        self.score: dict[int, float] = dict(zip(self.ids, columns.scores.tolist(), strict=True))
        self.kind: dict[int, int] = dict(zip(self.ids, kinds, strict=True))
        self.active: dict[int, int] = dict(zip(self.ids, active, strict=True))
        self.every = first_of_each(rows)
        self.reserved = first_of_each(row for row in rows if self.kind[row[1]] in RESERVED)
        self.normal = first_of_each(row for row in rows if self.kind[row[1]] not in RESERVED)
        self.user_defined = {piece for piece, id in rows if self.kind[id] == Kind.USER_DEFINED}
        self.control = [(piece, id) for piece, id in rows if self.kind[id] == Kind.CONTROL]
        self.longest = max(map(len, self.normal), default=0)
        self.unknown = next((id for id in self.ids if self.kind[id] == Kind.UNKNOWN), None)

    def piece_of(self, id: int) -> bytes:
        """The bytes of an id."""
        if id not in self.piece:
            raise TokenIdError(f"id {id} is not in the vocabulary")
        return self.piece[id]

    def is_unused(self, id: int | None) -> bool:
        """Whether an id is one that is never emitted."""
        return id is not None and self.active[id] == Kind.UNUSED


def first_of_each(rows: Iterable[tuple[bytes, int]]) -> dict[bytes, int]:
    """piece → id; of equal pieces the first counts."""
    found: dict[bytes, int] = {}
    for piece, id in rows:
        found.setdefault(piece, id)
    return found


_recent: list[Vocabulary] = []


def vocabulary(columns: Vocab) -> Vocabulary:
    """The dictionaries of these very columns; the last few are kept, since a Spec is usually asked more than once."""
    for known in _recent:
        if known.columns is columns:
            return known
    _recent.append(Vocabulary(columns))
    del _recent[:-4]
    return _recent[-1]
