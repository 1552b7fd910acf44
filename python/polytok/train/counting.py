"""Counts the words of texts."""

from __future__ import annotations

from collections.abc import Sequence

from .. import _core
from ..spec import NormalizeStep, SplitStep


class Counts:
    """Distinct words with their counts, of texts that are normalized and split as a Spec says."""

    def __init__(self, *, normalize: Sequence[NormalizeStep] = (), split: Sequence[SplitStep] = ()) -> None:
        self.normalize, self.split = tuple(normalize), tuple(split)
        self._splitter = _core.WordSplitter(list(normalize), list(split))

    def push(self, texts: Sequence[bytes]) -> None:
        """Counts the words of some documents."""
        self._splitter.push(list(texts))

    def words(self, order: str = "first_seen") -> _core.Words:
        """The words."""
        return self._splitter.words()
