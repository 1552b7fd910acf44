"""Compares a text before and after a normalization step."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from .data import Change
from .probes import Rewritten


@dataclass(frozen=True, slots=True)
class Origins:
    """Where each byte of a rewritten text comes from: the ranges in the original text."""

    starts: Sequence[int]
    ends: Sequence[int]

    @classmethod
    def of_length(cls, length: int) -> Origins:
        """Returns the origins of a text that is not rewritten."""
        return cls(range(length), range(1, length + 1))

    def after(self, runs: Sequence[Rewritten]) -> Origins:
        """Returns the origins after one more step, whose runs come from ranges of this text."""
        starts: list[int] = []
        ends: list[int] = []
        for run in runs:
            start, end = self.range(run.start, run.end)
            starts += [start] * len(run.text)
            ends += [end] * len(run.text)
        return Origins(starts, ends)

    def of_ranges(self, starts: Sequence[int], ends: Sequence[int]) -> Origins:
        """Returns the origins of bytes that come from these ranges of this text."""
        ranges = [self.range(start, end) for start, end in zip(starts, ends, strict=True)]
        return Origins([start for start, _ in ranges], [end for _, end in ranges])

    def first_length(self, start: int, end: int) -> int:
        """Returns the number of bytes of a range, from its start, that come from the start of the original text."""
        return next((at for at in range(start, end) if self.starts[at] > 0), end) - start

    def range(self, start: int, end: int) -> tuple[int, int]:
        """Returns the range of the original text that a range of the rewritten text comes from."""
        if not len(self.starts):
            return 0, 0
        if start >= end:
            at = self.starts[start] if start < len(self.starts) else self.ends[-1]
            return at, at
        return self.starts[start], max(self.starts[start], self.ends[end - 1])


def changes_of(before: bytes, runs: Sequence[Rewritten]) -> Iterator[Change]:
    """Yields the ranges that a step changed, from left to right.

    >>> [change] = changes_of(b"a b", [Rewritten(b"a", 0, 1), Rewritten(b"_", 1, 2), Rewritten(b"b", 2, 3)])
    >>> change
    Change(before_start=1, before_end=2, after_start=1, after_end=2)
    """
    at = after_at = 0  # the ends of the text that is settled, before and after the step
    position = 0
    for run in runs:
        kept = before[run.start : run.end]
        is_kept = bool(kept) and run.start >= at and run.text.endswith(kept)
        end = position + len(run.text)
        if is_kept:
            kept_start = end - len(kept)
            if run.start > at or kept_start > after_at:
                yield Change(at, run.start, after_at, kept_start)
            at, after_at = run.end, end
        position = end
    if at < len(before) or after_at < position:
        yield Change(at, len(before), after_at, position)
