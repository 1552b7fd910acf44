"""What every conversion gives back."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from ..spec import Spec


@dataclass(frozen=True, slots=True)
class Converted:
    """A Spec in another dialect, and what it does not carry of the one before, a line each.

    ``losses`` concern valid UTF-8: its ids, or the text that they decode to. ``notes`` tell of all else: other bytes,
    ids that no text has, what no engine needs.
    """

    spec: Spec
    losses: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def then(self, step: Converted) -> Converted:
        """With the next step's Spec, and what either lost."""
        return replace(step, losses=_joined(self.losses, step.losses), notes=_joined(self.notes, step.notes))


def _joined(first: tuple[str, ...], second: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*first, *second)))


def some(items: Iterable[Any], most: int = 3) -> str:
    """A few items for a report, and how many more there are.

    >>> some([b"a", b"b", b"c", b"d"])
    "b'a', b'b', b'c' and 1 more"
    """
    listed = list(items)
    more = f" and {len(listed) - most} more" if len(listed) > most else ""
    return ", ".join(map(repr, listed[:most])) + more
