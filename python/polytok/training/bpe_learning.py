"""Learns merges from counted words with the engine."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from .. import _core
from ..spec import Kind, Vocab

ProgressFunction = Callable[[str, int, int], object]
PrintFunction = Callable[[str], object]

MEMORY_LIMIT_NOTE = (
    "training exceeded max_memory: the prefix or suffix also occurs in the texts, and then the result of tokenizers "
    "can only be computed with all words in memory"
)


@dataclass(frozen=True, slots=True)
class SymbolOptions:
    """The symbols that words consist of before the first merge.

    ``unit`` is ``bytes``, ``byte_level`` or ``chars``. ``prefix`` is added to symbols that do not begin a word, and
    ``suffix`` to the last symbol of a word.
    """

    unit: str
    prefix: str = ""
    suffix: str = ""


@dataclass(frozen=True, slots=True)
class LearningOptions:
    """The limits of learning and the order of equally frequent pairs.

    ``size`` is the number of entries to learn. Pairs with a count below ``min_count`` are not merged, and merged texts
    must be shorter than ``below_length``. With ``first_seen``, the pair that occurs first is merged first. ``room`` is
    the number of bytes of memory that learning can use; None for no limit.
    """

    size: int
    min_count: int = 0
    below_length: int | None = None
    first_seen: bool = False
    room: int | None = None


@dataclass(frozen=True, slots=True, eq=False)
class LearnedMerges:
    """The entries and merges that were learned.

    ``initial_entries`` is the number of entries before the first merge. The text of entry ``id`` is
    ``blob[offsets[id]:offsets[id + 1]]``; ``offsets`` has the shape (entries + 1,). ``merges`` has rows of the left id,
    the right id and the merged id: shape (merges, 3). ``counts`` and ``entries_before_merge``, both of shape (merges,),
    have the count of each merged pair and the number of entries before each merge. ``is_within_memory_limit`` is true
    if learning stayed within its memory limit.
    """

    initial_entries: int
    blob: bytes
    offsets: npt.NDArray[np.uint32]
    merges: npt.NDArray[np.uint32]
    counts: npt.NDArray[np.uint64]
    entries_before_merge: npt.NDArray[np.uint32]
    is_within_memory_limit: bool

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def truncate(self, size: int) -> LearnedMerges:
        """Returns the result of learning only ``size`` entries."""
        merge_count = int(np.searchsorted(self.entries_before_merge, size))
        entries = min(max(size, self.initial_entries), len(self))
        return replace(
            self,
            blob=self.blob[: self.offsets[entries]],
            offsets=self.offsets[: entries + 1],
            merges=self.merges[:merge_count],
            counts=self.counts[:merge_count],
            entries_before_merge=self.entries_before_merge[:merge_count],
        )

    def text(self, id: int) -> bytes:
        """Returns the text of the entry ``id``."""
        return self.blob[self.offsets[id] : self.offsets[id + 1]]

    def vocab(self) -> Vocab:
        """Returns the entries as a vocabulary, with the kind NORMAL and the score 0."""
        count = len(self)
        kinds = np.full(count, Kind.NORMAL, dtype=np.uint8)
        ids = np.arange(count, dtype=np.uint32)
        return Vocab(self.blob, self.offsets, ids, np.zeros(count, dtype=np.float32), kinds)


def merge_line(number: int, total: int, left_id: int, right_id: int, merged_id: int, text: bytes, count: int) -> str:
    """Returns a line of text about a merge, in the form of minbpe.

    >>> merge_line(1, 9, 97, 98, 256, b"ab", 6)
    "merge 1/9: (97, 98) -> 256 (b'ab') had 6 occurrences"
    """
    return f"merge {number}/{total}: ({left_id}, {right_id}) -> {merged_id} ({text!r}) had {count} occurrences"


def learn(
    words: _core.WordCounter,
    symbol_options: SymbolOptions,
    initial_entries: Sequence[bytes],
    learning_options: LearningOptions,
    progress: ProgressFunction | None = None,
    verbose: PrintFunction | None = None,
) -> LearnedMerges:
    """Learns merges from words. ``initial_entries`` has the texts of the first ids, with all symbols of the words.

    >>> words = _core.WordCounter(None)
    >>> words.add([(b"abab", 3)])
    >>> all_bytes = [bytes([byte]) for byte in range(256)]
    >>> learned = learn(words, SymbolOptions("bytes"), all_bytes, LearningOptions(257), verbose=print)
    merge 1/1: (97, 98) -> 256 (b'ab') had 6 occurrences
    """
    texts = list(initial_entries)
    on_merge = None if verbose is None else lambda *merge: verbose(merge_line(*merge))
    return LearnedMerges(
        len(texts), *_core.bpe_learn(words, symbol_options, texts, learning_options, progress, on_merge)
    )
