"""The comparison by columns sees every difference that the comparison by tokens sees."""

from __future__ import annotations

from dataclasses import replace

import pytest

import polytok
from parity.columns import doubtful
from parity.references import Expected

TEXTS = [b"a word", b"", "été 中文".encode(), b"1234", b"\xff\xfe a"]
AT = 2


def answers() -> list[Expected]:
    """What the default vocabulary itself makes of the texts."""
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


def test_what_agrees_is_not_looked_at_again() -> None:
    assert list(doubtful(polytok.load("default"), TEXTS, answers())) == []
    bare = [Expected(answer.ids) for answer in answers()]
    assert list(doubtful(polytok.load("default"), TEXTS, bare)) == []


@pytest.mark.parametrize("column", ["ids", "pieces", "spans", "chars", "char_starts", "error"])
def test_every_difference_is_seen(column: str) -> None:
    made = answers()
    was = getattr(made[AT], column)
    wrong = {
        "ids": lambda: [*was[:-1], was[-1] + 1],
        "pieces": lambda: [*was[:-1], b"?"],
        "spans": lambda: [*was[:-1], (was[-1][0], was[-1][1] + 1)],
        "chars": lambda: [(was[0][0] + 1, was[0][1]), *was[1:]],
        "char_starts": lambda: [*was[:-1], was[-1] + 1],
        "error": lambda: "refused",
    }[column]()
    made[AT] = replace(made[AT], **{column: wrong})
    assert AT in doubtful(polytok.load("default"), TEXTS, made)


def test_a_missing_token_is_seen() -> None:
    made = answers()
    made[AT] = replace(made[AT], chars=(made[AT].chars or [])[:-1])
    assert AT in doubtful(polytok.load("default"), TEXTS, made)
