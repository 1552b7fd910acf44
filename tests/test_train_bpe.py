"""Tests training of BPE and WordPiece: live against minbpe's algorithm and tokenizers, and rules of polytok's own."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tiktoken
from tokenizers import Tokenizer

import huggingface_training as hf
import polytok
from polytok import _core
from polytok.errors import ArgumentError
from polytok.reference import train_bpe
from polytok.spec import Spec
from polytok.training.bpe import BpeTrainer
from polytok.training.bpe_learning import LearnedMerges, LearningOptions, SymbolOptions, learn
from polytok.training.wordpiece import WordPieceTrainer

WORD = r" ?\p{L}+| ?\p{N}+|\s+|[^\s\p{L}\p{N}]+"
TUTORIAL = "aaabdaaabac, Ｕｎｉｃｏｄｅ! 🅤🅝🅘🅒🅞🅓🅔‽ hello world, hello word; the very name strikes fear. " * 3
BYTES = [bytes([byte]) for byte in range(256)]


def train_spec(texts: list[str], **options: Any) -> Spec:
    trainer = BpeTrainer(**options)
    trainer.push([text.encode() for text in texts])
    spec = trainer.finish()
    assert isinstance(spec, Spec)
    return spec


def random_training(seed: int) -> tuple[str, str | None, int]:
    """Returns a random text, a pattern and a number of merges."""
    rng = random.Random(seed)
    alphabet = rng.choice(["ab", "abc", "ab c", "héllo wörld ", "abcdefgh \n12"])
    text = "".join(rng.choices(alphabet, k=rng.randint(30, 250)))
    return (text[: rng.randint(2, 9)] * 40 if seed % 5 == 0 else text), rng.choice([None, WORD]), rng.randint(1, 40)


@pytest.mark.parametrize("seed", range(100))
def test_merges_equal_those_of_minbpe(seed: int) -> None:
    text, pattern, count = random_training(seed)
    options = {"trainer": "minbpe", "pattern": pattern}
    try:
        expected = train_bpe.train(text, 256 + count, pattern)
    except ArgumentError as error:
        max_size = int(str(error).split("allows ")[1].split()[0])
        with pytest.raises(ArgumentError, match=f"allow {max_size} merges, not {count}: choose a vocab_size"):
            train_spec([text], vocab_size=256 + count, **options)
        expected, count = train_bpe.train(text, 256 + max_size, pattern), max_size
    spec = train_spec([text], vocab_size=256 + count, **options)
    assert (spec.vocab, spec.model, spec.split) == (expected.vocab, expected.model, expected.split)


def test_merges_of_the_tutorial() -> None:
    lines: list[str] = []
    spec = train_spec([TUTORIAL], vocab_size=300, trainer="minbpe", pattern=WORD, verbose=lines.append)
    assert spec.vocab == train_bpe.train(TUTORIAL, 300, WORD).vocab
    assert len(lines) == 44 and lines[0] == r"merge 1/44: (240, 159) -> 256 (b'\xf0\x9f') had 21 occurrences"


@pytest.mark.parametrize("texts", hf.TEXTS)
@pytest.mark.parametrize("training", hf.TRAININGS, ids=lambda training: training.name)
def test_results_equal_those_of_tokenizers(training: hf.Training, texts: str) -> None:
    assert hf.difference(training, hf.TEXTS[texts]) is None


def test_a_pair_that_no_longer_occurs_is_not_merged() -> None:
    """Tests texts with which tokenizers reads a negative count as large, and adds missing entries (issue 2320)."""
    options: dict[str, Any] = {"continuing_subword_prefix": "##", "max_token_length": 4, "vocab_size": 60}
    lines: list[str] = []
    train_spec(
        hf.PREFIX_TEXTS,
        trainer="huggingface",
        byte_level=False,
        pattern="whitespace_split",
        verbose=lines.append,
        **options,
    )
    occurrences = [int(line.split()[-2]) for line in lines]
    assert occurrences == sorted(occurrences, reverse=True) and occurrences[-1] == 1


def learn_from_counts(counted_words: list[tuple[bytes, int]], size: int, **rules: Any) -> LearnedMerges:
    words = _core.WordCounter(None)
    words.add(counted_words)
    return learn(words, SymbolOptions("bytes"), BYTES, LearningOptions(size, **rules))


@pytest.mark.parametrize("first_seen", [True, False])
def test_counts_beyond_32_bits(first_seen: bool) -> None:
    learned_merges = learn_from_counts(
        [(b"ab", 2**40), (b"bc", 2**40 + 1), (b"cd", 2**32 - 1)], 300, first_seen=first_seen
    )
    assert learned_merges.counts.tolist() == [2**40 + 1, 2**40, 2**32 - 1]
    assert learned_merges.merges[:, 0].tolist() == [98, 97, 99]


def test_counts_whose_sum_does_not_fit() -> None:
    with pytest.raises(ArgumentError, match="scale the counts down"):
        learn_from_counts([(b"ab", 2**63), (b"cd", 2**62)], 300)


def test_the_order_of_texts_matters_only_for_minbpe() -> None:
    texts = hf.TEXTS["generated"]
    forward, backward = (train_spec(ordered_texts, vocab_size=400) for ordered_texts in (texts, texts[::-1]))
    assert forward == backward
    forward, backward = (
        train_spec(ordered_texts, vocab_size=400, trainer="minbpe") for ordered_texts in (texts, texts[::-1])
    )
    assert forward != backward


def test_several_sizes_of_one_run() -> None:
    options: dict[str, Any] = {"special_tokens": ["<|end|>"], "trainer": "polytok"}
    trainer = BpeTrainer(vocab_size=[300, 280, 257], **options)
    trainer.push([text.encode() for text in hf.TEXTS["generated"]])
    specs = trainer.finish()
    assert isinstance(specs, list)
    assert specs == [train_spec(hf.TEXTS["generated"], vocab_size=size, **options) for size in (300, 280, 257)]
    assert [spec.special[0].id for spec in specs] == [299, 279, 256]


def test_special_tokens_are_removed_from_texts() -> None:
    options: dict[str, Any] = {"vocab_size": 258, "pattern": None}
    assert train_spec(["xy<e>zz<e>zz<e>"], special_tokens=["<e>"], **options).vocab.piece(256) == b"zz"
    assert train_spec(["xy<e>zz<e>zz<e>"], special_tokens={"<e>": 300}, **options).special[0].id == 300
    assert (
        train_spec(["xy<e>zz<e>zz<e>"], trainer="minbpe", special_tokens=["<e>"], **options).vocab.piece(256) == b"<e"
    )


def test_limits_of_entries() -> None:
    text = ["abcd abcd abcd xy"]
    assert train_spec(text, vocab_size=258, max_token_length=3).vocab.pieces()[256:] == [b"ab", b"cd"]
    with pytest.raises(ArgumentError, match="allow 4 merges"):
        train_spec(text, vocab_size=300, min_frequency=2)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"vocab_size": 255}, "must be at least 256"),
        ({"vocab_size": 257, "special_tokens": ["a", "b"]}, "must be at least 258"),
        ({"vocab_size": []}, "has no size"),
        ({"vocab_size": "300"}, "not a whole number"),
        ({"vocab_size": 300, "trainer": "tiktoken"}, "is not one of 'polytok', 'minbpe', 'huggingface'"),
        ({"vocab_size": 300, "pattern": "gpt5"}, "unknown pattern='gpt5'.*the names are 'gpt2'"),
        ({"vocab_size": 300, "special_tokens": "<s>"}, "give a list"),
        ({"vocab_size": 300, "special_tokens": {"<s>": 299}}, "use ids from 300"),
        ({"vocab_size": 300, "limit_alphabet": 3}, "trainer='huggingface'"),
        ({"vocab_size": 300, "trainer": "huggingface", "special_tokens": {"<s>": 1}}, "give a list"),
        ({"vocab_size": 300, "trainer": "huggingface", "end_of_word_suffix": "$"}, "continuing_subword_prefix and end"),
    ],
)
def test_impossible_options(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        BpeTrainer(**options)


def test_tokenizers_loads_written_files(tmp_path: Path) -> None:
    texts = hf.TEXTS["generated"]
    for training in hf.TRAININGS:
        trainer = training.ours()
        trainer.push([text.encode() for text in texts])
        spec = trainer.finish()
        assert isinstance(spec, Spec)
        our_tokenizer = polytok.Tokenizer(spec)
        our_tokenizer.save(tmp_path / "tokenizer.json")
        reference = Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
        for text in [*texts[:5], "Zürich ist 日本 🤗 <s>"]:
            assert reference.encode(text, add_special_tokens=False).ids == our_tokenizer.encode(text, special="all"), (
                training.name
            )


@pytest.mark.parametrize("trainer", ["polytok", "minbpe"])
def test_tiktoken_and_others_load_written_files(tmp_path: Path, trainer: str) -> None:
    texts = hf.TEXTS["generated"]
    our_tokenizer = polytok.Tokenizer(
        train_spec(texts, vocab_size=430, trainer=trainer, pattern="gpt2", special_tokens={"<|end|>": 430})
    )
    our_tokenizer.save(tmp_path / "a.tiktoken")
    ranks = {piece: rank for rank, piece in enumerate(our_tokenizer.spec.vocab.pieces())}
    pattern = getattr(our_tokenizer.spec.split[0], "pattern", "")
    reference = tiktoken.Encoding("a", pat_str=pattern, mergeable_ranks=ranks, special_tokens={"<|end|>": 430})
    expected_ids = [our_tokenizer.encode(text) for text in texts]
    assert expected_ids == [reference.encode(text) for text in texts]
    load_options: dict[str, Any] = {"pattern": pattern, "special_tokens": {"<|end|>": 430}}
    for name in ("a.tiktoken", "b.model", "tokenizer.json", "d.gguf", "e.ptok"):
        our_tokenizer.save(tmp_path / name, to="minbpe" if name == "b.model" else None)
        reloaded_tokenizer = polytok.load(tmp_path / name, **(load_options if name == "a.tiktoken" else {}))
        assert [reloaded_tokenizer.encode(text) for text in texts] == expected_ids, name


def test_wordpiece_is_written_as_vocab_txt(tmp_path: Path) -> None:
    trainer = WordPieceTrainer(vocab_size=300)
    trainer.push([text.encode() for text in hf.TEXTS["generated"]])
    spec = trainer.finish()
    assert isinstance(spec, Spec) and spec.names == {"unk": 1}
    our_tokenizer = polytok.Tokenizer(spec)
    our_tokenizer.save(tmp_path / "vocab.txt")
    reloaded_tokenizer = polytok.load(tmp_path / "vocab.txt")
    texts = hf.TEXTS["generated"]
    assert [reloaded_tokenizer.encode(text) for text in texts] == [our_tokenizer.encode(text) for text in texts]


def test_one_long_word_does_not_take_quadratic_time() -> None:
    word = np.random.default_rng(1).integers(97, 107, 1_000_000).astype(np.uint8).tobytes()
    learned_merges = learn_from_counts([(word, 1), (b"a" * 1_000_000, 1)], 1500)
    assert len(learned_merges) == 1500
