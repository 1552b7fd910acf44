"""The result of a conversion."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from ..spec import Spec


@dataclass(frozen=True, slots=True)
class Converted:
    """A Spec in another dialect, with one line for each difference from the original Spec.

    ``losses`` are differences in the ids of valid UTF-8, or in the text of ids. ``notes`` are all other differences:
    bytes that are not UTF-8, ids that no text has, and data that the engine does not need.
    """

    spec: Spec
    losses: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def then(self, step: Converted) -> Converted:
        """Returns the result of a further step, with the losses and notes of both steps."""
        return replace(step, losses=_union(self.losses, step.losses), notes=_union(self.notes, step.notes))


def _union(first: tuple[str, ...], second: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*first, *second)))


def first_items(items: Iterable[Any], max_items: int = 3) -> str:
    """Returns the first items for a report, and the number of the others.

    >>> first_items([b"a", b"b", b"c", b"d"])
    "b'a', b'b', b'c' and 1 more"
    """
    item_list = list(items)
    remainder = f" and {len(item_list) - max_items} more" if len(item_list) > max_items else ""
    return ", ".join(map(repr, item_list[:max_items])) + remainder
