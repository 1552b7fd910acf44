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
    """The kind of a vocabulary entry; the numbers are SentencePiece's and GGUF's.

    UNKNOWN represents text that nothing else covers. CONTROL entries are special tokens, USER_DEFINED ones are matched
    in a text before anything else, UNUSED ones are never produced from a text, BYTE ones represent a byte of unknown
    text.
    """

    NORMAL = 1
    UNKNOWN = 2
    CONTROL = 3
    USER_DEFINED = 4
    UNUSED = 5
    BYTE = 6


@dataclass(frozen=True, slots=True, eq=False)
class Vocab:
    """The vocabulary in columns, in file order; row i is ``blob[offsets[i]:offsets[i + 1]]``.

    ``offsets`` is uint32 of shape (n + 1,), ``ids`` uint32 (n,), ``scores`` float32 (n,) (float64 if the format has
    such), all zero if the format has none, ``kinds`` uint8 (n,) holding `Kind` numbers. ``active_kinds`` is None, or
    the kinds after a vocabulary restriction (uint8 (n,)).
    """

    blob: bytes
    offsets: npt.NDArray[np.uint32]
    ids: npt.NDArray[np.uint32]
    scores: npt.NDArray[np.float32] | npt.NDArray[np.float64]
    kinds: npt.NDArray[np.uint8]
    active_kinds: npt.NDArray[np.uint8] | None = None

    @classmethod
    def from_rows(cls, rows: Iterable[tuple[bytes, int, float, int]]) -> Vocab:
        """Build the columns from (bytes, id, score, kind) rows.

        >>> len(Vocab.from_rows([(b"a", 0, 0.0, Kind.NORMAL), (b"b", 1, 0.0, Kind.NORMAL)]))
        2
        """
        import numpy as np

        listed = list(rows)
        ends = np.cumsum([0, *(len(row[0]) for row in listed)], dtype=np.uint64)
        return cls(
            blob=b"".join(row[0] for row in listed),
            offsets=ends.astype(np.uint32),
            ids=np.array([row[1] for row in listed], dtype=np.uint32),
            scores=np.array([row[2] for row in listed], dtype=np.float32),
            kinds=np.array([row[3] for row in listed], dtype=np.uint8),
        )

    def __len__(self) -> int:
        return len(self.ids)

    def piece(self, row: int) -> bytes:
        """The bytes of a row."""
        return self.blob[self.offsets[row] : self.offsets[row + 1]]

    def pieces(self) -> list[bytes]:
        """The bytes of all rows, in row order."""
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
