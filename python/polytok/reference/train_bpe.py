"""The smallest BPE trainer: minbpe's Basic (without a pattern) and Regex (with one).

The trainer counts all adjacent pairs, overlapping ones too (``aaa`` has two of ``aa``), merges the most frequent pair
everywhere, left to right, and repeats. Of equally frequent pairs the first in the text wins. Merges never cross chunks
(the pieces of the split text). Text that the pattern does not match is not counted.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

import numpy as np

from polytok.errors import ArgumentError
from polytok.reference.split import split
from polytok.reference.stages import Aligned
from polytok.spec import Bpe, Kind, PatternSplit, Spec, Vocab

Merge = tuple[int, int, int]


def train(text: str, vocab_size: int, pattern: str | None = None) -> Spec:
    """Returns a tokenizer with 256 bytes and ``vocab_size - 256`` merges, learned from a text."""
    steps = () if pattern is None else (PatternSplit(pattern),)
    chunks = split((step.pattern for step in steps), Aligned.from_text(text.encode()))
    merges = train_merges((chunk.text for chunk in chunks), vocab_size - 256)
    pieces = [bytes([byte]) for byte in range(256)]
    for left, right, _ in merges:
        pieces.append(pieces[left] + pieces[right])
    return Spec(
        vocab=Vocab.from_rows((piece, id, 0.0, Kind.NORMAL) for id, piece in enumerate(pieces)),
        model=Bpe(priority="merges", merges=np.array(merges, dtype=np.uint32).reshape(-1, 3)),
        split=steps,
    )


def train_merges(chunks: Iterable[bytes], count: int) -> list[Merge]:
    """Returns ``count`` merges, as (left id, right id, new id).

    >>> train_merges([b"aaabdaaabac"], 3)
    [(97, 97, 256), (256, 97, 257), (257, 98, 258)]
    """
    if count < 0:
        raise ArgumentError("vocab_size must be at least 256, one id for each byte")
    sequences = [list(chunk) for chunk in chunks]
    merges: list[Merge] = []
    for new_id in range(256, 256 + count):
        counts: dict[tuple[int, int], int] = {}
        for ids in sequences:
            for pair in pairwise(ids):
                counts[pair] = counts.get(pair, 0) + 1
        if not counts:
            raise ArgumentError(
                f"the text allows {len(merges)} merges, not {count}: lower vocab_size or train on more text"
            )
        left, right = max(
            counts, key=lambda pair: counts[pair]
        )  # the first of equals, because dictionaries keep their order
        merges.append((left, right, new_id))
        sequences = [replace_pair(ids, left, right, new_id) for ids in sequences]
    return merges


def replace_pair(ids: list[int], left: int, right: int, new_id: int) -> list[int]:
    """Returns the sequence of ids with every occurrence of a pair replaced by a new id, left to right.

    >>> replace_pair([1, 1, 1, 2], 1, 1, 9)
    [9, 1, 2]
    """
    out: list[int] = []
    for id in ids:
        out.append(id)
        if out[-2:] == [left, right]:
            out[-2:] = [new_id]
    return out
