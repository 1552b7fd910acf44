"""Tests that unusual wrong input raises PolytokError."""

from __future__ import annotations

import base64
import json
import pickle
from pathlib import Path
from typing import Any

import pytest

import polytok
from polytok import cli
from polytok.errors import ArgumentError, FormatError, SpecError
from polytok.keywords import marked_message

RANK_MODEL = b"".join(base64.b64encode(bytes([byte])) + b" %d\n" % byte for byte in range(256))


@pytest.mark.parametrize(
    "config",
    [
        {"bos_token": "\ud800"},
        {"eos_token": {"content": "a\udfff"}},
        {"additional_special_tokens": ["\ud800"]},
        {"added_tokens_decoder": {"256": {"content": "\ud800"}}},
    ],
)
def test_a_token_with_a_lone_surrogate(tmp_path: Path, config: dict[str, Any]) -> None:
    bpe = {"version": "1.0", "model": {"type": "BPE", "vocab": {"a": 0}, "merges": []}}
    kimi = {"auto_map": {"AutoTokenizer": ["tokenization_kimi.TikTokenTokenizer", None]}}
    folders: dict[str, dict[str, Any]] = {
        "whole": {"tokenizer.json": bpe, "tokenizer_config.json": config},
        "pair": {"vocab.json": {"a": 0}, "tokenizer_config.json": {"tokenizer_class": "GPT2Tokenizer"} | config},
        "lines": {"tokenizer_config.json": {"tokenizer_class": "BertTokenizer"} | config},
        "ranks": {"tokenizer_config.json": kimi | config},
    }
    for name, files in folders.items():
        (tmp_path / name).mkdir()
        for file, value in files.items():
            (tmp_path / name / file).write_text(json.dumps(value))
    (tmp_path / "pair/merges.txt").write_text("#version: 0.2\n")
    (tmp_path / "lines/vocab.txt").write_text("[UNK]\n[CLS]\n[SEP]\n[PAD]\n[MASK]\n")
    (tmp_path / "ranks/tiktoken.model").write_bytes(RANK_MODEL)
    for name in folders:
        # Kimi's class ignores additional_special_tokens and listed roles.
        if name != "ranks" or "additional_special_tokens" not in config:
            with pytest.raises(FormatError, match="half of a surrogate pair"):
                polytok.load(tmp_path / name)


def test_a_text_with_a_lone_surrogate() -> None:
    with pytest.raises(ArgumentError, match=r"special_tokens: '\\ud800' has half of a surrogate pair"):
        polytok.load(RANK_MODEL, pattern="", special_tokens={"\ud800": 300})
    with pytest.raises(SpecError, match="a text of the Spec has half of a surrogate pair"):
        polytok.load(RANK_MODEL, pattern="\ud800", special_tokens={})


def test_only_marked_keywords_are_printed_as_flags(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tokenizer = {"model": {"type": "BPE", "vocab": {"a": 0}, "merges": []}, "pre_tokenizer": {"type": "ByteLevell"}}
    wrong_file = tmp_path / "wrong.json"
    wrong_file.write_text(json.dumps(tokenizer))
    rwkv = tmp_path / "rwkv.txt"
    rwkv.write_text("".join(f"{id} {bytes([id - 1])!r} 1\n" for id in range(1, 257)))
    commands: list[tuple[list[object], str]] = [
        (["count", "pre_tokenizer"], "polytok: pre_tokenizer: cannot read"),
        (["encode", "--special", "add_special", "--text", "a"], "--special add_special is not a special token"),
        (["info", wrong_file], "huggingface: pre_tokenizer: unknown type 'ByteLevell'"),
        (["edit", rwkv, "-o", tmp_path / "out.txt", "--remove-entry", "bad_bytes="], "cannot remove 'bad_bytes='"),
        (
            ["encode", "--reject-special", "--text", "add_special <|endoftext|>"],
            "allow it with --special '<|endoftext|>'",
        ),
    ]
    for arguments, expected in commands:
        assert cli.main(list(map(str, arguments))) == 2
        assert expected in capsys.readouterr().err


def test_errors_keep_the_marks_of_keywords_when_they_are_pickled() -> None:
    with pytest.raises(ArgumentError) as raised:
        polytok.InputOptions(lines=True, separator="\n")
    error = pickle.loads(pickle.dumps(raised.value))
    assert str(error) == "lines=True and separator= exclude each other: remove one of them" == error.args[0]
    assert marked_message(error) == marked_message(raised.value) != str(error)
