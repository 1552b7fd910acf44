"""Caches what was derived from a few large objects, such as vocabularies, as long as the objects live."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Generic, TypeVar

Source = TypeVar("Source")
Derived = TypeVar("Derived")
KEPT = 4


class Recent(Generic[Source, Derived]):
    """A function of one object whose last results are kept, each until its object is freed. Objects are compared by
    identity, and need not be hashable.

    >>> lengths = Recent(lambda words: len(words))
    >>> words = {"a", "b"}
    >>> lengths(words), lengths(words)
    (2, 2)
    """

    def __init__(self, derive: Callable[[Source], Derived]) -> None:
        self._derive = derive
        self._kept: list[tuple[weakref.ref[Source], Derived]] = []  # type: ignore[type-var,unused-ignore]

    def __call__(self, source: Source) -> Derived:
        for reference, derived in self._kept:
            if reference() is source:
                return derived
        derived = self._derive(source)
        self._kept = [*self._kept[1 - KEPT :], (weakref.ref(source, self._forget), derived)]
        return derived

    def _forget(self, reference: weakref.ref[Source]) -> None:  # type: ignore[type-var,unused-ignore]
        self._kept = [kept for kept in self._kept if kept[0] is not reference]
