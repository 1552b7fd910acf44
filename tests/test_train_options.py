"""Tests wrong values of training options: an ArgumentError names the option before any text is read."""

from __future__ import annotations

import re
import time
from pathlib import Path
from typing import Any

import pytest

import polytok
from polytok.errors import ArgumentError
from polytok.resources import memory_size
from polytok.training import KINDS, Kind, specs

TEXTS = ["low lower lowest", "new newer newest"]
HUGGING = {"trainer": "huggingface", "byte_level": False}
SURROGATE = "a\ud800"


@pytest.mark.parametrize(
    ("kind", "options", "message"),
    [
        ("bpe", {"vocab_size": "270"}, "vocab_size='270' is not a whole number"),
        ("bpe", {"vocab_size": 270.5}, "vocab_size=270.5"),
        ("bpe", {"vocab_size": [270, "280"]}, "vocab_size='280'"),
        ("bpe", {"special_tokens": {"<a>": "300"}}, "the id of '<a>'='300'"),
        ("bpe", {"special_tokens": {"<a>": None}}, "the id of '<a>'=None"),
        ("bpe", {"special_tokens": {"<a>": 2**32}}, "the id of '<a>'=4294967296"),
        ("bpe", {"special_tokens": {"<a>": 300, "<b>": 300}}, "'<a>' and '<b>' have the same id 300"),
        ("bpe", {"special_tokens": [SURROGATE]}, "surrogate"),
        ("bpe", {"special_tokens": [["<a>"]]}, "is not a text"),
        ("bpe", {"special_tokens": 7}, "special_tokens=7"),
        ("bpe", {"pattern": 7}, "pattern=7"),
        ("bpe", {"byte_level": "false"}, "byte_level='false' is neither"),
        ("bpe", {**HUGGING, "initial_alphabet": [""]}, "initial_alphabet contains an empty text"),
        ("bpe", {**HUGGING, "initial_alphabet": [5]}, "initial_alphabet=5"),
        ("bpe", {**HUGGING, "initial_alphabet": 5}, "initial_alphabet=5"),
        ("bpe", {**HUGGING, "unk_token": SURROGATE}, "unk_token"),
        ("bpe", {**HUGGING, "end_of_word_suffix": SURROGATE}, "end_of_word_suffix"),
        ("bpe", {**HUGGING, "continuing_subword_prefix": None}, "continuing_subword_prefix=None"),
        ("bpe", {"limit_alphabet": 0}, "= needs trainer='huggingface'"),
        ("bpe", {"initial_alphabet": []}, "= needs trainer='huggingface'"),
        ("bpe", {"unk_token": ""}, "= needs trainer='huggingface'"),
        ("wordpiece", {"initial_alphabet": [""]}, "initial_alphabet contains an empty text"),
        ("wordpiece", {"lowercase": "no"}, "lowercase='no'"),
        ("wordpiece", {"continuing_subword_prefix": SURROGATE}, "surrogate"),
        ("sentencepiece-bpe", {"vocab_size": [270, 280]}, "accept a single size"),
        ("unigram", {"vocab_size": (270, 280)}, "accept a single size"),
        ("sentencepiece-bpe", {"vocab_size": 270.5}, "vocab_size=270.5 is not a whole number"),
        ("sentencepiece-bpe", {"vocab_size": "270"}, "vocab_size='270' is not a whole number"),
        ("sentencepiece-bpe", {"character_coverage": "1.0"}, "character_coverage='1.0' is not a number"),
        ("sentencepiece-bpe", {"input_sentence_size": 1e6}, "input_sentence_size=1000000.0"),
        ("sentencepiece-bpe", {"byte_fallback": "false"}, "byte_fallback='false' is not True or False"),
        ("sentencepiece-bpe", {"unk_id": True}, "unk_id=True"),
        ("sentencepiece-bpe", {"pad_id": -(2**40)}, "pad_id"),
        ("sentencepiece-bpe", {"user_defined_symbols": [SURROGATE]}, "user_defined_symbols"),
        ("sentencepiece-bpe", {"control_symbols": 7}, "control_symbols=7"),
        ("sentencepiece-bpe", {"unk_surface": SURROGATE}, "unk_surface"),
        ("sentencepiece-bpe", {"normalization_rule_tsv": 7}, "normalization_rule_tsv=7 is not"),
        ("sentencepiece-bpe", {"precompiled_charsmap": "x"}, "precompiled_charsmap='x' is not bytes"),
        ("sentencepiece-bpe", {"max_sentence_length": "x"}, "max_sentence_length='x' is not a whole number"),
        ("bpe", {"pattern": SURROGATE}, "pattern"),
        ("bpe", {"pattern": [7]}, r"pattern=\[7\]"),
        ("bpe", {**HUGGING, "normalize": [7]}, r"normalize=\[7\]"),
        ("bpe", {"verbose": 7}, "verbose=7"),
        ("wordpiece", {"normalize": 5}, "normalize=5"),
        ("longest-match", {"forced": [SURROGATE]}, "forced"),
        ("longest-match", {"forced": [5]}, "forced=5"),
        ("longest-match", {"forced_files": [5]}, "forced_files: 5 is not the path"),
        ("longest-match", {"whole_characters": "no"}, "whole_characters='no'"),
        ("bpe", {"threads": 1025}, "threads=1025"),
        ("bpe", {"threads": 1.5}, "threads=1.5"),
        ("sentencepiece-bpe", {"threads": 1.5}, "threads=1.5"),
        ("bpe", {"max_memory": 2**70}, "max_memory"),
        ("bpe", {"max_memory": 1e9}, "max_memory=1000000000.0"),
    ],
)
def test_wrong_values_are_errors(kind: str, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        specs(TEXTS, kind, **{"vocab_size": 300, **options})


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"threads": 1.5}, "threads=1.5 is not a whole number"),
        ({"workers": "2", "max_memory": "64M"}, "no option workers; the options are normalize"),
        ({"split": 5}, "split=5"),
        ({"normalize": 5}, "normalize=5"),
        ({"special_tokens": "<a>"}, "special_tokens='<a>' is not a list"),
    ],
)
def test_wrong_values_of_counting(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        polytok.count_words(TEXTS, **options)


def test_the_number_of_counting_threads_is_an_integer() -> None:
    with pytest.raises(ArgumentError, match=r"threads=1\.5 is not a whole number"):
        polytok.Counts(threads=1.5).push([b"to be"])  # type: ignore[arg-type]


@pytest.mark.parametrize("text", ["99999999999999T", "9" * 400, "much"])
def test_sizes_of_memory(text: str) -> None:
    with pytest.raises(ArgumentError):
        memory_size(text)


def test_correct_values_are_accepted() -> None:
    polytok.train(TEXTS, "sentencepiece-bpe", vocab_size=275, character_coverage=1, max_sentence_length=None)
    polytok.train(TEXTS, "bpe", vocab_size=257, special_tokens={"<a>": 300, "<b>": 301})
    polytok.train(TEXTS, "bpe", vocab_size=40, special_tokens=("<a>",), initial_alphabet="abc", **HUGGING)


@pytest.mark.parametrize(
    ("options", "message"),
    [({}, "too high, because the texts allow 297 pieces"), ({"pad_id": 19_999_999}, "has only 297 other pieces")],
)
def test_a_size_far_above_the_texts_is_reported_quickly(options: dict[str, Any], message: str) -> None:
    start = time.process_time()
    with pytest.raises(ArgumentError, match=message):
        specs(TEXTS, "sentencepiece-bpe", vocab_size=20_000_000, **options)
    soft = specs(TEXTS, "sentencepiece-bpe", vocab_size=20_000_000, hard_vocab_limit=False)
    assert len(soft[0].vocab.pieces()) < 400
    assert time.process_time() - start < 2


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_the_page_of_conventions_lists_all_options(kind: Kind) -> None:
    page = Path(__file__).parents[1] / "docs" / "conventions.md"
    rows = re.findall(r"^\| (.*) \| (.*) \|$", page.read_text().partition("## Training")[2], re.MULTILINE)
    cells = [re.sub(r"\(.*?\)", "", options) for kinds, options in rows if f"`{kind.name}`" in kinds]
    own_options = {parameter.name for parameter in kind.options()} - {"vocab_size", "max_memory", "threads", "counts"}
    assert sorted(re.findall(r"`(\w+)`", " ".join(cells))) == sorted(own_options)
