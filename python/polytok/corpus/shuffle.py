"""Shuffles documents within windows of consecutive documents; shuffle_all.py shuffles all documents of a job.

The order depends only on the seed, the number of the task, and the indices of the documents in the task. The order does
not depend on the portions in which documents arrive. No random number generator of a package is used, because such a
generator can change between versions.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
import numpy.typing as npt

from .rows import IntArray, Rows, concatenate_rows, reorder_rows, slice_rows


def shuffle_rows(portions: Iterable[Rows], window_size: int, seed: int, task: int) -> Iterator[Rows]:
    """Yields all rows, with each window of ``window_size`` consecutive rows shuffled; yields unchanged rows if
    ``window_size`` is below 2."""
    if window_size < 2:
        yield from portions
        return
    first_row = 0
    for rows in _split_into_windows(portions, window_size):
        yield from reorder_rows(rows, random_order(len(rows.offsets) - 1, seed, task, first_row))
        first_row += window_size


def row_before_shuffle(row: int, row_count: int, window_size: int, seed: int, task: int) -> int:
    """Returns the index that the row at index ``row`` had before `shuffle_rows` shuffled ``row_count`` rows.

    >>> [row_before_shuffle(row, 5, 5, seed=1, task=0) for row in range(5)]
    [3, 1, 2, 4, 0]
    """
    first_row = row - row % window_size
    order = random_order(min(window_size, row_count - first_row), seed, task, first_row)
    return first_row + int(order[row - first_row])


def _split_into_windows(portions: Iterable[Rows], window_size: int) -> Iterator[Rows]:
    """Yields the rows of each window."""
    pending_rows: list[Rows] = []
    pending_count = 0
    for rows in portions:
        start = 0
        while pending_count + len(rows.offsets) - 1 - start >= window_size:
            end = start + window_size - pending_count
            yield concatenate_rows([*pending_rows, slice_rows(rows, start, end)])
            pending_rows, pending_count, start = [], 0, end
        if start < len(rows.offsets) - 1:
            pending_rows.append(slice_rows(rows, start, len(rows.offsets) - 1))
            pending_count += len(rows.offsets) - 1 - start
    if pending_rows:
        yield concatenate_rows(pending_rows)


def random_order(count: int, seed: int, task: int, first: int) -> IntArray:
    """Returns a permutation of the numbers 0 to ``count - 1``; ``first`` is the index of the first row in its task.

    >>> random_order(5, seed=1, task=0, first=0).tolist()
    [3, 1, 2, 4, 0]
    """
    return np.argsort(random_keys(count, seed, task, first), kind="stable").astype(np.int64)


def random_keys(count: int, seed: int, task: int, first: int) -> npt.NDArray[np.uint64]:
    """Returns a random key for each of the documents ``first`` to ``first + count - 1`` of a task: uint64, (count,)."""
    task_key = mix_bits(mix_bits(np.full(1, seed, dtype=np.uint64)) ^ np.uint64(task))
    indices = np.arange(count, dtype=np.uint64) + np.uint64(first)
    return mix_bits(mix_bits(task_key) ^ indices)


def mix_bits(values: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """Maps each value to a value that looks random, with the finalizer of SplitMix64."""
    mixed_values: npt.NDArray[np.uint64] = values + np.uint64(0x9E3779B97F4A7C15)
    mixed_values = (mixed_values ^ (mixed_values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed_values = (mixed_values ^ (mixed_values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mixed_values ^= mixed_values >> np.uint64(31)
    return mixed_values
