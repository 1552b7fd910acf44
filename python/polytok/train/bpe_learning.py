"""Calls the engine to learn merges, and says what came out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from .. import _core
from ..spec import Kind, Vocab

Progress = Callable[[str, int, int], object]


@dataclass(frozen=True, slots=True)
class Units:
    """What words are made of (``bytes``, ``byte_level``, ``chars``), and what is put to their characters."""

    unit: str
    prefix: str = ""
    suffix: str = ""


@dataclass(frozen=True, slots=True)
class Rules:
    """Which pairs are merged: how far, and which first."""

    size: int
    min_count: int = 0
    below_length: int | None = None
    first_seen: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Learnt:
    """The texts of all entries by id, the first ones first; the merges (left, right, merged), how often each pair
    occurred, and how many entries there were before each merge."""

    initial: int
    blob: bytes
    offsets: npt.NDArray[np.uint32]
    merges: npt.NDArray[np.uint32]
    counts: npt.NDArray[np.uint64]
    before: npt.NDArray[np.uint32]

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def cut(self, size: int) -> Learnt:
        """What a run would have given that stops at ``size`` entries."""
        kept = int(np.searchsorted(self.before, size))
        entries = min(max(size, self.initial), len(self))
        return replace(
            self,
            blob=self.blob[: self.offsets[entries]],
            offsets=self.offsets[: entries + 1],
            merges=self.merges[:kept],
            counts=self.counts[:kept],
            before=self.before[:kept],
        )

    def text(self, id: int) -> bytes:
        """The text of an entry."""
        return self.blob[self.offsets[id] : self.offsets[id + 1]]

    def vocab(self) -> Vocab:
        """The entries as a vocabulary."""
        count = len(self)
        kinds = np.full(count, Kind.NORMAL, dtype=np.uint8)
        ids = np.arange(count, dtype=np.uint32)
        return Vocab(self.blob, self.offsets, ids, np.zeros(count, dtype=np.float32), kinds)

    def lines(self) -> Iterator[str]:
        """A line for each merge, as minbpe prints it.

        >>> words = _core.Words([(b"abab", 3)])
        >>> learnt = learn(words, Units("bytes"), [bytes([byte]) for byte in range(256)], Rules(257))
        >>> list(learnt.lines())
        ["merge 1/1: (97, 98) -> 256 (b'ab') had 6 occurrences"]
        """
        total = len(self.merges)
        rows = zip(self.merges.tolist(), self.counts.tolist(), strict=True)
        for number, ((left, right, merged), count) in enumerate(rows, start=1):
            yield (
                f"merge {number}/{total}: ({left}, {right}) -> {merged} ({self.text(merged)!r}) had {count} occurrences"
            )


def learn(
    words: _core.Words, units: Units, initial: Sequence[bytes], rules: Rules, progress: Progress | None = None
) -> Learnt:
    """The merges of these words, whose symbols are among ``initial``, the texts of the first ids."""
    texts = list(initial)
    columns = _core.bpe_learn(
        words, units, texts, rules.size, rules.min_count, rules.below_length, rules.first_seen, progress
    )
    return Learnt(len(texts), *columns)
