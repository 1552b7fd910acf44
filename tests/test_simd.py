"""Tests the SIMD levels: every level that the processor supports returns the same ids, spans and texts."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

import polytok
import texts
from format_samples import longest_spec, merges_spec, sentencepiece_spec, unigram_spec
from polytok import ArgumentError, Tokenizer, _core, patterns
from polytok.spec import PatternSplit, Spec
from reference_specs import DATA, needs_data
from tokenizer_samples import rank_spec

SPECS = {
    **{
        name: replace(rank_spec(b" the", b"ing", "猫".encode()), split=(PatternSplit(pattern),))
        for name, pattern in (("R50K", patterns.R50K), ("CL100K", patterns.CL100K), ("O200K", patterns.O200K))
    },
    "merges": merges_spec(),
    "sentencepiece": sentencepiece_spec(),
    "unigram": unigram_spec(),
    "longest": longest_spec(),
}
BERT = DATA / "vocab/huggingface/bert_base_cased.json"
TEXT_COUNT = 1500
BYTES_BEFORE_RULE = 1 << 17
"""The number of bytes that a tokenizer encodes before it derives the rule that the vector instructions apply."""


@pytest.fixture(autouse=True)
def fastest_level_afterwards() -> Iterator[None]:
    yield
    polytok.set_simd_level("auto")


def all_answers(tokenizer: Tokenizer, inputs: list[bytes]) -> list[Any]:
    """Returns ids, spans and the decoded text of each input, and of all inputs joined to a long `str`."""
    joined_text = b" ".join(inputs).decode("utf-8", "replace")
    return [
        (ids, [column.tolist() for column in tokenizer.spans(text)], tokenizer.decode(ids))
        for text in (*inputs, joined_text, *(text.decode("utf-8", "replace") * 20 for text in inputs[:300]))
        for ids in [tokenizer.encode(text)]
    ]


def check_levels(tokenizer: Tokenizer, seed: int) -> None:
    tokenizer.count("a few words to encode, " * (BYTES_BEFORE_RULE // 8))
    pieces = texts.VocabularyPieces([b" the", b"ing", "猫".encode(), b"a", b"x1", b"\n  "])
    inputs = [
        *texts.generate_texts(seed, TEXT_COUNT, pieces),
        *texts.generate_texts(seed, TEXT_COUNT // 4, pieces, has_invalid_utf8=True),
    ]
    polytok.set_simd_level("portable")
    expected = all_answers(tokenizer, inputs)
    for level in polytok.simd_levels():
        polytok.set_simd_level(level)
        tokenizer.clear_cache()
        assert all_answers(tokenizer, inputs) == expected, level


@pytest.mark.parametrize("spec", SPECS.values(), ids=SPECS.keys())
def test_all_levels_return_the_same(spec: Spec) -> None:
    check_levels(Tokenizer(spec), seed=1)


@needs_data
def test_all_levels_find_the_same_words_of_bert() -> None:
    check_levels(polytok.load(BERT), seed=2)


def test_the_fastest_level_is_the_default() -> None:
    levels = polytok.simd_levels()
    assert levels[-1] == "portable" and len(set(levels)) == len(levels)
    assert polytok.simd_level() == levels[0]
    for level in levels:
        polytok.set_simd_level(level)
        assert polytok.simd_level() == level
    polytok.set_simd_level("auto")
    assert polytok.simd_level() == levels[0]


def test_an_unknown_level_is_an_error() -> None:
    with pytest.raises(ArgumentError, match="level='sse' is not one of 'auto', 'avx512', 'avx2', 'portable'"):
        polytok.set_simd_level("sse")  # type: ignore[arg-type]


def test_a_level_that_the_processor_lacks_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_core, "select_simd_level", lambda level: level != "avx512")
    monkeypatch.setattr(_core, "simd_levels", lambda: ["avx2", "portable"])
    with pytest.raises(ArgumentError, match="does not support the SIMD level 'avx512'; select one of 'avx2', 'port"):
        polytok.set_simd_level("avx512")


def test_threads_can_select_levels_while_others_encode() -> None:
    tokenizer = Tokenizer(SPECS["CL100K"])
    text = "some words, 12345 and 猫猫 " * 8000
    expected = tokenizer.encode(text)
    is_done = threading.Event()

    def select_in_turn() -> None:
        while not is_done.is_set():
            for level in polytok.simd_levels():
                polytok.set_simd_level(level)

    thread = threading.Thread(target=select_in_turn)
    switch_interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    thread.start()
    try:
        for _ in range(30):
            assert tokenizer.encode_batch([text, text], threads=2).to_list() == [expected, expected]
    finally:
        is_done.set()
        thread.join()
        sys.setswitchinterval(switch_interval)
