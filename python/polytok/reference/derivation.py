"""How byte-pair merging builds each entry: merge its own text, and see which two parts were last."""

from __future__ import annotations

from collections.abc import Sequence

Halves = tuple[bytes, bytes]


def derivation(entry: bytes, ranks: dict[bytes, int]) -> Halves | None:
    """The two parts of the last merge that builds an entry, if any two parts can merge whose concatenation has a rank.

    None if it is a single byte, or if merging its bytes does not end in the entry.
    """
    parts: list[bytes] = [entry[i : i + 1] for i in range(len(entry))]
    last: Halves | None = None
    while best := _best(parts, ranks):
        last = (parts[best - 1], parts[best])
        parts[best - 1 : best + 1] = [parts[best - 1] + parts[best]]
    return last if len(parts) == 1 else None


def _best(parts: Sequence[bytes], ranks: dict[bytes, int]) -> int | None:
    """The place of the right half of the pair to merge: the lowest rank, the leftmost of equals."""
    joined = ((ranks[parts[i - 1] + parts[i]], i) for i in range(1, len(parts)) if parts[i - 1] + parts[i] in ranks)
    return min(joined, default=(0, None))[1]


def all_splits(ranks: dict[bytes, int]) -> list[Halves]:
    """Every way to split every entry into two entries, by the entry's rank and then by those of the halves: the merges
    that converters usually write.
    """
    cuts = []
    for entry in sorted(ranks, key=ranks.__getitem__):
        halves = [(entry[:i], entry[i:]) for i in range(1, len(entry)) if entry[:i] in ranks and entry[i:] in ranks]
        cuts += sorted(halves, key=lambda pair: (ranks[pair[0]], ranks[pair[1]]))
    return cuts
