"""Tests `polytok.Parts`: a text in parts, each trusted or not."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import polytok
from polytok import Parts
from polytok.errors import ArgumentError

TOKENIZER = polytok.load("default")
# Includes halves of surrogate pairs, which can be in different parts.
TEXT = st.text(st.sampled_from("ab é世😀\ud83d\ude00"), max_size=4)
PAIRS = st.lists(st.tuples(TEXT, st.booleans()), max_size=6)


def repaired(text: str) -> str:
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def is_pair(text: str) -> bool:
    """Reports whether a text of two characters is a surrogate pair."""
    return "\ud800" <= text[0] < "\udc00" <= text[1] < "\ue000"


# The class


@given(PAIRS, PAIRS)
def test_parts_are_a_sequence_of_pairs(pairs: list[tuple[str, bool]], others: list[tuple[str, bool]]) -> None:
    parts = Parts(pairs)
    assert parts.text == "".join(text for text, _ in pairs)
    assert (list(parts), len(parts)) == (pairs, len(pairs))
    assert list(parts + Parts(others)) == pairs + others
    assert (parts == Parts(others)) == (pairs == others)
    assert hash(parts) == hash(Parts(iter(pairs)))
    assert eval(repr(parts)) == parts
    assert pickle.loads(pickle.dumps(parts)) == parts


def test_parts_are_immutable() -> None:
    parts = Parts([("a", True)])
    with pytest.raises(AttributeError):
        parts.text = "b"  # type: ignore[misc]
    with pytest.raises(AttributeError):
        parts._pairs = ()
    assert parts != "a"
    with pytest.raises(TypeError):
        parts + "a"  # type: ignore[operator]


@pytest.mark.parametrize(
    ("value", "error", "message"),
    [
        ("text", TypeError, "parts='text' is a single text: pass pairs of text and trust, such as [('text', False)]"),
        (1, TypeError, "parts=1 is not a list of pairs"),
        (["ab"], TypeError, "parts[0]='ab' is not a pair of a text and True or False"),
        ([("a", True), ("a",)], TypeError, "parts[1]=('a',) is not a pair of a text and True or False"),
        ([(b"a", True)], TypeError, "parts[0] has the text b'a', which is not a str; decode bytes first"),
        ([("a", 1)], ArgumentError, "parts[0] has the trust 1, which is neither True nor False"),
    ],
)
def test_wrong_parts_are_named(value: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error) as raised:
        Parts(value)
    assert message in str(raised.value)


# The part of each token


@given(PAIRS)
def test_each_character_belongs_to_its_part(pairs: list[tuple[str, bool]]) -> None:
    """The first half of a surrogate pair decides to which part the character belongs."""
    text = "".join(text for text, _ in pairs)
    size = len(repaired(text))
    starts = np.arange(size, dtype=np.uint32)
    index = Parts(pairs).index(polytok.Spans(starts, starts, starts + 1, starts, starts + 1))
    part_of_unit = [part for part, (text, _) in enumerate(pairs) for _ in text]
    second_halves = {at for at in range(1, len(text)) if is_pair(text[at - 1 : at + 1])}
    units = [at for at in range(len(text)) if at not in second_halves]
    assert index.tolist() == [part_of_unit[at] for at in units]


def test_tokens_over_parts_and_tokens_without_text() -> None:
    parts = Parts([("", True), ("th", False), ("e", True), ("", True), (" é", False)])
    spans = polytok.Spans(*(np.array(column, np.uint32) for column in ([0] * 4, [0, 0, 3, 3], [0, 3, 5, 3], [], [])))
    index = parts.index(spans)
    assert index.dtype == np.int64
    assert index.tolist() == [-1, 1, 4, -1]


def test_wrong_spans_are_named() -> None:
    parts = Parts([("ab", True)])
    with pytest.raises(TypeError, match="spans=1 has no columns starts and ends"):
        parts.index(1)  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="the spans reach from 0 to 3, but the text has 2 characters"):
        parts.index(TOKENIZER.spans("abc"))
