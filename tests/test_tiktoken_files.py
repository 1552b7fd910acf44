"""Tests tiktoken's rank files: known vocabularies, options, writing and errors."""

from __future__ import annotations

import base64
import itertools
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from format_samples import longest_spec, rank_spec, real, small_file
from polytok import conversion, formats, load
from polytok.errors import ArgumentError, FormatError
from polytok.formats.tiktoken_known import KNOWN
from polytok.patterns import PATTERNS, PRE_TOKENIZERS
from polytok.spec import PatternSplit, SpecialToken
from polytok.training.splits import split_steps


@pytest.mark.parametrize("known", [row for row in KNOWN if not row.name.startswith("llama")], ids=lambda row: row.name)
def test_known_vocabularies_equal_those_of_tiktoken(known: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    tiktoken_encodings = pytest.importorskip("tiktoken_ext.openai_public")
    files: list[tuple[str, str]] = []

    def no_download(url: str, expected_hash: str) -> dict[bytes, int]:
        files.append((url, expected_hash))
        return {}

    monkeypatch.setattr(tiktoken_encodings, "load_tiktoken_bpe", no_download)
    arguments = getattr(tiktoken_encodings, known.name)()
    assert arguments["pat_str"] == known.scheme.pattern
    assert arguments["special_tokens"] == dict(known.scheme.special_tokens)
    assert files[-1] == (known.address, known.sha256)


def test_known_llama_special_tokens() -> None:
    llama3, llama30, llama4 = (row.scheme.special_tokens for row in KNOWN if row.name.startswith("llama"))
    assert sorted(llama3.values()) == sorted(llama30.values()) == list(range(128000, 128256))
    assert sorted(llama4.values()) == list(range(200000, 202048))
    assert (llama3["<|eot_id|>"], llama3["<|reserved_special_token_245|>"]) == (128009, 128255)
    assert (llama30["<|eot_id|>"], llama30["<|reserved_special_token_5|>"]) == (128009, 128010)
    assert llama30["<|start_header_id|>"] == 128006
    assert (llama4["<|image_start|>"], llama4["<|patch|>"], llama4["<|image|>"]) == (200080, 200092, 200090)
    assert (llama4["<|vision_reserved_special_token_1047|>"], llama4["<|reasoning_thinking_end|>"]) == (201133, 201143)
    assert llama4["<|text_post_train_reserved_special_token_68|>"] == 200079


def test_one_file_of_two_vocabularies() -> None:
    data = real("tiktoken/o200k_base.tiktoken")
    assert formats.read(data).origin.name == "o200k_base"
    harmony = formats.read(data, name="o200k_harmony")
    assert harmony.origin.name == "o200k_harmony"
    assert SpecialToken("<|call|>", 200012) in harmony.special
    assert [loss.split(":")[0] for loss in conversion.write(harmony, "tiktoken").losses] == ["special"]
    with pytest.raises(ArgumentError, match="not the file of that vocabulary"):
        formats.read(data, name="llama3")
    with pytest.raises(ArgumentError, match="the file of 'o200k_base' or 'o200k_harmony'"):
        formats.read(data, name="mine")


def test_options_override_a_known_vocabulary() -> None:
    data = real("tiktoken/r50k_base.tiktoken")
    spec = formats.read(data, pattern=r"\S+|\s+", special_tokens={"<x>": 60000})
    assert (spec.split, spec.special) == ((PatternSplit(r"\S+|\s+"),), (SpecialToken("<x>", 60000),))
    assert (spec.origin.name, dict(spec.names)) == (None, {})
    losses = conversion.write(spec, "tiktoken").losses
    assert [loss.split(":")[0] for loss in losses] == ["special", "split", "names"]


def test_an_unknown_rank_file_needs_pattern_and_special_tokens() -> None:
    data = small_file("tiktoken")
    incomplete_options: list[dict[str, Any]] = [{}, {"pattern": "x"}, {"special_tokens": {}}]
    for options in incomplete_options:
        with pytest.raises(FormatError, match=r"give both: pattern='...', special_tokens="):
            formats.read(data, **options)
    spec = formats.read(data, pattern=r"\S+", special_tokens={"<|endoftext|>": 301}, name="mine")
    assert (spec.origin.name, dict(spec.names)) == ("mine", {"eos": 301})
    plain_spec = formats.read(data, pattern="", special_tokens={})
    assert replace(plain_spec, origin=rank_spec().origin) == rank_spec()
    assert conversion.write(plain_spec, "tiktoken", strict=True).data == data


def test_a_written_rank_file_loads_in_tiktoken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    load = pytest.importorskip("tiktoken.load")
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", "")
    path = tmp_path / "small.tiktoken"
    path.write_bytes(small_file("tiktoken"))
    vocab = rank_spec().vocab
    assert load.load_tiktoken_bpe(str(path)) == dict(zip(vocab.pieces(), vocab.ids.tolist(), strict=True))


def test_a_rank_file_need_not_be_sorted() -> None:
    data = b"YQ== 5\nYg== 0\n"
    spec = formats.read(data, pattern="", special_tokens={})
    assert (spec.vocab.pieces(), spec.vocab.ids.tolist()) == ([b"a", b"b"], [5, 0])
    assert conversion.write(spec, "tiktoken").data == data


def test_tiktoken_cannot_express_other_models() -> None:
    with pytest.raises(FormatError, match="tiktoken merges bytes; it cannot run"):
        conversion.write(longest_spec(), "tiktoken")


@pytest.mark.parametrize("tokens", [{"": 1}, {"<x>": -1}, {"<x>": 2**32}, {"<x>": True}, {"<x>": "1"}, {1: 1}])
def test_special_tokens_are_checked(tokens: Any) -> None:
    with pytest.raises(ArgumentError, match="special_tokens"):
        formats.read(small_file("tiktoken"), pattern="", special_tokens=tokens)


def test_base64_is_standard() -> None:
    for length in itertools.chain(range(1, 70), (3000,)):
        text = bytes(range(256)) * 12
        data = base64.b64encode(text[:length]) + b" 7\n"
        spec = formats.read(data, pattern="", special_tokens={})
        assert spec.vocab.blob == text[:length]
        assert conversion.write(spec, "tiktoken").data == data


@pytest.mark.parametrize("name", [*PATTERNS, *PRE_TOKENIZERS])
def test_names_of_patterns_mean_the_same_as_in_training(tmp_path: Path, name: str) -> None:
    path = tmp_path / "small.tiktoken"
    path.write_bytes(small_file("tiktoken"))
    tokenizer = load(path, pattern=name, special_tokens={})
    assert tokenizer.spec.split == split_steps(name, "matches")
    assert tokenizer.decode(tokenizer.encode("ab")) == "ab"


@pytest.mark.parametrize(
    ("name", "suggestion"), [("gpt-2", "gpt2"), ("o200k_base", "o200k"), ("llama 3", "llama3"), ("GPT2", "gpt2")]
)
def test_an_unknown_name_of_a_pattern_is_refused(tmp_path: Path, name: str, suggestion: str) -> None:
    path = tmp_path / "small.tiktoken"
    path.write_bytes(small_file("tiktoken"))
    with pytest.raises(ArgumentError, match=f"unknown pattern='{name}'; did you mean '{suggestion}'"):
        load(path, pattern=name, special_tokens={})
    with pytest.raises(ArgumentError, match=f"unknown pattern='{name}'; did you mean '{suggestion}'"):
        split_steps(name, "matches")
