"""Tests that the comparison by columns finds every difference that the comparison by tokens finds."""

from __future__ import annotations

from dataclasses import replace

import pytest

import polytok
from parity.columns import doubtful_texts
from parity.references import Expected

TEXTS = [b"a word", b"", "été 中文".encode(), b"1234", b"\xff\xfe a"]
CHANGED_TEXT = 2


def default_answers() -> list[Expected]:
    """Returns the default vocabulary's own encodings of `TEXTS`."""
    rows = [polytok.load("default").tokens(text) for text in TEXTS]
    return [
        Expected(
            [token.id for token in row],
            [token.piece for token in row],
            [(token.byte_start, token.byte_end) for token in row],
            [(token.start, token.end) for token in row],
            [token.start for token in row],
        )
        for row in rows
    ]


def test_equal_answers_are_not_doubtful() -> None:
    assert list(doubtful_texts(polytok.load("default"), TEXTS, default_answers())) == []
    ids_only = [Expected(answer.ids) for answer in default_answers()]
    assert list(doubtful_texts(polytok.load("default"), TEXTS, ids_only)) == []


@pytest.mark.parametrize("column", ["ids", "pieces", "byte_spans", "character_spans", "character_starts", "error"])
def test_a_difference_in_any_column_is_found(column: str) -> None:
    answers = default_answers()
    values = getattr(answers[CHANGED_TEXT], column)
    wrong_value = {
        "ids": lambda: [*values[:-1], values[-1] + 1],
        "pieces": lambda: [*values[:-1], b"?"],
        "byte_spans": lambda: [*values[:-1], (values[-1][0], values[-1][1] + 1)],
        "character_spans": lambda: [(values[0][0] + 1, values[0][1]), *values[1:]],
        "character_starts": lambda: [*values[:-1], values[-1] + 1],
        "error": lambda: "refused",
    }[column]()
    answers[CHANGED_TEXT] = replace(answers[CHANGED_TEXT], **{column: wrong_value})
    assert CHANGED_TEXT in doubtful_texts(polytok.load("default"), TEXTS, answers)


def test_a_missing_token_is_found() -> None:
    answers = default_answers()
    spans = answers[CHANGED_TEXT].character_spans or []
    answers[CHANGED_TEXT] = replace(answers[CHANGED_TEXT], character_spans=spans[:-1])
    assert CHANGED_TEXT in doubtful_texts(polytok.load("default"), TEXTS, answers)
