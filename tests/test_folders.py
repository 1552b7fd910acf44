"""Tests folders of published models, and the formats before tokenizer.json."""

from __future__ import annotations

import errno
import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import polytok
from format_samples import real, small_file
from polytok import conversion
from polytok.errors import ArgumentError, FileError, FormatError

tokenizers = pytest.importorskip("tokenizers")

TEXTS = ["", "Hello, world!", " it's  3 Ünïcode 世界\n\n", "<|endoftext|>a [MASK] b<s>x</s>", "HÉLLO <mask>"]


def folder(path: Path, **files: bytes | Any) -> Path:
    """Writes a folder with files; values other than bytes are written as JSON. ``a__b`` names the file ``a.b``."""
    for name, data in files.items():
        content = data if isinstance(data, bytes) else json.dumps(data).encode()
        (path / name.replace("__", ".")).write_bytes(content)
    return path


def gpt2_files() -> tuple[dict[str, int], bytes]:
    """Returns vocab.json and merges.txt of a real tokenizer.json."""
    model = json.loads(real("huggingface/gpt2.json"))["model"]
    lines = ["#version: 0.2", *model["merges"]]
    return model["vocab"], "".join(f"{line}\n" for line in lines).encode()


def test_tokenizer_json_with_its_configuration(tmp_path: Path) -> None:
    config = {
        "tokenizer_class": "LlamaTokenizerFast",
        "bos_token": {"__type": "AddedToken", "content": "<s>"},
        "eos_token": "</s>",
        "pad_token": "<pad>",
        "add_eos_token": True,
        "chat_template": "{{ messages }}",
        "added_tokens_decoder": {"32000": {"content": "<pad>", "special": True}, "1": {"content": "<s>"}},
    }
    path = folder(tmp_path, tokenizer__json=real("huggingface/llama2.json"), tokenizer_config__json=config)
    tokenizer = polytok.load(path)
    assert (tokenizer.bos_id, tokenizer.eos_id, tokenizer.unk_id, tokenizer.pad_id) == (1, 2, 0, 32000)
    assert tokenizer.encode("a", add_special=True) == [1, *tokenizer.encode("a"), 2]
    assert tokenizer.encode("<pad>", special="all") == [32000]
    assert tokenizer.spec.extra["huggingface"]["config"]["chat_template"] == "{{ messages }}"
    assert tokenizer.spec.origin.name == path.name
    single_spec = polytok.load(str(path / "tokenizer.json")).spec
    assert replace(single_spec, origin=tokenizer.spec.origin) == tokenizer.spec


@pytest.mark.parametrize("space", [False, True])
def test_gpt2s_files(tmp_path: Path, space: bool) -> None:
    vocab, merges = gpt2_files()
    config = {"tokenizer_class": "GPT2Tokenizer", "eos_token": "<|endoftext|>", "add_prefix_space": space}
    path = folder(tmp_path, vocab__json=vocab, merges__txt=merges, tokenizer_config__json=config)
    reference = tokenizers.Tokenizer.from_str(real("huggingface/gpt2.json").decode())
    reference.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=space)
    for tokenizer in (polytok.load(path), polytok.load(path / "vocab.json")):
        assert tokenizer.eos_id == 50256
        for text in TEXTS:
            assert tokenizer.encode(text, special="all") == reference.encode(text).ids
    target = tmp_path / "tokenizer.json"
    assert polytok.load(path).save(target, "huggingface") == ()
    reloaded_tokenizer = tokenizers.Tokenizer.from_file(str(target))
    assert [reloaded_tokenizer.encode(text).ids for text in TEXTS] == [reference.encode(text).ids for text in TEXTS]


def test_clips_files(tmp_path: Path) -> None:
    document = json.loads(real("huggingface/clip_base.json"))
    merges = "".join(f"{line}\n" for line in ["#version: 0.2", *document["model"]["merges"]]).encode()
    config = {"tokenizer_class": "CLIPTokenizer", "pad_token": "<|endoftext|>"}
    path = folder(tmp_path, vocab__json=document["model"]["vocab"], merges__txt=merges, tokenizer_config__json=config)
    reference = tokenizers.Tokenizer.from_str(json.dumps(document))
    tokenizer = polytok.load(path)
    for text in ("Hello World 123!", "a photo of a cat", "ÉCOLE 世界"):
        assert tokenizer.encode(text, add_special=True) == reference.encode(text).ids


@pytest.mark.parametrize("lower", [False, True])
def test_berts_vocabulary(tmp_path: Path, lower: bool) -> None:
    document = json.loads(real("huggingface/bert_base_cased.json"))
    document["normalizer"]["lowercase"] = lower
    reference = tokenizers.Tokenizer.from_str(json.dumps(document))
    texts = sorted(document["model"]["vocab"], key=document["model"]["vocab"].__getitem__)
    data = "".join(f"{text}\n" for text in texts).encode()
    path = folder(tmp_path, vocab__txt=data, tokenizer_config__json={"do_lower_case": lower})
    for tokenizer in (polytok.load(path), polytok.load(path / "vocab.txt")):
        for text in TEXTS:
            assert tokenizer.encode(text, special="all", add_special=True) == reference.encode(text).ids
            ids = tokenizer.encode(text)
            assert tokenizer.decode(ids) == reference.decode(ids, skip_special_tokens=False)
    assert conversion.write(tokenizer.spec, "wordpiece").data == data


def test_a_repeated_line_of_berts_vocabulary(tmp_path: Path) -> None:
    lines = b"[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nhello\nworld\nhello\nfoo\n"
    path = folder(tmp_path, vocab__txt=lines)
    reference = tokenizers.models.WordPiece.read_file(str(path / "vocab.txt"))
    tokenizer = polytok.load(path)
    words = ["hello", "world", "foo"]
    assert tokenizer.encode(" ".join(words)) == [reference[word] for word in words] == [7, 6, 8]
    assert tokenizer.ids_to_pieces([7]) == [b"hello"] and tokenizer.decode([5, 8]) == "foo"


def test_other_files_in_a_folder(tmp_path: Path) -> None:
    path = folder(tmp_path, tokenizer__model=small_file("sentencepiece"))
    assert polytok.load(path).spec.origin.format == "sentencepiece"
    folder(tmp_path, tekken__json=small_file("tekken"))
    assert polytok.load(path).spec.origin.format == "tekken"


def test_a_folder_that_cannot_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(folder: str) -> None:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), folder)

    monkeypatch.setattr(os, "listdir", refuse)
    with pytest.raises(FileError, match="cannot read the folder: Permission denied"):
        polytok.load(tmp_path)


def test_refused_folders(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match=r"none of tokenizer.json, tekken.json, .*vocab.json with merges.txt"):
        polytok.load(tmp_path)
    vocab, merges = gpt2_files()
    folder(tmp_path, vocab__json=vocab)
    with pytest.raises(FormatError, match=r"needs merges.txt in the same folder"):
        polytok.load(tmp_path / "vocab.json")
    folder(tmp_path, merges__txt=merges, tokenizer_config__json={"tokenizer_class": "FooTokenizer"})
    with pytest.raises(
        FormatError, match="'FooTokenizer', but the classes known for vocab.json and merges.txt are GPT2Tokenizer"
    ):
        polytok.load(tmp_path)
    folder(tmp_path, tokenizer_config__json=b"[")
    with pytest.raises(FormatError, match=r"tokenizer_config.json in the same folder cannot be read"):
        polytok.load(tmp_path)
    with pytest.raises(ArgumentError, match="format= has no effect on a folder"):
        polytok.load(tmp_path, format="huggingface")
