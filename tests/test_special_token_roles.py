"""Tests that vocabularies name the tokens that begin a text, end a text, pad, and stand for unknown text."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import tokenizers

import polytok
from polytok.__main__ import main
from polytok.convert import convert
from polytok.errors import ArgumentError, FormatError
from polytok.training import specs

TEXTS = ["low lower lowest", "new newer newest"] * 10
ROLES = {"bos": "<b>", "eos": "<e>", "pad": "<p>", "unk": "<u>"}
KINDS: list[tuple[str, dict[str, Any]]] = [
    ("bpe", {"vocab_size": 270}),
    ("bpe", {"vocab_size": 270, "trainer": "minbpe"}),
    ("bpe", {"vocab_size": 268, "trainer": "huggingface"}),
    ("bpe", {"vocab_size": 27, "trainer": "huggingface", "byte_level": False}),
    ("wordpiece", {"vocab_size": 30}),
    ("longest-match", {"vocab_size": 265}),
    ("sentencepiece-bpe", {"vocab_size": 275}),
    ("unigram", {"vocab_size": 275}),
    ("word", {"vocab_size": 265}),
    ("char", {"vocab_size": 275}),
]


def train(kind: str, options: dict[str, Any]) -> polytok.Tokenizer:
    return polytok.train(TEXTS, kind=kind, **options)


def names_and_texts(tokenizer: polytok.Tokenizer) -> dict[str, str]:
    return {role: tokenizer.id_to_piece(id).decode() for role, id in tokenizer.spec.names.items()}


@pytest.mark.parametrize(("kind", "options"), KINDS, ids=str)
def test_training_creates_and_names_the_tokens(kind: str, options: dict[str, Any]) -> None:
    tokenizer = train(kind, {**options, **ROLES})
    assert names_and_texts(tokenizer) == ROLES
    assert tokenizer.eos_id is not None and tokenizer.encode("<e>", special="all")[-1:] == [tokenizer.eos_id]


def test_tokens_of_roles_follow_the_other_special_tokens() -> None:
    options: dict[str, Any] = {"vocab_size": 270, "special_tokens": ["<e>", "<mask>"]}
    assert train("bpe", {**options, **ROLES}).special_tokens == dict(
        zip(("<e>", "<mask>", "<u>", "<b>", "<p>"), range(265, 270), strict=True)
    )
    one_token = train("bpe", {"vocab_size": 270, "bos": "<e>", "eos": "<e>"})
    assert one_token.special_tokens == {"<e>": 269} and one_token.bos_id == one_token.eos_id == 269
    with_ids = train("bpe", {"vocab_size": 270, "special_tokens": {"<mask>": 300}, "eos": "<e>"})
    assert with_ids.special_tokens == {"<mask>": 300, "<e>": 269}


def test_roles_replace_the_default_tokens() -> None:
    wordpiece = train("wordpiece", {"vocab_size": 30, "pad": "<p>", "eos": "[SEP]"})
    assert wordpiece.special_tokens == {"<p>": 0, "[UNK]": 1, "[CLS]": 2, "[SEP]": 3, "[MASK]": 4}
    assert names_and_texts(wordpiece) == {"pad": "<p>", "unk": "[UNK]", "eos": "[SEP]"}
    assert names_and_texts(train("wordpiece", {"vocab_size": 30})) == {"unk": "[UNK]"}
    assert train("longest-match", {"vocab_size": 265, "eos": "<e>"}).special_tokens == {"<e>": 0}
    pieces = train("sentencepiece-bpe", {"vocab_size": 275, "pad": "<p>", "bos_id": 3}).spec.names
    assert pieces == {"unk": 0, "eos": 2, "bos": 3, "pad": 1}


def test_special_tokens_of_several_sizes() -> None:
    small, large = specs(TEXTS, "bpe", vocab_size=[260, 265], eos="<e>")
    assert (small.names, large.names) == ({"eos": 259}, {"eos": 264})


@pytest.mark.parametrize(
    ("kind", "options", "message"),
    [
        ("bpe", {"eos": ""}, "eos='' is an empty text"),
        ("bpe", {"eos": 5}, "eos=5 is not a text"),
        ("bpe", {"trainer": "huggingface", "unk": "<u>", "unk_token": "<x>"}, "name two tokens for one role"),
        ("sentencepiece-bpe", {"eos": "<e>", "eos_piece": "<x>"}, "name two tokens for one role"),
        ("sentencepiece-bpe", {"eos": "<e>", "eos_id": -1}, "eos_id=-1 means none"),
        ("longest-match", {"special_tokens": {"<a>": 400}}, "give a list of texts"),
    ],
)
def test_wrong_roles(kind: str, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        train(kind, {"vocab_size": 275, **options})


def test_the_command_creates_and_names_the_tokens(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text, out = tmp_path / "text.txt", tmp_path / "m.ptok"
    text.write_text("low lower lowest")
    tokens = ("--special-tokens", "<a>=300", "--special-tokens", '{"<b>": 301}', "--eos", "<e>", "--bos", "<b>")
    assert main(["train", str(text), "--vocab-size", "258", *tokens, "-o", str(out)]) == 0
    tokenizer = polytok.load(out)
    assert tokenizer.special_tokens == {"<a>": 300, "<b>": 301, "<e>": 257}
    assert (tokenizer.bos_id, tokenizer.eos_id) == (301, 257)
    mixed = ("--special-tokens", "<a>=300", "--special-tokens", "<b>")
    assert main(["train", str(text), "--vocab-size", "258", *mixed, "-o", str(out)]) == 2
    assert "--special-tokens gives ids to some tokens, but none to '<b>'" in capsys.readouterr().err


def test_special_tokens_of_rank_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "m.tiktoken"
    train("bpe", {"vocab_size": 260}).save(path)
    assert polytok.load(path, pattern="", special_tokens=["<a>", "<b>"]).special_tokens == {"<a>": 260, "<b>": 261}
    with pytest.raises(ArgumentError, match="is a single text"):
        polytok.load(path, pattern="", special_tokens="<a>")
    arguments = ["encode", "-m", str(path), "--pattern", "", "--special", "all", "--text", "<a>"]
    for tokens, id in ((["<a>"], 260), (["<b>", "<a>"], 261), (["<a>=300"], 300), (['{"<a>": 7000}'], 7000)):
        assert main([*arguments, *(f"--special-tokens={token}" for token in tokens)]) == 0
        assert capsys.readouterr().out.split() == [str(id)]


def test_gguf_defaults_are_not_names(tmp_path: Path) -> None:
    """Tests that llama.cpp's default eos, id 11, is a name only if the token is special."""
    tokenizer = train("bpe", {"vocab_size": 265})
    assert "llama.cpp ends a text at its default id 11" in "".join(convert(tokenizer, "gguf", texts=()).notes)
    tokenizer.save(tmp_path / "m.gguf")
    assert polytok.load(tmp_path / "m.gguf").spec.names == {}
    tokenizer = train("bpe", {"vocab_size": 265, "eos": "<e>"})
    assert convert(tokenizer, "gguf", texts=()).notes == ("normalize: bytes that are not UTF-8 become U+FFFD",)
    tokenizer.save(tmp_path / "m.gguf")
    assert polytok.load(tmp_path / "m.gguf").spec.names == {"eos": 264}


FORMATS_WITH_NAMES = [
    ("bpe", {"vocab_size": 270}, ("tokenizer.json", "m.gguf", "m.ptok")),
    ("bpe", {"vocab_size": 27, "trainer": "huggingface", "byte_level": False}, ("tokenizer.json", "m.ptok")),
    ("wordpiece", {"vocab_size": 30}, ("tokenizer.json", "m.ptok")),
    ("sentencepiece-bpe", {"vocab_size": 275}, ("m.model", "tokenizer.json", "m.gguf", "m.ptok")),
    ("unigram", {"vocab_size": 275}, ("m.model", "tokenizer.json", "m.ptok")),
    ("longest-match", {"vocab_size": 265}, ("m.gguf", "m.ptok")),
]


@pytest.mark.parametrize(("kind", "options", "files"), FORMATS_WITH_NAMES, ids=str)
def test_files_keep_the_names(kind: str, options: dict[str, Any], files: tuple[str, ...], tmp_path: Path) -> None:
    tokenizer = train(kind, {**options, **ROLES})
    for file in files:
        format = "sentencepiece" if file == "m.model" else None
        tokenizer.save(tmp_path / file, format)
        assert polytok.load(tmp_path / file).spec.names == tokenizer.spec.names, file
    if "tokenizer.json" in files:
        (tmp_path / "tokenizer.json").rename(tmp_path / "other.json")
        assert polytok.load(tmp_path / "other.json").eos_id is None, "the settings belong to a tokenizer.json"


def test_transformers_finds_the_names(tmp_path: Path) -> None:
    """Tests the keys and values that transformers reads from the two files beside a tokenizer.json."""
    train("sentencepiece-bpe", {"vocab_size": 275, "pad": "<p>"}).save(tmp_path / "tokenizer.json", strict=True)
    config = json.loads((tmp_path / "tokenizer_config.json").read_text())
    tokens = {"bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>", "pad_token": "<p>"}
    assert config.items() >= tokens.items() and config["tokenizer_class"] == "PreTrainedTokenizerFast"
    assert (config["add_bos_token"], config["add_eos_token"]) == (True, False)
    assert json.loads((tmp_path / "special_tokens_map.json").read_text()) == tokens
    reference = tokenizers.Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    for id, fields in config["added_tokens_decoder"].items():
        assert reference.token_to_id(fields["content"]) == int(id)
    assert reference.encode("low").ids == polytok.load(tmp_path).encode("low", add_special=True)


def test_settings_of_a_vocab_txt(tmp_path: Path) -> None:
    options: dict[str, Any] = {"vocab_size": 30, "pad": "[PAD]", "eos": "[SEP]", "lowercase": False}
    tokenizer = train("wordpiece", options)
    losses = tokenizer.save(tmp_path / "vocab.txt", "wordpiece")
    assert [loss.partition(":")[0] for loss in losses] == ["post"], "BERT's template is a part of the format"
    loaded = polytok.load(tmp_path)
    assert (loaded.spec.names, loaded.spec.normalize) == (tokenizer.spec.names, tokenizer.spec.normalize)


def test_settings_of_the_folder_are_kept(tmp_path: Path) -> None:
    old_settings = {"chat_template": "{{ x }}", "eos_token": "<old>", "added_tokens_decoder": {}, "model_max_length": 8}
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(old_settings))
    tokenizer = train("bpe", {"vocab_size": 270, "bos": "<b>"})
    tokenizer.save(tmp_path / "tokenizer.json")
    config = json.loads((tmp_path / "tokenizer_config.json").read_text())
    assert (config["chat_template"], config["model_max_length"]) == ("{{ x }}", 8)
    assert "eos_token" not in config and polytok.load(tmp_path).spec.names == {"bos": 269}
    (tmp_path / "copy").mkdir()
    polytok.load(tmp_path).save(tmp_path / "copy" / "tokenizer.json")
    assert json.loads((tmp_path / "copy" / "tokenizer_config.json").read_text()) == config
    (tmp_path / "copy" / "tokenizer_config.json").unlink()
    assert polytok.load(tmp_path / "copy").spec.names == {"bos": 269}, "the map of special tokens has the names too"


def test_settings_of_another_tokenizer_are_removed(tmp_path: Path) -> None:
    train("bpe", {"vocab_size": 270, "eos": "<e>"}).save(tmp_path / "tokenizer.json")
    config = json.loads((tmp_path / "tokenizer_config.json").read_text())
    (tmp_path / "tokenizer_config.json").write_text(json.dumps({**config, "model_max_length": 8}))
    tokenizer = train("bpe", {"vocab_size": 270})
    tokenizer.save(tmp_path / "tokenizer.json")
    loaded = polytok.load(tmp_path)
    assert (loaded.spec.names, loaded.special_tokens, loaded.vocab_size) == ({}, {}, 270)
    settings = {"model_max_length": 8, "tokenizer_class": "PreTrainedTokenizerFast"}
    expected = {**settings, "clean_up_tokenization_spaces": False}
    assert json.loads((tmp_path / "tokenizer_config.json").read_text()) == expected


@pytest.mark.parametrize("name", ["other.json", "other.v1"])
def test_a_file_of_another_name_has_settings_of_its_own(tmp_path: Path, name: str) -> None:
    tokenizer = train("bpe", {"vocab_size": 270, "eos": "<e>"})
    settings_name = f"{name.removesuffix('.json')}_config.json"
    notes = convert(tokenizer, "huggingface", texts=(), path=tmp_path / name).notes
    assert notes == (f"names: {settings_name} has eos; keep it beside {name}",)
    tokenizer.save(tmp_path / name, "huggingface", strict=True)
    train("bpe", {"vocab_size": 270, "bos": "<b>"}).save(tmp_path / "tokenizer.json")
    loaded = polytok.load(tmp_path / name)
    assert loaded.spec.names == {"eos": 269} == tokenizer.spec.names, "tokenizer_config.json is of another tokenizer"
    assert {path.name for path in tmp_path.iterdir()} == {
        *(name, settings_name, "tokenizer.json", "tokenizer_config.json", "special_tokens_map.json")
    }
    loaded.save(tmp_path / "copy.json")
    assert (tmp_path / "copy_config.json").read_bytes() == (tmp_path / settings_name).read_bytes()
    train("bpe", {"vocab_size": 270}).save(tmp_path / name, "huggingface")
    assert polytok.load(tmp_path / name).spec.names == {}, "the settings of the replaced tokenizer are removed"


@pytest.mark.parametrize("content", ["[1]", "{", '{"tokenizer_class": "LlamaTokenizer", "hf_token": "x"}'])
def test_other_files_with_such_a_name_are_ignored(tmp_path: Path, content: str) -> None:
    tokenizer = train("bpe", {"vocab_size": 270})
    tokenizer.save(tmp_path / "my.json", "huggingface")
    (tmp_path / "my_config.json").write_text(content)
    loaded = polytok.load(tmp_path / "my.json")
    assert "config" not in loaded.spec.extra["huggingface"] and loaded.spec.names == {}
    tokenizer.save(tmp_path / "my.json", "huggingface")
    assert (tmp_path / "my_config.json").read_text() == content


def test_files_with_such_a_name_keep_their_other_fields(tmp_path: Path) -> None:
    tokenizer = train("bpe", {"vocab_size": 270, "eos": "<e>"})
    (tmp_path / "my_config.json").write_text('{"hf_token": "x"}')
    tokenizer.save(tmp_path / "my.json", "huggingface")
    assert json.loads((tmp_path / "my_config.json").read_text())["hf_token"] == "x"
    (tmp_path / "your_config.json").write_text("[1]")
    with pytest.raises(ArgumentError, match=r"your_config.json is not a JSON object, .* choose another name"):
        tokenizer.save(tmp_path / "your.json", "huggingface")
    assert (tmp_path / "your_config.json").read_text() == "[1]" and not (tmp_path / "your.json").exists()


def test_errors_name_the_settings_file(tmp_path: Path) -> None:
    train("bpe", {"vocab_size": 270}).save(tmp_path / "my.json", "huggingface")
    (tmp_path / "my_config.json").write_text('{"added_tokens_decoder": {"x": {"content": "a"}}}')
    with pytest.raises(FormatError, match=r"my\.json: .*my_config\.json: added_tokens_decoder has the key 'x'"):
        polytok.load(tmp_path / "my.json")


def test_training_and_a_corpus_with_a_file_of_another_name(tmp_path: Path, capsys: Any, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    Path("texts.txt").write_text("".join(f"{text}\n" for text in TEXTS))
    options = ["--kind", "bpe", "--vocab-size", "270", "--eos", "<|endoftext|>", "-o", "tok.json"]
    assert main(["train", "texts.txt", *options]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "tok.json: 270 entries; kept: everything; 452 of 452 texts have the same ids",
        "  note: tok_config.json has eos; keep it beside tok.json",
    ]
    assert main(["tokenize", "texts.txt", "--eos", "-m", "tok.json", "-q", "-o", "data"]) == 0
