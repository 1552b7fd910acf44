"""Compares the ready tokenizers of the face of tokenizers with the original's."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import polytok
from polytok.compat import tokenizers as face

original: Any = pytest.importorskip("tokenizers")

TEXTS = ["low low lower lowest", "the new newer newest", "ab abc bcd bc ½ É", "low new"] * 3
BERT = {text: id for id, text in enumerate(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "low", "##er", "e"])}
MERGES = [("l", "o"), ("lo", "w</w>")]
CHARS = {text: id for id, text in enumerate(["<unk>", "l", "o", "w", "w</w>", "lo", "low</w>"])}

MADE: list[Callable[[Any], Any]] = [
    lambda m: m.BertWordPieceTokenizer(BERT),
    lambda m: m.BertWordPieceTokenizer(BERT, lowercase=False, strip_accents=True),
    lambda m: m.BertWordPieceTokenizer(),
    lambda m: m.ByteLevelBPETokenizer(lowercase=True, unicode_normalizer="nfkc", add_prefix_space=True),
    lambda m: m.CharBPETokenizer(CHARS, MERGES, lowercase=True),
    lambda m: m.CharBPETokenizer(unicode_normalizer="nfd", split_on_whitespace_only=True, bert_normalizer=False),
    lambda m: m.SentencePieceBPETokenizer(CHARS, MERGES, add_prefix_space=False),
    lambda m: m.SentencePieceUnigramTokenizer([("<unk>", 0.0), ("▁low", -1.0), ("er", -2.0)]),
    lambda m: m.SentencePieceUnigramTokenizer(),
]
TRAINED: list[Callable[[Any], Any]] = [
    lambda m: m.ByteLevelBPETokenizer(),
    lambda m: m.ByteLevelBPETokenizer(lowercase=True),
    lambda m: m.SentencePieceBPETokenizer(),
]


@pytest.mark.parametrize("make", MADE)
def test_ready_tokenizers(make: Callable[[Any], Any]) -> None:
    ours, theirs = make(face), make(original)
    assert ours.to_str() == theirs.to_str()
    assert repr(ours) == repr(theirs)
    assert ours.get_vocab() == theirs.get_vocab()
    assert ours.normalize("É ½") == theirs.normalize("É ½") if theirs.normalizer else ours.normalizer is None


@pytest.mark.parametrize("make", TRAINED)
def test_trained_tokenizers(make: Callable[[Any], Any], tmp_path: Path) -> None:
    path = tmp_path / "texts.txt"
    path.write_text("\n".join(TEXTS), "utf-8")
    ours, theirs = make(face), make(original)
    for tokenizer in (ours, theirs):
        tokenizer.train_from_iterator(TEXTS, vocab_size=300, show_progress=False, special_tokens=["<unk>"])
    assert ours.to_str() == theirs.to_str()
    assert ours.encode("low newest").tokens == theirs.encode("low newest").tokens
    for tokenizer in (ours, theirs):
        tokenizer.train(str(path), vocab_size=280, show_progress=False, special_tokens=["<unk>"])
        tokenizer.enable_truncation(3)
        tokenizer.enable_padding(length=5)
    assert ours.to_str() == theirs.to_str()
    (tmp_path / "saved").mkdir()
    again = type(ours).from_file(*ours.save_model(str(tmp_path / "saved")))
    assert again.get_vocab() == ours.get_vocab(with_added_tokens=False)
    ids = ours.encode_batch(["low new", "x"])[0].ids
    assert ids == theirs.encode_batch(["low new", "x"])[0].ids
    assert ours.decode(ids) == theirs.decode(ids)
    assert (ours.padding, ours.truncation) == (theirs.padding, theirs.truncation)


@pytest.mark.parametrize("name", ["BertWordPieceTokenizer", "CharBPETokenizer"])
def test_trained_tokenizers_with_affixes(name: str) -> None:
    # The ids of characters with an affix differ between runs of the original.
    vocabularies = []
    for package in (face, original):
        tokenizer = getattr(package, name)()
        tokenizer.train_from_iterator(TEXTS, show_progress=False)
        vocabularies.append(tokenizer.get_vocab().keys())
    assert vocabularies[0] == vocabularies[1]


def test_errors() -> None:
    tokenizer = face.ByteLevelBPETokenizer()
    for call in (tokenizer.encode, tokenizer.encode_batch, tokenizer.decode, tokenizer.decode_batch):
        with pytest.raises(ValueError, match="None"):
            call(None)
    with pytest.raises(TypeError, match="sep_token not found"):
        face.BertWordPieceTokenizer({"[UNK]": 0})
    with pytest.raises(ValueError, match="not a known unicode normalizer"):
        face.CharBPETokenizer(unicode_normalizer="x")


def test_from_spm(tmp_path: Path) -> None:
    path = tmp_path / "small.model"
    polytok.train(TEXTS, "unigram", vocab_size=25, byte_fallback=False).save(path)
    tokenizer = face.SentencePieceUnigramTokenizer.from_spm(str(path))
    pieces = [piece.decode() for piece in polytok.load(path).spec.vocab.pieces()]
    assert [tokenizer.id_to_token(id) for id in range(tokenizer.get_vocab_size())] == pieces
    theirs = original.Tokenizer.from_str(tokenizer.to_str())
    assert tokenizer.encode("low  newest").tokens == theirs.encode("low  newest").tokens
    polytok.train(TEXTS, "sentencepiece-bpe", vocab_size=25, byte_fallback=False).save(path)
    with pytest.raises(Exception, match="different algorithm"):
        face.SentencePieceUnigramTokenizer.from_spm(str(path))
