"""Tests the comparison of SIMD levels."""

from __future__ import annotations

import pytest

import polytok
from parity import levels
from polytok import Tokenizer
from tokenizer_samples import rank_spec

TOKENIZER = Tokenizer(rank_spec(b"the", special={"<a>": 300}))
TEXTS = [b"the text", b"", "猫 the 猫".encode(), b"\xff the"]


def test_equal_answers_are_no_difference() -> None:
    outcome = levels.new_outcome("sample")
    levels.encoding(outcome, TOKENIZER, TEXTS)
    levels.encoding(outcome, TOKENIZER, TEXTS, by_columns=True)
    levels.encoding_with_special(outcome, TOKENIZER, [(b"the <a>", ["<a>"])])
    levels.decoding(outcome, TOKENIZER, [[1, 2, 300]])
    tokens = 2 * sum(map(TOKENIZER.count, TEXTS)) + TOKENIZER.count("the <a>", special=["<a>"]) + 3
    assert (outcome.texts, outcome.tokens, outcome.differences) == (2 * len(TEXTS) + 2, tokens, 0)
    assert polytok.simd_level() == polytok.simd_levels()[0]


def test_a_text_whose_answer_depends_on_the_level_is_a_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    selected_level = ["fast"]
    monkeypatch.setattr(polytok, "simd_levels", lambda: ("fast", "slow"))
    monkeypatch.setattr(polytok, "set_simd_level", lambda level: selected_level.append(level))

    def answer(text: bytes) -> levels.Answer:
        return levels.Answer(1, [text, selected_level[-1].encode() if text == b"wrong" else b""])

    outcome = levels.new_outcome("sample")
    levels.compare(outcome, TOKENIZER, answer, [b"right", b"wrong", b"right"])
    assert (outcome.texts, outcome.tokens, outcome.differences) == (3, 3, 1)
    assert outcome.examples == ["b'wrong'"]
