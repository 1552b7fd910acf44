"""Tests limits and shuffles of rows of ids against plain lists."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from polytok.corpus.options import DocumentOptions
from polytok.corpus.rows import Rows, concatenate_rows, join_small_portions, limit_rows, slice_rows
from polytok.corpus.shuffle import random_order, shuffle_rows

EOS = 9
documents = st.lists(st.lists(st.integers(0, 8), max_size=12), max_size=30)


def make_rows(lists: Sequence[Sequence[int]], lead: int = 3) -> Rows:
    """Returns rows that start in the middle of their array, as slices do."""
    offsets = lead + np.cumsum([0, *map(len, lists)])
    return Rows(np.array([7] * lead + [id for row in lists for id in row] + [7], dtype=np.uint16), offsets)


def row_lists(rows: Rows) -> list[list[int]]:
    return [rows.ids[start:end].tolist() for start, end in pairwise(rows.offsets)]


def apply_options_plainly(texts: list[list[int]], options: DocumentOptions) -> list[list[int]]:
    """Applies the options to one document at a time."""
    expected_rows: list[list[int]] = []
    for text in texts:
        max_tokens = len(text) if options.max_tokens is None else options.max_tokens
        if len(text) < options.min_tokens or (len(text) > max_tokens and options.long_documents == "skip"):
            continue
        if len(text) <= max_tokens:
            expected_rows.append(text)
        elif options.long_documents == "truncate":
            expected_rows.append([*text[: max_tokens - 1], EOS] if options.eos is not None else text[:max_tokens])
        else:
            expected_rows += [text[start : start + max_tokens] for start in range(0, len(text), max_tokens)]
    return expected_rows


@given(
    documents,
    st.integers(0, 4),
    st.none() | st.integers(4, 9),
    st.sampled_from(["truncate", "skip", "split"]),
    st.booleans(),
)
def test_limits(texts: list[list[int]], least: int, most: int | None, long: Any, ends: bool) -> None:
    options = DocumentOptions(min_tokens=least, max_tokens=most, long_documents=long, eos=EOS if ends else None)
    actual_rows = limit_rows(make_rows(texts), options)
    assert row_lists(actual_rows.rows) == apply_options_plainly(texts, options)
    assert actual_rows.short_count == sum(len(text) < least for text in texts)
    assert actual_rows.long_count == (0 if most is None else sum(len(text) > most for text in texts))


@given(documents, st.integers(2, 12), st.lists(st.integers(0, 30), max_size=4))
def test_the_order_does_not_depend_on_portions(texts: list[list[int]], window: int, cuts: list[int]) -> None:
    borders = sorted({0, len(texts), *(cut for cut in cuts if cut < len(texts))})
    portions = [make_rows(texts[start:end]) for start, end in pairwise(borders)]
    shuffled_rows = [row for part in shuffle_rows(portions, window, seed=5, task=3) for row in row_lists(part)]
    expected = []
    for first in range(0, len(texts), window):
        window_texts = texts[first : first + window]
        expected += [window_texts[place] for place in random_order(len(window_texts), 5, 3, first)]
    assert shuffled_rows == expected


def test_orders_are_permutations_that_depend_on_every_argument() -> None:
    orders = [
        random_order(1000, *arguments)
        for arguments in [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1000), (2**64 - 1, 99, 7)]
    ]
    assert all(sorted(order.tolist()) == list(range(1000)) for order in orders)
    assert len({order.tobytes() for order in orders}) == 5
    # A random permutation moves a row by a third of the number of rows on average.
    assert all(300 < np.abs(order - np.arange(1000)).mean() < 370 for order in orders)


def test_columns_go_with_their_rows() -> None:
    arrow = pytest.importorskip("pyarrow")
    texts = [[1], [2, 2, 2], [], [4, 4]]
    table = arrow.table({"name": ["a", "b", "c", "d"]})
    for options, names in [
        (DocumentOptions(min_tokens=1), ["a", "b", "d"]),
        (DocumentOptions(max_tokens=2, long_documents="skip"), ["a", "c", "d"]),
        (DocumentOptions(max_tokens=2, long_documents="split"), ["a", "b", "b", "c", "d"]),
        (DocumentOptions(max_tokens=2), ["a", "b", "c", "d"]),
    ]:
        limited_rows = limit_rows(make_rows(texts)._replace(columns=table), options).rows
        assert limited_rows.columns is not None and limited_rows.columns["name"].to_pylist() == names
    all_rows = make_rows(texts)._replace(columns=table)
    joined_rows = concatenate_rows([slice_rows(all_rows, 0, 1), slice_rows(all_rows, 1, 4)])
    assert joined_rows.columns is not None and joined_rows.columns.equals(table) and row_lists(joined_rows) == texts
    shuffled_rows = next(shuffle_rows([all_rows], 4, 0, 0))
    assert shuffled_rows.columns is not None
    assert sorted(zip(shuffled_rows.columns["name"].to_pylist(), row_lists(shuffled_rows), strict=True)) == [
        *zip("abcd", texts, strict=True)
    ]


def test_small_portions_are_joined() -> None:
    portions = [[[number] * 100] * 3 for number in range(9)] * 200
    joined_portions = list(join_small_portions(map(make_rows, portions)))
    assert [text for portion in joined_portions for text in row_lists(portion)] == [
        text for portion in portions for text in portion
    ]
    assert len(joined_portions) < 12 and all(portion.tokens < 1 << 17 for portion in joined_portions)
