"""One cell of a contest: the entrants' ids are checked, then all of them run in turns in this process."""

from __future__ import annotations

import gc
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from statistics import median, quantiles
from typing import Any

from ..cases import Text, Vocabulary
from ..checker import MISSING, Checker
from ..clock import Session, Task, Took, serve
from ..engines import Engine
from ..measure import PATIENCE, fault, rotated
from ..remote import Failed, Remote, attempt
from ..texts import Document
from .entrants import Entrant, Match

PASSES = ("first", "again")


@dataclass(slots=True)
class Entry:
    """What an entrant did: MB/s of each round, or why it has none."""

    entrant: Entrant
    void: str | None = None
    first: list[float] = field(default_factory=list)
    again: list[float] = field(default_factory=list)

    def speeds(self, which: str) -> list[float]:
        return self.first if which == "first" else self.again


@dataclass(frozen=True, slots=True)
class Cell:
    """An operation on a text, by every entrant of a match that has it; the last one is measured by the others."""

    vocabulary: Vocabulary
    text: Text
    operation: str
    entries: Sequence[Entry]

    @property
    def title(self) -> str:
        return f"{self.vocabulary.name}, {self.text.name}, {self.operation}"

    def ratios(self, other: Entry, which: str) -> list[float]:
        """How many times as fast the last one was, round by round."""
        ours = self.entries[-1].speeds(which)
        return [mine / theirs for mine, theirs in zip(ours, other.speeds(which), strict=True)]

    def compared(self) -> Iterator[tuple[str, Entry, float]]:
        """For each pass and each other entrant the median of the ratios."""
        for which in PASSES:
            for other in self.entries[:-1]:
                if other.void is None and self.entries[-1].void is None:
                    yield which, other, median(self.ratios(other, which))

    def worst(self) -> float:
        """The least median; nothing if an entrant has no time."""
        if any(entry.void is not None for entry in self.entries):
            return 0.0
        return min((ratio for _, _, ratio in self.compared()), default=0.0)


def middle_half(values: Sequence[float]) -> tuple[float, float]:
    """Between which values the middle half of them lies."""
    if len(values) < 2:
        return values[0], values[0]
    low, _, high = quantiles(values, n=4, method="inclusive")
    return low, high


class Judge:
    """Checks ids in processes of their own, so that nothing here has seen the text before it is timed."""

    def __init__(self) -> None:
        self._checkers: dict[tuple[Engine, Vocabulary], Checker] = {}

    def entries(self, match: Match, operation: str, documents: Sequence[Document]) -> list[Entry]:
        """An entry for each entrant that has the operation, void if its output is wrong."""
        verdicts = [(entrant, self._verdict(entrant, operation, documents)) for entrant in match]
        return [Entry(entrant, void) for entrant, void in verdicts if void != MISSING.why]

    def _verdict(self, entrant: Entrant, operation: str, documents: Sequence[Document]) -> str | None:
        given = self._checker(entrant.engine, entrant.vocabulary).digests(operation, documents)
        if given == MISSING:
            return MISSING.why
        oracle = self._checker(entrant.oracle, entrant.vocabulary)
        expected = oracle.digests(operation, documents, is_reference=True)
        return f"ids not checked: {expected.why}" if isinstance(expected, Failed) else fault(expected, given)

    def _checker(self, engine: Engine, vocabulary: Vocabulary) -> Checker:
        key = engine, vocabulary
        if key not in self._checkers:
            self._checkers[key] = Checker(engine, vocabulary, PATIENCE)
        return self._checkers[key]

    def finish(self) -> None:
        """Lets the processes end."""
        for checker in self._checkers.values():
            checker.finish()
        self._checkers.clear()


class Near:
    """A session in this process, to be asked as a `Remote` is."""

    def __init__(self, task: Task) -> None:
        self._session = attempt(lambda: Session(task))

    def ask(self, request: int) -> Any:
        session = self._session
        return attempt(lambda: session.answer(request)) if isinstance(session, Session) else session

    def finish(self) -> None:
        self._session = None


def race(
    entries: Sequence[Entry], operation: str, warm_up: Sequence[str], turns: Sequence[Sequence[str]], start: int
) -> None:
    """Loads and warms up every entrant, in another order for another ``start``, then times them.

    In a turn every entrant encodes the same documents. A round has a turn for each entrant to go first: who ends one
    turn and begins the next one finds its tables in the processor's caches. Everyone has copies of the documents,
    because a str keeps its UTF-8 once it was asked for it.
    """
    runners = [entry for entry in entries if entry.void is None]
    is_apart = any(entry.entrant.engine.spoils_caches for entry in runners)
    with players(runners, operation, warm_up, turns, start, is_apart) as pairs:
        for which in PASSES:
            for first in range(0, len(turns) - len(pairs) + 1, max(1, len(pairs))):
                _round(pairs, range(first, first + len(pairs)), which)


@contextmanager
def players(
    runners: Sequence[Entry],
    operation: str,
    warm_up: Sequence[str],
    turns: Sequence[Sequence[str]],
    start: int,
    is_apart: bool,
) -> Iterator[list[tuple[Entry, Near | Remote]]]:
    """A loaded and warm engine for each entry, here or in a process of its own."""
    pairs: list[tuple[Entry, Near | Remote]] = []
    for entry in rotated(list(runners), start):
        entrant = entry.entrant
        own = [[document.encode().decode() for document in turn] for turn in turns]
        task = Task(entrant.engine, entrant.vocabulary, operation, warm_up, own, copies=1)
        pairs.append((entry, Remote(serve, task, PATIENCE) if is_apart else Near(task)))
    try:
        yield pairs
    finally:
        for _, player in pairs:
            player.finish()
        gc.enable()  # a session turns it off
        gc.collect()


def _round(pairs: Sequence[tuple[Entry, Near | Remote]], turns: Sequence[int], which: str) -> None:
    took: dict[int, list[Took | Failed]] = {place: [] for place in range(len(pairs))}
    for turn in turns:
        for place in rotated(list(took), turn):
            took[place].append(pairs[place][1].ask(turn))
    for (entry, _), each in zip(pairs, took.values(), strict=True):
        done = [one for one in each if isinstance(one, Took)]
        if len(done) < len(each):
            entry.void = entry.void or next(one.why for one in each if isinstance(one, Failed))
        else:
            entry.speeds(which).append(sum(one.size for one in done) / 1e6 / sum(one.wall for one in done))
