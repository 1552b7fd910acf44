"""What a caller asks for: the entries to remove and to add."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import compress
from typing import Literal, TypeAlias

from ..errors import ArgumentError
from ..keywords import keyword
from ..lists import Entry
from ..records import dataclass
from .numbering import IdPlan
from .select import Among, Selector

Removal: TypeAlias = "Entry | Selector"
"""An entry, the path of a file that lists entries, or a function that selects the entries to remove."""
NeededPlan: TypeAlias = Literal["refuse", "keep", "remove"]


@dataclass(frozen=True, slots=True)
class Request:
    """The parameters of an edit."""

    removals: list[Removal]
    words: list[bytes]
    symbols: list[bytes]
    special: list[str]
    needed: NeededPlan | None
    plan: IdPlan
    multiple: int


def checked_removals(remove: Iterable[Removal]) -> list[Removal]:
    """Returns the removals as a list. Raises `ArgumentError` for a single entry and for a list inside of the list."""
    if isinstance(remove, (str, bytes)):
        raise ArgumentError(f"{keyword('remove=')} is a single entry: give a list of entries")
    removals = list(remove)
    for removal in removals:
        if isinstance(removal, (list, tuple, set)):
            raise ArgumentError(
                f"{keyword('remove=')} contains a list: unpack it with *, as in remove=[*least_used(...)], or pass it "
                "alone, as in remove=least_used(...)"
            )
    return removals


def selected_among(entries: Sequence[bytes], texts: Sequence[bytes], selector: Selector) -> set[bytes]:
    """Returns the entries whose texts a selector selects; `Among` selects by the entries themselves."""
    is_selected = selector(entries if isinstance(selector, Among) else texts)
    if len(is_selected) != len(entries):
        raise ArgumentError(
            f"a selector returned {len(is_selected)} values for {len(entries)} entries: return one value for each entry"
        )
    return set(compress(entries, is_selected))
