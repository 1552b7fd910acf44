"""The result of a conversion between dialects of the Spec."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..spec import Spec

_MAX_ITEMS = 3


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
        """Returns the result of ``step``, to which the losses and notes of this conversion are added."""
        return replace(
            step, losses=_unique_lines(self.losses, step.losses), notes=_unique_lines(self.notes, step.notes)
        )


def _unique_lines(first_lines: tuple[str, ...], second_lines: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*first_lines, *second_lines)))


def counted_entries(entries: Sequence[Any], one: str, many: str) -> str:
    """Formats entries for a report: their number, what happens to them in the singular or plural, and the first ones.

    >>> counted_entries([b"ab"], "is merged", "are merged"), counted_entries([b"ab", b"cd"], "is merged", "are merged")
    ("1 entry is merged (b'ab')", "2 entries are merged (b'ab', b'cd')")
    """
    text = f"entry {one}" if len(entries) == 1 else f"entries {many}"
    return f"{len(entries)} {text} ({first_items(entries)})"


def unmerged_text(entries: Sequence[Any], one: str, many: str) -> str:
    """Formats entries that no merge builds, as `counted_entries` does."""
    return counted_entries(entries, f"that no merge builds {one}", f"that no merge builds {many}")


def first_items(items: Iterable[Any]) -> str:
    """Formats the first items for a report, followed by the number of items that are left out.

    >>> first_items([b"a", b"b", b"c", b"d"])
    "b'a', b'b', b'c' and 1 more"
    """
    item_list = list(items)
    remainder_text = f" and {len(item_list) - _MAX_ITEMS} more" if len(item_list) > _MAX_ITEMS else ""
    return ", ".join(map(repr, item_list[:_MAX_ITEMS])) + remainder_text
