"""Rows of ids: many documents in one array, with their offsets; they can be truncated, dropped and reordered.

Row i is ``ids[offsets[i]:offsets[i + 1]]``, as in `polytok.Batch`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from .options import DocumentOptions

if TYPE_CHECKING:
    import pyarrow

Numbers = npt.NDArray[np.int64]

_PORTION = 1 << 20
_SMALL = 1 << 16


class Rows(NamedTuple):
    """Documents as ids, and the columns that go with them."""

    ids: npt.NDArray[Any]
    offsets: Numbers
    columns: pyarrow.Table | None = None

    @property
    def lengths(self) -> Numbers:
        """The tokens of each row."""
        return np.diff(self.offsets)

    @property
    def tokens(self) -> int:
        """The tokens of all rows."""
        return int(self.offsets[-1] - self.offsets[0])


class Limited(NamedTuple):
    """Rows within limits, the number of documents that were too short, and the number that were too long."""

    rows: Rows
    short: int
    long: int


def limited(rows: Rows, options: DocumentOptions) -> Limited:
    """Apply the limits of the options to rows; truncated rows keep the id that ends documents."""
    if not options.min_tokens and options.max_tokens is None:
        return Limited(rows, 0, 0)
    lengths = rows.lengths
    is_short = lengths < options.min_tokens
    is_long = np.zeros(len(lengths), dtype=bool) if options.max_tokens is None else lengths > options.max_tokens
    most = options.max_tokens if is_long.any() else None
    if most is not None and options.long == "skip":
        rows = _only(rows, ~is_short & ~is_long)
    elif is_short.any():
        rows = _only(rows, ~is_short)
    if most is not None and options.long == "truncate":
        rows = truncated(rows, most, options.ids[1])
    elif most is not None and options.long == "split":
        rows = split(rows, most)
    return Limited(rows, int(is_short.sum()), int(is_long.sum()))


def truncated(rows: Rows, most: int, eos: int | None) -> Rows:
    """Truncate rows to at most ``limit`` tokens; truncated rows end with the id ``eos``."""
    is_long = rows.lengths > most
    cut = _gathered(rows, rows.offsets[:-1], np.minimum(rows.lengths, most), np.arange(len(is_long)))
    if eos is not None:
        cut.ids[cut.offsets[1:][is_long] - 1] = eos
    return cut


def split(rows: Rows, most: int) -> Rows:
    """Split rows into rows of at most ``limit`` tokens: the same ids, with more borders."""
    counts = np.maximum(-(-rows.lengths // most), 1)
    chosen = np.repeat(np.arange(len(counts)), counts)
    within = np.arange(len(chosen)) - np.repeat(np.cumsum(counts) - counts, counts)
    offsets = np.append(rows.offsets[:-1][chosen] + most * within, rows.offsets[-1])
    return Rows(rows.ids, offsets, None if rows.columns is None else rows.columns.take(chosen))


def sliced(rows: Rows, start: int, end: int) -> Rows:
    """The rows from one to another, without copying."""
    columns = None if rows.columns is None else rows.columns.slice(start, end - start)
    return Rows(rows.ids, rows.offsets[start : end + 1], columns)


def joined(parts: Sequence[Rows]) -> Rows:
    """Concatenate the rows of all parts; at least one part is required."""
    if len(parts) == 1:
        return parts[0]
    ids = np.concatenate([rows.ids[rows.offsets[0] : rows.offsets[-1]] for rows in parts])
    offsets = np.concatenate(([0], np.cumsum(np.concatenate([rows.lengths for rows in parts]))))
    if parts[0].columns is None:
        return Rows(ids, offsets)
    import pyarrow

    return Rows(ids, offsets, pyarrow.concat_tables([rows.columns for rows in parts]).combine_chunks())


def gathered(portions: Iterable[Rows]) -> Iterator[Rows]:
    """The same rows, with small portions, such as those of small files, joined together."""
    held: list[Rows] = []
    size = 0
    for rows in portions:
        held.append(rows)
        size += rows.tokens + len(rows.offsets)
        if size >= _SMALL:
            yield joined(held)
            held, size = [], 0
    if held:
        yield joined(held)


def taken(rows: Rows, chosen: Numbers) -> Iterator[Rows]:
    """These rows in this order, in portions of about a given number of tokens."""
    starts, lengths = rows.offsets[:-1][chosen], rows.lengths[chosen]
    ends = np.cumsum(lengths)
    first = 0
    while first < len(chosen):
        enough = int(np.searchsorted(ends, ends[first] - lengths[first] + _PORTION))
        here = slice(first, max(enough, first + 1))
        yield _gathered(rows, starts[here], lengths[here], chosen[here])
        first = here.stop


def _only(rows: Rows, is_kept: npt.NDArray[np.bool_]) -> Rows:
    chosen = np.flatnonzero(is_kept)
    return _gathered(rows, rows.offsets[:-1][chosen], rows.lengths[chosen], chosen)


def _gathered(rows: Rows, starts: Numbers, lengths: Numbers, chosen: Numbers) -> Rows:
    """The ranges of ids that begin at ``starts``, from the rows ``chosen``; each range keeps the columns of its row."""
    offsets = np.zeros(len(starts) + 1, dtype=np.int64)
    np.cumsum(lengths, out=offsets[1:])
    places = np.repeat(starts - offsets[:-1], lengths)
    places += np.arange(len(places), dtype=np.int64)
    return Rows(rows.ids[places], offsets, None if rows.columns is None else rows.columns.take(chosen))
