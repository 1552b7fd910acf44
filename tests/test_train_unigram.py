"""Compares the Unigram trainer with sentencepiece: the model files are equal, byte for byte."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import polytok
from polytok.errors import ArgumentError
from polytok.formats import sentencepiece as model_format
from polytok.formats.base import ReadOptions
from polytok.training import kind_named
from test_train_sentencepiece import SCRIPTS, texts, train_ours, train_reference

CASES: list[dict[str, Any]] = [
    {"vocab_size": 200},
    {"vocab_size": 150, "normalization_rule_name": "identity", "character_coverage": 0.98, "num_threads": 3},
    {"vocab_size": 600, "byte_fallback": True, "split_digits": True, "remove_extra_whitespaces": False},
    {"vocab_size": 200, "split_by_whitespace": False, "split_by_unicode_script": False},
    {"vocab_size": 200, "treat_whitespace_as_suffix": True, "split_by_number": False, "num_sub_iterations": 1},
    {"vocab_size": 200, "allow_whitespace_only_pieces": True, "normalization_rule_name": "identity"},
    {"vocab_size": 200, "user_defined_symbols": ["<sep>", "</s>", "▁a"], "seed_sentencepiece_size": 300},
    {"vocab_size": 200, "required_chars": "zqé漢", "max_sentencepiece_length": 3, "shrinking_factor": 0.9},
    {"vocab_size": 200, "pretokenization_delimiter": "a", "add_dummy_prefix": False},
    {"vocab_size": 200, "split_by_whitespace": False, "add_dummy_prefix": False, "max_sentencepiece_length": 40},
    {"vocab_size": 200, "seed_sentencepiece_size": 0, "max_sentence_length": 60},
]


@pytest.mark.parametrize("script", SCRIPTS)
@pytest.mark.parametrize("options", CASES)
def test_models_are_the_same(script: str, options: dict[str, Any]) -> None:
    options = {"hard_vocab_limit": False, **options}
    expected = train_reference(texts(script, 150), model_type="unigram", **options)
    spec = train_ours(texts(script, 150), "unigram", **options)
    expected_spec = model_format.read(expected, ReadOptions())
    assert spec.vocab.pieces() == expected_spec.vocab.pieces()
    assert spec.vocab == expected_spec.vocab
    assert model_format.write(spec).data == expected


@pytest.mark.parametrize("options", [{}, {"split_by_whitespace": False}])
def test_counted_lines(options: dict[str, Any]) -> None:
    """Tests sentences with counts: two equal sentences are adjacent, which changes the seeds."""
    all_options = {"vocab_size": 150, "hard_vocab_limit": False, **options}
    words = sorted({word for text in texts("latin") for word in text.split()})
    items = [f"{word}\t{1 + index % 5}" for index, word in enumerate(words)]
    expected = train_reference(items, model_type="unigram", input_format="tsv", **all_options)
    assert (
        train_ours(items, "unigram", tsv=True, **all_options).vocab == model_format.read(expected, ReadOptions()).vocab
    )


@pytest.mark.parametrize("options", [{}, {"split_by_whitespace": False, "num_threads": 2}])
@pytest.mark.parametrize("letters", ["Ebbb", "EabcabcEE", "abEabE", "abcEbbcEaEE", "EEEabEE"])
def test_sentences_that_normalization_empties(letters: str, options: dict[str, Any]) -> None:
    """Tests sentences that normalization empties: another sentence replaces them, which changes the last sentence."""
    words = {"E": " ", "a": "ab", "b": "bbbbbb", "c": "b c"}
    items = [words[letter] for letter in letters]
    all_options = {"vocab_size": 60, "hard_vocab_limit": False, **options}
    expected = train_reference(items, model_type="unigram", **all_options)
    assert train_ours(items, "unigram", **all_options).vocab == model_format.read(expected, ReadOptions()).vocab


@pytest.mark.parametrize("items", [["\0a", "\0", "\0a", "\0a"], ["b \0b", "b \0b", "b"]])
def test_sentences_with_nul(items: list[str]) -> None:
    all_options = {"vocab_size": 7, "hard_vocab_limit": False, "treat_whitespace_as_suffix": True}
    expected = train_reference(items, model_type="unigram", **all_options)
    assert train_ours(items, "unigram", **all_options).vocab == model_format.read(expected, ReadOptions()).vocab


@pytest.mark.parametrize("options", [{}, {"split_by_whitespace": False, "add_dummy_prefix": False}])
def test_neither_threads_nor_batches_matter(options: dict[str, Any]) -> None:
    all_options = {"profile": "sentencepiece", "vocab_size": 600, "hard_vocab_limit": False, **options}
    items = [text.encode() for script in SCRIPTS for text in texts(script)]
    models = []
    for threads, size in [(1, 1000), (3, 7), (2, 1)]:
        trainer = kind_named("unigram").load()(**all_options, threads=threads)
        for start in range(0, len(items), size):
            trainer.push(items[start : start + size])
        models.append(trainer.finish())
    assert models[0] == models[1] == models[2]


def test_lossless_by_default() -> None:
    text = "\n".join(texts("latin")).replace("▁", "_")  # U+2581 decodes to a space, as in SentencePiece
    tokenizer = polytok.train([text], kind="unigram", vocab_size=500, hard_vocab_limit=False)
    for hostile_text in (text, " \n\t  x\r\n", "語▅\0"):
        assert tokenizer.decode(tokenizer.encode(hostile_text)) == hostile_text


def test_impossible_options() -> None:
    with pytest.raises(ArgumentError, match="nothing to train on"):
        train_ours(["", " "], "unigram", vocab_size=100)
    with pytest.raises(ArgumentError, match="too small"):
        train_ours(texts("japanese"), "unigram", vocab_size=10)
    with pytest.raises(ArgumentError, match="too high"):
        train_ours(texts("latin", 5), "unigram", vocab_size=5000)
    for items in (["a"], ["ab"], ["aaaaaaaaaaaaaaaa"], ["▅"]):
        try:
            spec = train_ours(items, "unigram", vocab_size=5, hard_vocab_limit=False)
        except ArgumentError:
            continue
        expected = train_reference(items, model_type="unigram", vocab_size=5, hard_vocab_limit=False)
        assert spec.vocab == model_format.read(expected, ReadOptions()).vocab


SEEDS = "▁q\t30\nick\t4\t9\nick\t900\n\t3\nthe\t12 \nxyz\t7\n▁lazy\t+40\no v\t8\né\t77\nqu\t5\r\n語彙\t3\nb▅\t6\n"


@pytest.mark.parametrize("size", [1_000_000, 12, 50, 0])
@pytest.mark.parametrize("script", ["latin", "japanese"])
def test_seeds_of_a_file(script: str, size: int, tmp_path: Path) -> None:
    file = tmp_path / "seeds.tsv"
    words = sorted({word[:4] for text in texts(script) for word in text.split()})
    file.write_text(SEEDS + "".join(f"{word}\t{1 + row * 7 % 23}\n" for row, word in enumerate(words)), "utf-8")
    all_options = {"vocab_size": 70, "seed_sentencepiece_size": size, "seed_sentencepieces_file": str(file)}
    all_options |= {"hard_vocab_limit": False, "self_test_sample_size": 3}
    expected = train_reference(texts(script), model_type="unigram", **all_options)
    spec = train_ours(texts(script), "unigram", **all_options)
    assert spec.vocab == model_format.read(expected, ReadOptions()).vocab
    assert model_format.write(spec).data == expected
    all_options["seed_sentencepieces_file"] = file  # a path works as well
    assert model_format.write(train_ours(texts(script), "unigram", **all_options)).data == expected


@pytest.mark.parametrize("line", ["est", "", "est\tx", "est\t0", "est\t-3", "est\t1.5", "est\t99999999999999999999"])
def test_a_file_without_seeds(line: str, tmp_path: Path) -> None:
    file = tmp_path / "seeds.tsv"
    file.write_text(f"low\t3\n{line}\nnew\t4\n")
    all_options = {"vocab_size": 60, "hard_vocab_limit": False, "seed_sentencepieces_file": str(file)}
    with pytest.raises(ArgumentError, match="line 2"):
        train_ours(texts("latin"), "unigram", **all_options)
    with pytest.raises(Exception, match="seed"):
        train_reference(texts("latin"), model_type="unigram", **all_options)


def test_samples_for_tests_are_not_drawn() -> None:
    with pytest.raises(ArgumentError, match=r"0\.2\.1"):
        train_ours(texts("latin"), "unigram", vocab_size=60, self_test_sample_size=3, sentencepiece_version="0.2.1")
    with pytest.raises(ArgumentError, match="self_test_sample_size"):
        train_ours(texts("latin"), "unigram", vocab_size=60, self_test_sample_size=1001)


def test_a_limit_that_is_too_low_is_refused() -> None:
    items = ["".join(chr(0x4E00 + (row * place * 7919) % 5000) for place in range(1, 40)) for row in range(20_000)]
    with pytest.raises(ArgumentError, match=r"takes about \d+M of memory; raise max_memory to \d+M"):
        train_ours(items, "unigram", vocab_size=6000, character_coverage=1.0, max_memory=16 << 20, threads=1)


def test_unsplit_sentences_must_fit_the_limit() -> None:
    items = [f"{number} " * 50 for number in range(50_000)]
    with pytest.raises(ArgumentError, match="without split_by_whitespace all sentences stay in memory"):
        train_ours(items, "unigram", vocab_size=300, split_by_whitespace=False, max_memory=16 << 20, threads=1)
