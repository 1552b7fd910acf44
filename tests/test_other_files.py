"""Tests the errors for files that are saved under the name of a tokenizer file but are something else."""

from __future__ import annotations

from pathlib import Path

import pytest

import polytok
from format_samples import VOCAB, small_file

POINTER = f"version https://git-lfs.github.com/spec/v1\noid sha256:{'4d' * 32}\nsize 17209920\n".encode()
LOGIN_PAGE = b"\n<!DOCTYPE html>\n<html><head><title>Sign in</title></head></html>\n"
FILES = [
    (POINTER, "a Git LFS pointer, not the file itself, which has 17209920 bytes: fetch the file with `git lfs pull`"),
    (LOGIN_PAGE, r"an HTML page \('Sign in'\), not a tokenizer file.*download the file itself again"),
    (b'{"error": "Invalid username or password."}', "the answer of a server.*'Invalid username or password.'"),
    (b'{"version": "1.0", "added_tokens": [], "decoder": null}', "a tokenizer.json without its model"),
    (b'{"tokenizer_class": "LlamaTokenizer"}', "settings of a model, without a vocabulary"),
    (b'{"model": {"type": "BPE", "vocab": {"a": 0}}}', "BPE without merges.*download or write it again"),
    (b"", "the file is empty: download or copy it again"),
]


@pytest.mark.parametrize("name", ["tokenizer.json", "tokenizer.model", "m.gguf"])
@pytest.mark.parametrize(("data", "message"), FILES)
def test_a_file_that_is_something_else(tmp_path: Path, name: str, data: bytes, message: str) -> None:
    path = tmp_path / name
    path.write_bytes(data)
    with pytest.raises(polytok.FormatError, match=f"{name}: .*{message}"):
        polytok.load(path)


def test_the_error_of_a_folder_names_the_file(tmp_path: Path) -> None:
    (tmp_path / "tokenizer.json").write_bytes(POINTER)
    with pytest.raises(polytok.FormatError, match=r"tokenizer\.json: this is a Git LFS pointer"):
        polytok.load(tmp_path)
    (tmp_path / "tokenizer.json").rename(tmp_path / "other.bin")
    with pytest.raises(polytok.FormatError, match="download the tokenizer's file too, or name the file itself"):
        polytok.load(tmp_path)


@pytest.mark.parametrize(("name", "format"), [("m.gguf", "gguf"), ("tokenizer.json", "huggingface")])
def test_a_truncated_file(tmp_path: Path, name: str, format: str) -> None:
    data = small_file(format)
    (tmp_path / name).write_bytes(data[: len(data) * 3 // 4])
    with pytest.raises(polytok.FormatError, match=r"file is truncated or damaged.*: download or copy it again"):
        polytok.load(tmp_path / name)


TRUNCATED = ["sentencepiece/llama2.model", "llama2c/tokenizer.bin", "rwkv/rwkv_vocab_v20230424.txt"]


@pytest.mark.parametrize("name", TRUNCATED if VOCAB.is_dir() else [])
def test_a_truncated_vocabulary(tmp_path: Path, name: str) -> None:
    path = tmp_path / Path(name).name
    path.write_bytes((VOCAB / name).read_bytes()[:200_000])
    with pytest.raises(polytok.FormatError, match="; the file is truncated or damaged: download or"):
        polytok.load(path)


def test_a_truncated_rank_file(tmp_path: Path) -> None:
    path = tmp_path / "a.tiktoken"
    path.write_bytes(b"YQ== 0\nYg== 1\nYWI")
    with pytest.raises(polytok.FormatError, match="line 3: .*; the file is truncated or damaged: download or copy it"):
        polytok.load(path, pattern="gpt2", special_tokens={})
    path.write_bytes(b"YQ== 0\nYg==\nYWI= 2\n")
    with pytest.raises(polytok.FormatError, match=r"line 2: not two fields \(base64 and rank\): \"Yg==\"$"):
        polytok.load(path, pattern="gpt2", special_tokens={})
