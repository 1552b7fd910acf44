"""Counts the characters, words and scripts of texts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import cache

import numpy as np
import numpy.typing as npt

from .data import TextGroup
from .scripts import Scripts

_SLICE_BYTES = 1 << 22  # limits the memory of the arrays, which need about 20 times as much
_LAST_WHITE_SPACE = 0x3000


class TextCounter:
    """Counts the texts of a group."""

    def __init__(self, name: str, scripts: Scripts) -> None:
        self.name = name
        self._scripts = scripts
        self._script_counts: Counter[str] = Counter()
        self._texts = self._bytes = self._characters = self._words = 0

    def add(self, texts: list[bytes]) -> None:
        """Counts texts. Bytes that are not UTF-8 count as characters of their own."""
        for text in texts:
            self._texts += 1
            self._bytes += len(text)
            was_space = True
            for part in _slices(text):
                was_space = self._add_characters(part.decode(errors="replace"), was_space)

    def result(self) -> TextGroup:
        """Returns the figures of the texts so far."""
        scripts = dict(self._script_counts.most_common())
        return TextGroup(self.name, self._texts, self._bytes, self._characters, self._words, scripts)

    def _add_characters(self, text: str, was_space: bool) -> bool:
        """Counts the characters of a part of a text. ``was_space`` says whether white space or nothing is before it;
        returns the same for the next part."""
        codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
        is_space = _white_space()[np.minimum(codes, _LAST_WHITE_SPACE + 1)]
        starts = ~is_space & np.concatenate([[was_space], is_space[:-1]])
        self._characters += len(codes)
        self._words += int(np.count_nonzero(starts))
        counts = np.bincount(codes)
        used_codes = np.flatnonzero(counts)
        scripts = self._scripts.of_characters(map(chr, used_codes.tolist()))
        for script, count in zip(scripts, counts[used_codes].tolist(), strict=True):
            if script is not None:
                self._script_counts[script] += count
        return bool(is_space[-1])


@cache
def _white_space() -> npt.NDArray[np.bool_]:
    """Returns which code points are white space, for those up to the last one that is, and for one other."""
    return np.array([chr(code).isspace() for code in range(_LAST_WHITE_SPACE + 2)])


def _slices(text: bytes) -> Iterator[bytes]:
    """Yields a text in parts that end between characters."""
    start = 0
    while start < len(text):
        stop = start + _SLICE_BYTES
        while stop < len(text) and 0x80 <= text[stop] < 0xC0 and stop > start + _SLICE_BYTES - 4:
            stop -= 1
        yield text[start:stop]
        start = stop
