"""Tests training SentencePiece's kinds from counts: the result equals training from the texts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import polytok
from polytok import ArgumentError, Counts
from polytok.spec import Spec
from polytok.training import TrainingReport, specs

_TEXTS = [
    "the quick brown fox jumps over 13 lazy dogs, and 2024's café-owner said: naïve! ²",
    "吾輩は猫である。 名前はまだ無い。 ラーメン",
    "  ",
    "",
    "the ▅ lazy fox",
    "abab abab" * 20,
    "a<sep>b  c",
    "the lazy dog and the lazy fox",
]
ITEMS = [" ".join(_TEXTS[number * step % 8] for step in range(1, 3)) if number % 7 else "  " for number in range(60)]
ITEMS += [_TEXTS[number % 8] for number in range(30)] + ["  "]
PARTS = (slice(0, 11), slice(11, 62), slice(62, None))

CASES: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    ("bpe", {}, {}),
    ("bpe", {"split_digits": True, "byte_fallback": True, "max_sentence_length": 90}, {"character_coverage": 0.98}),
    ("bpe", {"split_by_whitespace": False, "user_defined_symbols": ["<sep>"]}, {"max_sentencepiece_length": 4}),
    (
        "bpe",
        {"sentencepiece_version": "0.2.1", "pretokenization_delimiter": "a", "normalization_rule_name": "identity"},
        {},
    ),
    ("unigram", {}, {}),
    ("unigram", {"sentencepiece_version": "0.2.1", "byte_fallback": True}, {"num_threads": 3}),
    ("unigram", {"split_by_whitespace": False}, {"split_digits": True}),
    ("unigram", {"treat_whitespace_as_suffix": True, "remove_extra_whitespaces": False}, {}),
    ("word", {}, {}),
    ("word", {"add_dummy_prefix": False, "user_defined_symbols": ["<sep>"]}, {"use_all_vocab": True}),
    ("word", {"remove_extra_whitespaces": False}, {"character_coverage": 0.98}),
    ("char", {}, {}),
    ("char", {"byte_fallback": True}, {"character_coverage": 0.98, "required_chars": "q"}),
]


def kind_of(model: str) -> str:
    """Returns the kind that trains SentencePiece's model type ``model``."""
    return "sentencepiece-bpe" if model == "bpe" else model


def train_model(inputs: Any, model: str, options: dict[str, Any]) -> Spec:
    size = {"bpe": 160, "unigram": 90, "word": 40, "char": 90}[model] + 256 * options.get("byte_fallback", False)
    all_options = {"profile": "sentencepiece", "vocab_size": size, "hard_vocab_limit": False, **options}
    (spec,) = specs(inputs, kind_of(model), report=TrainingReport(), **all_options)
    return spec


def count_items(items: list[str], model: str, **options: Any) -> Counts:
    all_options = {"profile": "sentencepiece", **options}
    return polytok.count_words(items, kind_of(model), report=TrainingReport(), **all_options)


@pytest.mark.parametrize(("model", "counting", "learning"), CASES)
def test_counts_train_the_same_models_as_texts(
    tmp_path: Path, model: str, counting: dict[str, Any], learning: dict[str, Any]
) -> None:
    options = {**counting, **learning}
    expected = train_model(ITEMS, model, options)
    all_counts = count_items(ITEMS, model, **counting, threads=2)
    assert train_model(all_counts, model, options) == train_model(all_counts, model, options) == expected
    names = [tmp_path / str(number) for number in range(3)]
    for name, part in zip(names, PARTS, strict=True):
        count_items(ITEMS[part], model, **counting, threads=1).save(name)
    assert train_model(names, model, options) == expected
    merged_counts = count_items([], model, **counting)
    for name in names:
        merged_counts.merge(Counts.load(name))
    merged_counts.save(tmp_path / "all")
    assert train_model(tmp_path / "all", model, {**options, "max_memory": "16M"}) == expected
    order = [2, 0, 1]
    # The next sentence can change Unigram's result, so another order is another text.
    items = [item for number in order for item in ITEMS[PARTS[number]]] if model == "unigram" else ITEMS
    assert train_model([names[number] for number in order], model, options) == train_model(items, model, options)


@pytest.mark.parametrize("line", ["0.2.1", "0.2.3"])
def test_sentences_with_counts(tmp_path: Path, line: str) -> None:
    rows = ["hello world\t7\n", "hello\t3000000000\n", "wörld hello\t2\n", "low lower\t5\n"]
    options = {"tsv": True, "sentencepiece_version": line}
    for model in ("bpe", "unigram", "word", "char"):
        for number, row in enumerate(rows):
            count_items([row], model, **options).save(tmp_path / str(number))
        trained_model = train_model([tmp_path / str(number) for number in range(4)], model, options)
        assert trained_model == train_model(["".join(rows)], model, options)


def test_several_sizes_are_trained_from_the_same_counts() -> None:
    counts = count_items(ITEMS, "bpe")
    for size in (120, 160):
        options = {"vocab_size": size, "hard_vocab_limit": True}
        assert train_model(counts, "bpe", options) == train_model(ITEMS, "bpe", options)


def test_skipped_texts_are_reported_when_counting() -> None:
    report, options = TrainingReport(), {"profile": "llama2c", "max_sentence_length": 10}
    polytok.count_words(["a▅", "b" * 20, "c"], "char", report=report, **options)
    assert report.skipped == {"contains U+2585": 1, "longer than 10 bytes": 1}


@pytest.mark.parametrize(
    ("model", "counting", "training", "message"),
    [
        ("bpe", {}, {"split_digits": True}, "split_digits is False in the counts and True in this"),
        ("bpe", {}, {"byte_fallback": True}, r"the reserved pieces \(control_symbols, .*\) differ"),
        ("bpe", {"normalization_rule_name": "nfkc"}, {}, r"the rules of normalization \(.*\) differ"),
        ("unigram", {}, {"split_by_whitespace": False}, "split_by_whitespace is True in the counts"),
        (
            "unigram",
            {},
            {"sentencepiece_version": "0.2.1"},
            "sentencepiece_version is '0.2.3' in the counts and",
        ),
        ("word", {"max_sentence_length": 20}, {}, "max_sentence_length is 20 in the counts and 4192 in this"),
        ("char", {}, {"profile": "lossless"}, "profile is 'without U"),
    ],
)
def test_counts_of_other_words_are_refused(
    tmp_path: Path, model: str, counting: dict[str, Any], training: dict[str, Any], message: str
) -> None:
    counts = count_items(ITEMS, model, **counting)
    with pytest.raises(ArgumentError, match=f"other words .*{message}"):
        train_model(counts, model, {"vocab_size": 400, **training})
    counts.save(tmp_path / "one")
    count_items(ITEMS, model, **training).save(tmp_path / "other")
    with pytest.raises(ArgumentError, match=r"other counts other words: [a-z_, ]+ (is|are) not the same"):
        Counts.load(tmp_path / "one", tmp_path / "other")


def test_counts_of_another_kind_are_refused() -> None:
    counts = count_items(ITEMS, "bpe")
    with pytest.raises(ArgumentError, match="other words than word needs"):
        train_model(counts, "word", {})
    with pytest.raises(ArgumentError, match="other words than sentencepiece-bpe needs"):
        train_model(polytok.count_words(["a"], "bpe"), "bpe", {})
    with pytest.raises(ArgumentError, match="use the counts to train sentencepiece-bpe"):
        polytok.train(counts, "bpe", vocab_size=300)


def test_a_sample_needs_the_texts() -> None:
    with pytest.raises(ArgumentError, match="input_sentence_size selects sentences"):
        train_model(count_items(ITEMS, "bpe"), "bpe", {"input_sentence_size": 101})
