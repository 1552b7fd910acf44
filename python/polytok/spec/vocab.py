"""The vocabulary in columns."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from enum import IntEnum
from typing import TYPE_CHECKING

from ..columns import Column, buffer, column_of
from ..records import dataclass

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


class Kind(IntEnum):
    """The kind of a vocabulary entry, with the same values as in SentencePiece and GGUF.

    * NORMAL: an ordinary entry.
    * UNKNOWN: the entry to which text is encoded that no other entry covers.
    * CONTROL: a special token.
    * USER_DEFINED: an entry that is matched in a text before all other entries.
    * UNUSED: an entry to which no text is encoded.
    * BYTE: an entry that represents one byte of unknown text.
    """

    NORMAL = 1
    UNKNOWN = 2
    CONTROL = 3
    USER_DEFINED = 4
    UNUSED = 5
    BYTE = 6


@dataclass(frozen=True, eq=False)
class Vocab:
    """The vocabulary as columns, with rows in file order. The bytes of row i are ``blob[offsets[i]:offsets[i + 1]]``.

    Row numbers are not ids: in RWKV's vocabulary, row 33 has the id 34, and special tokens outside the vocabulary have
    no row. `Tokenizer.vocab` returns a table in the order of ids.

    * ``offsets``: uint32 of shape (n + 1,).
    * ``ids``: uint32 of shape (n,).
    * ``scores``: float32 of shape (n,), or float64 if the format stores float64; all zero if the format has no scores.
    * ``kinds``: uint8 of shape (n,), the values of `Kind`.
    * ``active_kinds``: the kinds after a vocabulary restriction, uint8 of shape (n,); None without a restriction.
    """

    blob: bytes
    offsets: Column[npt.NDArray[np.uint32]] = Column()
    ids: Column[npt.NDArray[np.uint32]] = Column()
    scores: Column[npt.NDArray[np.float32] | npt.NDArray[np.float64]] = Column()
    kinds: Column[npt.NDArray[np.uint8]] = Column()
    active_kinds: Column[npt.NDArray[np.uint8] | None] = Column(default=None)

    @classmethod
    def from_rows(cls, rows: Iterable[tuple[bytes, int, float, int]]) -> Vocab:
        """Builds the columns from rows of (bytes, id, score, kind).

        >>> len(Vocab.from_rows([(b"a", 0, 0.0, Kind.NORMAL), (b"b", 1, 0.0, Kind.NORMAL)]))
        2
        """
        row_list = list(rows)
        return cls(
            blob=b"".join(row[0] for row in row_list),
            offsets=column_of("I", itertools.accumulate((len(row[0]) for row in row_list), initial=0)),
            ids=column_of("I", [row[1] for row in row_list]),
            scores=column_of("f", [row[2] for row in row_list]),
            kinds=column_of("B", [row[3] for row in row_list]),
        )

    def __len__(self) -> int:
        return len(vars(self)["ids"])

    def piece(self, row: int) -> bytes:
        """Returns the bytes of a row."""
        offsets = buffer(self, "offsets")
        return self.blob[offsets[row] : offsets[row + 1]]

    def pieces(self) -> list[bytes]:
        """Returns the bytes of all rows, in row order."""
        ends = buffer(self, "offsets").tolist()
        return [self.blob[a:b] for a, b in itertools.pairwise(ends)]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Vocab):
            return NotImplemented
        import numpy as np

        return self.blob == other.blob and all(
            np.array_equal(getattr(self, name), getattr(other, name), equal_nan=name == "scores")
            if getattr(self, name) is not None and getattr(other, name) is not None
            else getattr(self, name) is getattr(other, name)
            for name in ("offsets", "ids", "scores", "kinds", "active_kinds")
        )

    __hash__ = None  # type: ignore[assignment]
