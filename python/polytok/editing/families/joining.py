"""Chooses the pairs that build a new entry of BPE from the tokens of its text."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...utf8 import is_utf8

_MAX_PARTS = 24
"""The largest number of tokens for which all trees of merges are compared; more tokens are joined from the left."""
_NEW_ENTRY, _PART_OF_CHARACTER = 2, 1
"""The costs of an intermediate entry, and of one that is not whole characters."""

Join = Callable[[bytes, bytes], bytes]


def next_pair(parts: Sequence[bytes], is_known: Callable[[bytes], bool], join: Join) -> tuple[bytes, bytes]:
    """Returns the first pair to merge in the tree of merges with the fewest intermediate entries.

    >>> next_pair([b"a", b"b", b"c"], {b"bc"}.__contains__, lambda left, right: left + right)
    (b'b', b'c')
    """
    count = len(parts)
    if count == 2 or count > _MAX_PARTS:
        return parts[0], parts[1]
    texts = _texts_of_ranges(parts, join)
    costs = {(at, at + 1): 0 for at in range(count)}
    middles: dict[tuple[int, int], int] = {}
    for length in range(2, count + 1):
        for start in range(count - length + 1):
            stop = start + length
            # Among equals, the longest left part: entries with the same start then share their intermediate entries.
            cost, at = min((costs[start, at] + costs[at, stop], -at) for at in range(start + 1, stop))
            text = texts[start, stop]
            costs[start, stop] = cost + (0 if is_known(text) else _NEW_ENTRY + _PART_OF_CHARACTER * (not is_utf8(text)))
            middles[start, stop] = -at
    start, stop = 0, count
    while stop - start > 2:
        middle = middles[start, stop]
        start, stop = (start, middle) if middle - start > 1 else (middle, stop)
    return parts[start], parts[stop - 1]


def _texts_of_ranges(parts: Sequence[bytes], join: Join) -> dict[tuple[int, int], bytes]:
    texts: dict[tuple[int, int], bytes] = {}
    for start, part in enumerate(parts):
        texts[start, start + 1] = part
        for stop in range(start + 2, len(parts) + 1):
            texts[start, stop] = join(texts[start, stop - 1], parts[stop - 1])
    return texts
