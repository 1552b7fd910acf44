"""Tests the examples of books, tutorials and the projects' own pages, with the ids that the sources print."""

from __future__ import annotations

from pathlib import Path

import pytest

import polytok
from polytok import Kind, conversion, reference
from reference_specs import DATA, needs_data

VOCAB = DATA / "vocab"


def test_the_article_on_byte_pair_encoding(tmp_path: Path) -> None:
    """Tests minbpe's first example: three merges learned from the text."""
    trained_tokenizer = polytok.Tokenizer(reference.train("aaabdaaabac", 256 + 3))
    trained_tokenizer.save(tmp_path / "toy.model", "minbpe")
    tokenizer = polytok.load(tmp_path / "toy.model")
    assert tokenizer.encode("aaabdaaabac") == [258, 100, 258, 97, 99]
    assert tokenizer.decode([258, 100, 258, 97, 99]) == "aaabdaaabac"
    assert (tmp_path / "toy.vocab").read_text("utf-8").splitlines()[-1] == "[aaa][b] -> [aaab] 258"


def test_a_model_with_a_pattern_and_special_tokens(tmp_path: Path) -> None:
    spec = reference.train("the cat, the hat", 256 + 4, pattern=r"[^\w\s]+| ?\w+|\s+")
    path = tmp_path / "toy.model"
    path.write_bytes(conversion.write(spec, "minbpe").data.replace(b"\n0\n", b"\n1\n<|endoftext|> 260\n", 1))
    tokenizer = polytok.load(path)
    text = "the hat<|endoftext|> the cat"
    assert tokenizer.encode(text) == reference.encode(tokenizer.spec, text)
    assert tokenizer.encode(text, special="all") == reference.encode(tokenizer.spec, text, special="all")
    assert 260 in tokenizer.encode(text, special="all")


@needs_data
def test_cl100k_in_many_scripts() -> None:
    tokenizer = polytok.load(VOCAB / "tiktoken/cl100k_base.tiktoken")
    ids = [15339, 4513, 12340, 30, 320, 31495, 230, 75265, 243, 92245, 16715, 57037]
    assert tokenizer.encode("hello123!!!? (안녕하세요!) 😉") == ids
    assert tokenizer.decode(ids) == "hello123!!!? (안녕하세요!) 😉"


@needs_data
@pytest.mark.parametrize(
    ("text", "ids", "pieces"),
    [
        ("I love you, baby", [306, 5360, 366, 29892, 24354], ["▁I", "▁love", "▁you", ",", "▁baby"]),
        ("What is LoRA?", [1724], ["▁What"]),
    ],
)
def test_llama2(text: str, ids: list[int], pieces: list[str]) -> None:
    tokens = polytok.load(VOCAB / "sentencepiece/llama2.model").tokens(text)
    assert [token.id for token in tokens][: len(ids)] == ids
    assert [token.piece.decode() for token in tokens][: len(pieces)] == pieces


@needs_data
def test_entries_of_llama2() -> None:
    spec = polytok.load(VOCAB / "sentencepiece/llama2.model").spec
    assert len(spec.vocab) == 32_000
    assert spec.vocab.kinds[3:259].tolist() == [Kind.BYTE] * 256
    assert (spec.vocab.kinds == Kind.BYTE).sum() == 256
    assert spec.vocab.pieces()[:4] == [b"<unk>", b"<s>", b"</s>", b"<0x00>"]
    trainer = spec.extra["sentencepiece"]["trainer_spec"]
    assert trainer["vocab_size"] == 32_000
    assert trainer["character_coverage"] == pytest.approx(0.99995)


@needs_data
def test_llama2c() -> None:
    tokenizer = polytok.load(VOCAB / "llama2c/tokenizer.bin")
    assert tokenizer.encode("Hello", add_special=True) == [1, 15043]
    assert tokenizer.decode([1, 15043]) == "Hello"


@needs_data
def test_rwkv() -> None:
    tokenizer = polytok.load(VOCAB / "rwkv/rwkv_vocab_v20230424.txt")
    assert tokenizer.encode("吾輩は猫である。") == [11080, 17065, 10139, 14398, 58552, 10080]
