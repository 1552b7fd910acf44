"""Parts as characters: every slice knows which of its characters are trusted."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from itertools import accumulate, pairwise
from typing import NamedTuple

from .. import _core
from ..parts import Parts


class _Source(NamedTuple):
    """Parts, with the starts and ends of their trusted runs in characters; no two runs touch."""

    parts: Parts
    text: str
    run_starts: list[int]
    run_ends: list[int]


class PartCharacters:
    """Characters of `Parts`, from which slices are made like from a ``str``.

    ``is_part`` is True if they are encoded as a part of a text that is not trusted as a whole, which the ids of some
    vocabularies depend on (crates/polytok-core/src/trust.rs).
    """

    __slots__ = ("_source", "_start", "_stop", "is_part")

    def __init__(self, source: _Source, start: int, stop: int, is_part: bool) -> None:
        self._source = source
        self._start = start
        self._stop = stop
        self.is_part = is_part

    @staticmethod
    def of(parts: Parts) -> PartCharacters:
        """Returns the characters of parts whose text has no surrogates."""
        runs = _runs(parts)
        source = _Source(parts, parts.text, [start for start, _ in runs], [end for _, end in runs])
        return PartCharacters(source, 0, len(parts.text), False)

    def __len__(self) -> int:
        return self._stop - self._start

    def __getitem__(self, characters: slice) -> PartCharacters:
        start, stop, _ = characters.indices(len(self))
        return PartCharacters(self._source, self._start + start, self._start + max(start, stop), self.is_part)

    @property
    def text(self) -> str:
        """The characters as a ``str``."""
        return self._source.text[self._start : self._stop]

    @property
    def parts(self) -> Parts:
        """The characters as `Parts`."""
        return self._source.parts[self._start : self._stop]

    def encodable(self) -> _core.Parts:
        """Returns the text that the engine encodes."""
        text, runs = self.text, self._trusted_runs()
        if not text.isascii():
            ends = [0, *(border for run in runs for border in run)]
            lengths = (len(text[start:end].encode()) for start, end in pairwise(ends))
            offsets = [*accumulate(lengths)]
            runs = list(zip(offsets[::2], offsets[1::2], strict=True))
        return _core.Parts(text.encode(), runs, self.is_part)

    def of_one_text(self) -> PartCharacters:
        """Returns the same characters, of which all slices are encoded as these are by themselves."""
        return self._with(not self.is_trusted())

    def by_themselves(self) -> PartCharacters:
        """Returns the same characters, encoded by themselves."""
        return self._with(False)

    def is_trusted(self) -> bool:
        """Reports whether all characters are trusted."""
        return self.trusted_start() == len(self)

    def trusted_start(self) -> int:
        """Returns the number of characters at the start that are trusted."""
        runs = self._trusted_runs()
        return runs[0][1] if runs and runs[0][0] == 0 else 0

    def trusted_end(self) -> int:
        """Returns the number of characters at the end that are trusted."""
        runs = self._trusted_runs()
        return len(self) - runs[-1][0] if runs and runs[-1][1] == len(self) else 0

    def _with(self, is_part: bool) -> PartCharacters:
        return PartCharacters(self._source, self._start, self._stop, is_part)

    def _trusted_runs(self) -> list[tuple[int, int]]:
        """Returns the trusted runs, counted from the first character."""
        _, _, starts, ends = self._source
        first, last = bisect_right(ends, self._start), bisect_left(starts, self._stop)
        return [
            (max(starts[run], self._start) - self._start, min(ends[run], self._stop) - self._start)
            for run in range(first, last)
        ]


def _runs(parts: Iterable[tuple[str, bool]]) -> list[tuple[int, int]]:
    """Returns the start and end of each trusted run in characters; adjacent runs are joined."""
    runs: list[tuple[int, int]] = []
    at = 0
    for text, trusted in parts:
        start, at = at, at + len(text)
        if trusted and text:
            runs.append((runs.pop()[0] if runs and runs[-1][1] == start else start, at))
    return runs
