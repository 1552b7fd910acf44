"""Shuffles documents within windows of consecutive documents.

The order depends only on the seed, the number of the task, and the places of the documents in it. It depends neither on
the portions in which documents arrive nor on a package's random numbers, which change between versions.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
import numpy.typing as npt

from .rows import Numbers, Rows, joined, sliced, taken


def shuffled(portions: Iterable[Rows], window: int, seed: int, task: int) -> Iterator[Rows]:
    """The rows of all portions, shuffled ``window`` at a time; unchanged if there is no window."""
    if window < 2:
        yield from portions
        return
    first = 0
    for rows in _windows(portions, window):
        yield from taken(rows, order(len(rows.offsets) - 1, seed, task, first))
        first += window


def _windows(portions: Iterable[Rows], window: int) -> Iterator[Rows]:
    """The same rows, ``window`` at a time."""
    held: list[Rows] = []
    count = 0
    for rows in portions:
        start = 0
        while count + len(rows.offsets) - 1 - start >= window:
            end = start + window - count
            yield joined([*held, sliced(rows, start, end)])
            held, count, start = [], 0, end
        if start < len(rows.offsets) - 1:
            held.append(sliced(rows, start, len(rows.offsets) - 1))
            count += len(rows.offsets) - 1 - start
    if held:
        yield joined(held)


def order(count: int, seed: int, task: int, first: int) -> Numbers:
    """A permutation of ``count`` rows; the first of them has a given number in its task.

    >>> order(5, seed=1, task=0, first=0).tolist()
    [3, 1, 2, 4, 0]
    """
    begun = _mixed(_mixed(np.full(1, seed, dtype=np.uint64)) ^ np.uint64(task))
    places = np.arange(count, dtype=np.uint64) + np.uint64(first)
    keys = _mixed(_mixed(begun) ^ places)
    return np.argsort(keys, kind="stable").astype(np.int64)


def _mixed(values: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """The finalizer of SplitMix64: maps each value to another one that looks random."""
    mixed: npt.NDArray[np.uint64] = values + np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mixed ^= mixed >> np.uint64(31)
    return mixed
