"""Byte-pair encoding with a queue, as SentencePiece, Hugging Face and llama.cpp run it.

All pairs of neighbours that can merge are put into a queue. The best pair is taken out and merged, and the pairs that
the new symbol forms with its neighbours are put in. Pairs whose symbols were used by another merge stay in the queue;
they are stale, and are skipped when they are taken out. The result is that of `bpe.merge`, which searches the best pair
anew each time as tiktoken does, and each step is recorded.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable
from typing import NamedTuple

from polytok.reference.walks import BpeEvent, Merged, Queued, Stale, Symbol

Lookup = Callable[[Symbol, Symbol], "Pair | None"]


class Pair(NamedTuple):
    """A pair that can merge: the lowest ``order`` merges first. ``priority`` is the number that a reader knows: the
    place in the list of merges, the rank, or the score."""

    order: float
    priority: float
    id: int | None
    piece: bytes


class Merging:
    """The merging of one piece: all symbols, the events, and the symbols that remain, from left to right."""

    def __init__(self, initial: Iterable[Symbol], look_up: Lookup) -> None:
        self.symbols = list(initial)
        self.initial_count = len(self.symbols)
        self.events: list[BpeEvent] = []
        self._look_up = look_up
        self._next: dict[int, int] = {}
        self._previous: dict[int, int] = {}
        self._used_by: dict[int, int] = {}
        self._queue: list[tuple[float, int, int, int, Pair]] = []
        # The place of a symbol is that of its first initial symbol; offsets would not do, as symbols can be empty.
        self._places = {number: number for number in range(self.initial_count)}
        for left in range(self.initial_count - 1):
            self._link(left, left + 1)
        for left in range(self.initial_count - 1):
            self._offer(left, left + 1)
        self._run()

    @property
    def final(self) -> list[Symbol]:
        """The symbols that no merge has used, from left to right."""
        left = [symbol for symbol in self.symbols if symbol.number not in self._used_by]
        return sorted(left, key=lambda symbol: self._places[symbol.number])

    def _run(self) -> None:
        step = 0
        while self._queue:
            _, _, left, right, pair = heapq.heappop(self._queue)
            used_by = [self._used_by[number] for number in (left, right) if number in self._used_by]
            if used_by:
                self.events.append(Stale(left, right, pair.priority, min(used_by)))
                continue
            step += 1
            self._merge(step, left, right, pair)

    def _merge(self, step: int, left: int, right: int, pair: Pair) -> None:
        number = len(self.symbols)
        start, end = self.symbols[left].start, self.symbols[right].end
        self.symbols.append(Symbol(number, pair.id, start, end, (left, right)))
        self.events.append(Merged(step, left, right, number, pair.priority))
        self._used_by[left] = self._used_by[right] = step
        self._places[number] = self._places[left]
        before, after = self._previous.get(left), self._next.get(right)
        if before is not None:
            self._link(before, number)
            self._offer(before, number)
        if after is not None:
            self._link(number, after)
            self._offer(number, after)

    def _link(self, left: int, right: int) -> None:
        self._next[left], self._previous[right] = right, left

    def _offer(self, left: int, right: int) -> None:
        pair = self._look_up(self.symbols[left], self.symbols[right])
        if pair is not None:
            heapq.heappush(self._queue, (pair.order, self._places[left], left, right, pair))
            self.events.append(Queued(left, right, pair.piece, pair.id, pair.priority))
