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
    bytes that are not UTF-8, ids that no text encodes to, and data that the engine does not need.
    """

    spec: Spec
    losses: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def then(self, step: Converted) -> Converted:
        """Returns the Spec of a further step, with the losses and notes of this step and of the further step."""
        return replace(step, losses=_unite(self.losses, step.losses), notes=_unite(self.notes, step.notes))


def _unite(first: tuple[str, ...], second: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*first, *second)))


def first_items(items: Iterable[Any], max_items: int = 3) -> str:
    """Returns the first items for a report, and the count of the remaining items.

    >>> first_items([b"a", b"b", b"c", b"d"])
    "b'a', b'b', b'c' and 1 more"
    """
    item_list = list(items)
    remainder = f" and {len(item_list) - max_items} more" if len(item_list) > max_items else ""
    return ", ".join(map(repr, item_list[:max_items])) + remainder
