"""Derives the merges of a vocabulary: the two halves from which byte-pair merging builds each entry."""

from __future__ import annotations

from collections.abc import Sequence

Halves = tuple[bytes, bytes]


def derivation(entry: bytes, ranks: dict[bytes, int]) -> Halves | None:
    """Returns the halves of the last merge when an entry's own bytes are merged.

    Two adjacent parts can merge if their concatenation has a rank. Returns None if the entry is a single byte, or if
    merging its bytes does not end in the entry.
    """
    parts: list[bytes] = [entry[i : i + 1] for i in range(len(entry))]
    last_merge: Halves | None = None
    while right_half := _best_pair(parts, ranks):
        last_merge = (parts[right_half - 1], parts[right_half])
        parts[right_half - 1 : right_half + 1] = [parts[right_half - 1] + parts[right_half]]
    return last_merge if len(parts) == 1 else None


def _best_pair(parts: Sequence[bytes], ranks: dict[bytes, int]) -> int | None:
    """Returns the index of the right half of the pair to merge: of the lowest rank, the leftmost of equals."""
    pairs = ((parts[i - 1] + parts[i], i) for i in range(1, len(parts)))
    return min(((ranks[pair], i) for pair, i in pairs if pair in ranks), default=(0, None))[1]


def all_splits(ranks: dict[bytes, int]) -> list[Halves]:
    """Returns every split of every entry into two entries, which is the list of merges that converters usually write.

    The order is by the entry's rank, then by the ranks of the halves.
    """
    splits = []
    for entry in sorted(ranks, key=ranks.__getitem__):
        halves = [(entry[:i], entry[i:]) for i in range(1, len(entry)) if entry[:i] in ranks and entry[i:] in ranks]
        splits += sorted(halves, key=lambda pair: (ranks[pair[0]], ranks[pair[1]]))
    return splits
