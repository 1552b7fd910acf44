"""Compares the merges of two BPE vocabularies."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from typing import NamedTuple

from ..errors import ArgumentError
from ..merge_list import Merge
from ..tokenizer import Tokenizer
from .entries import respelled

_Pair = tuple[bytes, bytes]


class MovedMerge(NamedTuple):
    """A merge of both vocabularies that comes earlier or later among the merges of both; the ranks are in each
    vocabulary's own list."""

    left_piece: bytes
    right_piece: bytes
    left_rank: int
    right_rank: int


class MergeDifferences(NamedTuple):
    """The merges of two BPE vocabularies, by the pieces that are merged.

    ``shared`` is the number of merges of both vocabularies. ``reordered`` has the fewest of these merges without which
    the others are in the same order.
    """

    only_left: tuple[Merge, ...]
    only_right: tuple[Merge, ...]
    reordered: tuple[MovedMerge, ...]
    shared: int


def compare_merges(left: Tokenizer, right: Tokenizer) -> MergeDifferences | None:
    """Returns the differences between the merges; None unless both models have merges."""
    try:
        left_merges, right_merges = left.merges(), right.merges()
    except ArgumentError:
        return None
    left_places, right_places = _place_of_pair(left_merges), _place_of_pair(right_merges)
    partner_of_place = {place: _place_in(right_places, pair) for pair, place in left_places.items()}
    pairs = [(place, partner) for place, partner in partner_of_place.items() if partner is not None]
    partners = {partner for _, partner in pairs}
    ordered_places = set(_longest_increasing([partner for _, partner in pairs]))
    return MergeDifferences(
        tuple(left_merges[place] for place, partner in partner_of_place.items() if partner is None),
        tuple(right_merges[place] for place in right_places.values() if place not in partners),
        tuple(
            _moved(left_merges[place], right_merges[partner])
            for place, partner in pairs
            if partner not in ordered_places
        ),
        len(pairs),
    )


def _moved(merge: Merge, partner: Merge) -> MovedMerge:
    return MovedMerge(merge.left, merge.right, merge.rank, partner.rank)


def _place_of_pair(merges: Sequence[Merge]) -> dict[_Pair, int]:
    """Returns the place of each pair in the list; the first place of a pair that is repeated."""
    places: dict[_Pair, int] = {}
    for place, merge in enumerate(merges):
        places.setdefault((merge.left, merge.right), place)
    return places


def _place_in(places: dict[_Pair, int], pair: _Pair) -> int | None:
    place = places.get(pair)
    return places.get((respelled(pair[0]), respelled(pair[1]))) if place is None else place


def _longest_increasing(numbers: Sequence[int]) -> list[int]:
    """Returns the longest increasing subsequence of different numbers.

    >>> _longest_increasing([0, 5, 1, 2, 3])
    [0, 1, 2, 3]
    """
    smallest_ends: list[int] = []  # the smallest number that ends an increasing subsequence of each length
    previous: dict[int, int | None] = {}
    for number in numbers:
        length = bisect_left(smallest_ends, number)
        previous[number] = smallest_ends[length - 1] if length else None
        smallest_ends[length : length + 1] = [number]
    result: list[int] = []
    number_before = smallest_ends[-1] if smallest_ends else None
    while number_before is not None:
        result.append(number_before)
        number_before = previous[number_before]
    return result[::-1]
