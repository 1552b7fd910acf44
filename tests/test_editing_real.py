"""Tests edits of published vocabularies: the reference package encodes corpora with the written file as polytok does,
and the old ids of the corpora, changed by the map, decode to the same texts."""

from __future__ import annotations

import functools
from typing import Any

import pytest
import sentencepiece
import tiktoken
import tokenizers

import polytok
from polytok import Tokenizer, conversion, editing
from reference_specs import CL100K, DATA, needs_data

CORPORA = ("ja", "zh", "en_prose", "ru_uk_bg", "europe", "ko", "chat_emoji", "data_json")
LINES_OF_EACH = 60
FILES = {
    "llama2": "sentencepiece/llama2.model",
    "llama2 json": "huggingface/llama2.json",
    "cl100k": "tiktoken/cl100k_base.tiktoken",
    "xlnet": "sentencepiece/xlnet_base_cased.model",
    "bert": "huggingface/bert_base_cased.json",
    "rwkv": "rwkv/rwkv_vocab_v20230424.txt",
    "gpt2 gguf": "gguf/ggml-vocab-gpt-2.gguf",
}


@functools.cache
def lines() -> list[str]:
    texts: list[str] = []
    for name in CORPORA:
        text = (DATA / f"corpus/{name}.txt").read_bytes()[:200_000].decode(errors="ignore")
        texts += [line for line in text.split("\n") if line.strip()][:LINES_OF_EACH]
    return texts


@functools.cache
def japanese_words() -> list[bytes]:
    text = (DATA / "corpus/ja.txt").read_text("utf-8")[:1_000_000]
    return [word for word, _ in editing.japanese_words([text], 1000)]


@functools.cache
def load(name: str) -> Tokenizer:
    return polytok.load(DATA / "vocab" / FILES[name])


def extended(name: str) -> dict[str, Any]:
    make_room = {"make_room": lines()} if name == "rwkv" else {}
    return {"add": japanese_words(), "add_special_tokens": ["<|ja|>"], "pad_to_multiple": 128, **make_room}


def pruned(name: str) -> dict[str, Any]:
    """Returns a prune to Latin; of XLNet and BERT, whose entries of other scripts are single characters, by use."""
    if name in ("xlnet", "bert"):
        return {"remove": [editing.among(editing.unused(load(name), lines()))], "ids": "compact"}
    return {"remove": [editing.other_scripts("Latin")], "ids": "compact"}


def encode_with_reference(tokenizer: Tokenizer) -> list[list[int]] | None:
    """Returns the ids of the lines in the reference package; None if the format has none."""
    spec = tokenizer.spec
    data = conversion.write(spec, spec.origin.format).data
    if spec.origin.format == "sentencepiece":
        return list(sentencepiece.SentencePieceProcessor(model_proto=data).encode(lines()))
    if spec.origin.format == "huggingface":
        loaded = tokenizers.Tokenizer.from_str(data.decode())
        return [loaded.encode(line, add_special_tokens=False).ids for line in lines()]
    if spec.origin.format == "tiktoken":
        ranks = dict(zip(spec.vocab.pieces(), spec.vocab.ids.tolist(), strict=True))
        encoding = tiktoken.Encoding("edited", pat_str=CL100K, mergeable_ranks=ranks, special_tokens={})
        return [encoding.encode_ordinary(line) for line in lines()]
    return None


@needs_data
@pytest.mark.parametrize("change", [extended, pruned], ids=["extended", "pruned"])
@pytest.mark.parametrize("name", FILES)
def test_a_published_vocabulary(name: str, change: Any) -> None:
    old = load(name)
    result = polytok.edit(old, **change(name))
    new = result.tokenizer
    for line in lines():
        ids = old.encode(line)
        assert new.decode_bytes(result.map_ids(ids)) == old.decode_bytes(ids)
    expected = encode_with_reference(new)
    if expected is not None:
        assert [new.encode(line, add_special=False) for line in lines()] == expected
    proof = result.prove(lines())
    assert not proof.mapped_differently and not proof.refused
    if change is extended:
        assert new.vocab_size % 128 == 0 and "<|ja|>" in result.special_tokens
        assert {entry.piece for entry in result.added} | {*result.present} >= {*japanese_words()}
        japanese = lines()[:LINES_OF_EACH]
        if name not in ("bert", "xlnet"):  # runs of unknown characters were one token
            assert sum(map(new.count, japanese)) < 0.9 * sum(map(old.count, japanese))
    else:
        assert sorted(result.kept.values()) == list(range(new.vocab_size)) and result.removed
