"""Calls the engine to learn merges, and describes the result."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from .. import _core
from ..spec import Kind, Vocab

Progress = Callable[[str, int, int], object]
Verbose = Callable[[str], object]

NOT_KEPT = (
    "max_memory was not kept: the prefix or suffix stands in the texts too, and what tokenizers makes of that is only "
    "found with all words in memory"
)


@dataclass(frozen=True, slots=True)
class Units:
    """The symbols of words (``bytes``, ``byte_level``, ``chars``), and what is added to their characters."""

    unit: str
    prefix: str = ""
    suffix: str = ""


@dataclass(frozen=True, slots=True)
class Rules:
    """Which pairs are merged: the limits, and the order. ``room`` is the number of bytes that learning can use."""

    size: int
    min_count: int = 0
    below_length: int | None = None
    first_seen: bool = False
    room: int | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Learnt:
    """The texts of all entries by id, initial ones first; the merges (left, right, merged), the count of each pair, and
    the number of entries before each merge; and whether learning stayed within its memory limit.
    """

    initial: int
    blob: bytes
    offsets: npt.NDArray[np.uint32]
    merges: npt.NDArray[np.uint32]
    counts: npt.NDArray[np.uint64]
    before: npt.NDArray[np.uint32]
    kept_limit: bool

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def cut(self, size: int) -> Learnt:
        """The result of a run that stops at ``size`` entries."""
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


def line(number: int, of: int, left: int, right: int, merged: int, text: bytes, count: int) -> str:
    """A line for a merge, as minbpe prints it.

    >>> line(1, 9, 97, 98, 256, b"ab", 6)
    "merge 1/9: (97, 98) -> 256 (b'ab') had 6 occurrences"
    """
    return f"merge {number}/{of}: ({left}, {right}) -> {merged} ({text!r}) had {count} occurrences"


def learn(
    words: _core.WordCounter,
    units: Units,
    initial: Sequence[bytes],
    rules: Rules,
    progress: Progress | None = None,
    verbose: Verbose | None = None,
) -> Learnt:
    """Learn the merges of these words. Their symbols are among ``initial``, the texts of the first ids.

    >>> words = _core.WordCounter(None)
    >>> words.add([(b"abab", 3)])
    >>> learnt = learn(words, Units("bytes"), [bytes([byte]) for byte in range(256)], Rules(257), verbose=print)
    merge 1/1: (97, 98) -> 256 (b'ab') had 6 occurrences
    """
    texts = list(initial)
    each = None if verbose is None else lambda *merge: verbose(line(*merge))
    return Learnt(len(texts), *_core.bpe_learn(words, units, texts, rules, progress, each))
