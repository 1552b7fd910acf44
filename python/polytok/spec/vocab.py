"""The vocabulary in columns."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING

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


@dataclass(frozen=True, slots=True, eq=False)
class Vocab:
    """The vocabulary as columns, with rows in file order. The bytes of row i are ``blob[offsets[i]:offsets[i + 1]]``.

    * ``offsets``: uint32 of shape (n + 1,).
    * ``ids``: uint32 of shape (n,).
    * ``scores``: float32 of shape (n,), or float64 if the format stores float64; all zero if the format has no scores.
    * ``kinds``: uint8 of shape (n,), the values of `Kind`.
    * ``active_kinds``: the kinds after a vocabulary restriction, uint8 of shape (n,); None without a restriction.
    """

    blob: bytes
    offsets: npt.NDArray[np.uint32]
    ids: npt.NDArray[np.uint32]
    scores: npt.NDArray[np.float32] | npt.NDArray[np.float64]
    kinds: npt.NDArray[np.uint8]
    active_kinds: npt.NDArray[np.uint8] | None = None

    @classmethod
    def from_rows(cls, rows: Iterable[tuple[bytes, int, float, int]]) -> Vocab:
        """Builds the columns from rows of (bytes, id, score, kind).

        >>> len(Vocab.from_rows([(b"a", 0, 0.0, Kind.NORMAL), (b"b", 1, 0.0, Kind.NORMAL)]))
        2
        """
        import numpy as np

        row_list = list(rows)
        ends = np.cumsum([0, *(len(row[0]) for row in row_list)], dtype=np.uint64)
        return cls(
            blob=b"".join(row[0] for row in row_list),
            offsets=ends.astype(np.uint32),
            ids=np.array([row[1] for row in row_list], dtype=np.uint32),
            scores=np.array([row[2] for row in row_list], dtype=np.float32),
            kinds=np.array([row[3] for row in row_list], dtype=np.uint8),
        )

    def __len__(self) -> int:
        return len(self.ids)

    def piece(self, row: int) -> bytes:
        """Returns the bytes of a row."""
        return self.blob[self.offsets[row] : self.offsets[row + 1]]

    def pieces(self) -> list[bytes]:
        """Returns the bytes of all rows, in row order."""
        ends = self.offsets.tolist()
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
