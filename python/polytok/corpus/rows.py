"""Rows of ids: many documents in one array with offsets, and functions that truncate, drop and reorder the documents.

Row i is ``ids[offsets[i]:offsets[i + 1]]``, as in `polytok.Batch`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..reading.tables import require_pyarrow
from .options import DocumentOptions

if TYPE_CHECKING:
    from ..arrow import pyarrow

IntArray = npt.NDArray[np.int64]

_PORTION_TOKENS = 1 << 20  # the number of tokens in each portion of reordered rows
_MIN_PORTION_SIZE = 1 << 16  # smaller portions are joined


class Rows(NamedTuple):
    """Documents as ids with offsets, and the columns of the documents."""

    ids: npt.NDArray[Any]
    offsets: IntArray
    columns: pyarrow.Table | None = None

    @property
    def lengths(self) -> IntArray:
        """The number of tokens of each row: int64, shape (rows,)."""
        return np.diff(self.offsets)

    @property
    def tokens(self) -> int:
        """The number of tokens in all rows."""
        return int(self.offsets[-1] - self.offsets[0])


class LimitedRows(NamedTuple):
    """Rows within the limits of the options, and the counts of documents that were too short and too long."""

    rows: Rows
    short_count: int
    long_count: int


def limit_rows(rows: Rows, options: DocumentOptions) -> LimitedRows:
    """Skips, truncates or splits rows according to ``min_tokens``, ``max_tokens`` and ``long``.

    A truncated row ends with the id of ``eos``, if the options have one.
    """
    if not options.min_tokens and options.max_tokens is None:
        return LimitedRows(rows, 0, 0)
    lengths = rows.lengths
    is_short = lengths < options.min_tokens
    is_long = np.zeros(len(lengths), dtype=bool) if options.max_tokens is None else lengths > options.max_tokens
    max_tokens = options.max_tokens if is_long.any() else None
    if max_tokens is not None and options.long_documents == "skip":
        rows = _keep_rows(rows, ~is_short & ~is_long)
    elif is_short.any():
        rows = _keep_rows(rows, ~is_short)
    if max_tokens is not None and options.long_documents == "truncate":
        rows = truncate_rows(rows, max_tokens, options.ids[1])
    elif max_tokens is not None and options.long_documents == "split":
        rows = split_rows(rows, max_tokens)
    return LimitedRows(rows, int(is_short.sum()), int(is_long.sum()))


def truncate_rows(rows: Rows, max_tokens: int, eos: int | None) -> Rows:
    """Truncates rows to at most ``max_tokens`` tokens. If ``eos`` is not None, it replaces the last id of such rows."""
    is_long = rows.lengths > max_tokens
    truncated_rows = _copy_ranges(
        rows, rows.offsets[:-1], np.minimum(rows.lengths, max_tokens), np.arange(len(is_long))
    )
    if eos is not None:
        truncated_rows.ids[truncated_rows.offsets[1:][is_long] - 1] = eos
    return truncated_rows


def split_rows(rows: Rows, max_tokens: int) -> Rows:
    """Splits rows into rows of at most ``max_tokens`` tokens, without copying the ids."""
    counts = np.maximum(-(-rows.lengths // max_tokens), 1)
    row_numbers = np.repeat(np.arange(len(counts)), counts)
    part_numbers = np.arange(len(row_numbers)) - np.repeat(np.cumsum(counts) - counts, counts)
    offsets = np.append(rows.offsets[:-1][row_numbers] + max_tokens * part_numbers, rows.offsets[-1])
    return Rows(rows.ids, offsets, None if rows.columns is None else rows.columns.take(row_numbers))


def slice_rows(rows: Rows, start: int, end: int) -> Rows:
    """Returns rows ``start`` to ``end - 1`` without copying the ids."""
    columns = None if rows.columns is None else rows.columns.slice(start, end - start)
    return Rows(rows.ids, rows.offsets[start : end + 1], columns)


def concatenate_rows(row_parts: Sequence[Rows]) -> Rows:
    """Concatenates the rows of all parts; at least one part is required."""
    if len(row_parts) == 1:
        return row_parts[0]
    ids = np.concatenate([rows.ids[rows.offsets[0] : rows.offsets[-1]] for rows in row_parts])
    offsets = np.concatenate(([0], np.cumsum(np.concatenate([rows.lengths for rows in row_parts]))))
    if row_parts[0].columns is None:
        return Rows(ids, offsets)
    pyarrow = require_pyarrow()
    return Rows(ids, offsets, pyarrow.concat_tables([rows.columns for rows in row_parts]).combine_chunks())


def join_small_portions(portions: Iterable[Rows]) -> Iterator[Rows]:
    """Joins small portions to larger ones, because each small input file is only a small portion."""
    pending_rows: list[Rows] = []
    size = 0
    for rows in portions:
        pending_rows.append(rows)
        size += rows.tokens + len(rows.offsets)
        if size >= _MIN_PORTION_SIZE:
            yield concatenate_rows(pending_rows)
            pending_rows, size = [], 0
    if pending_rows:
        yield concatenate_rows(pending_rows)


def reorder_rows(rows: Rows, row_numbers: IntArray) -> Iterator[Rows]:
    """Yields the rows with the indices ``row_numbers``, in that order, in portions of about a million tokens."""
    starts, lengths = rows.offsets[:-1][row_numbers], rows.lengths[row_numbers]
    ends = np.cumsum(lengths)
    first_row = 0
    while first_row < len(row_numbers):
        last_row = int(np.searchsorted(ends, ends[first_row] - lengths[first_row] + _PORTION_TOKENS))
        portion = slice(first_row, max(last_row, first_row + 1))
        yield _copy_ranges(rows, starts[portion], lengths[portion], row_numbers[portion])
        first_row = portion.stop


def _keep_rows(rows: Rows, is_kept: npt.NDArray[np.bool_]) -> Rows:
    row_numbers = np.flatnonzero(is_kept)
    return _copy_ranges(rows, rows.offsets[:-1][row_numbers], rows.lengths[row_numbers], row_numbers)


def _copy_ranges(rows: Rows, starts: IntArray, lengths: IntArray, row_numbers: IntArray) -> Rows:
    """Returns new rows: row i has a copy of the ``lengths[i]`` ids from ``starts[i]`` on, and the columns of the old
    row ``row_numbers[i]``.
    """
    offsets = np.zeros(len(starts) + 1, dtype=np.int64)
    np.cumsum(lengths, out=offsets[1:])
    indices = np.repeat(starts - offsets[:-1], lengths)
    indices += np.arange(len(indices), dtype=np.int64)
    return Rows(rows.ids[indices], offsets, None if rows.columns is None else rows.columns.take(row_numbers))
