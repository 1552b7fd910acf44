"""Tests the verbs that show tokenizers, and how verbs name tokenizers."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sentencepiece import sentencepiece_model_pb2 as pb

import gguf_samples
import polytok
from cli_process import error_of, run
from polytok.cli import main
from polytok.formats import sentencepiece_proto
from polytok.formats.sentencepiece_fields import _DEFAULTS

pytest_plugins = ("cli_fixtures",)

described: Any = pb


# tokenizers


def test_the_first_argument_can_be_the_tokenizer(model: Path, text: Path) -> None:
    expected = run("count", "-m", model, text)
    assert run("count", model, text) == expected
    assert run("encode", model, "--text", "a dog") == run("encode", "-m", model, "--text", "a dog")
    assert run("count", "default", text) == run("count", text)
    assert f"use -m {model}" in error_of("count", model, code=2)
    names = text.parent / "names.txt"
    names.write_text(str(model))
    assert run("count", "--files-from", names).decode().split()[5] == str(model.stat().st_size)
    assert run("info", model) == run("info", "-m", model)
    assert run("vocab", model, "--ids", "5-9") == run("vocab", "-m", model, "--ids", "5-9")
    words = text.parent / "de.txt"
    words.write_text("Haus 1\nHund 2\n")  # the bytes of a rank file, but not its name
    assert run("count", words, text).decode().splitlines()[1].endswith(str(words))
    assert "one tokenizer, not 2" in error_of("info", "-m", model, "-m", "default", code=2)


def test_a_tokenizer_is_not_read_as_a_text(model: Path, text: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.model"
    other.write_bytes(model.read_bytes())
    assert f"compare with it by --against {other}" in error_of("doctor", model, other, code=2)
    assert f"compare with it by --against {other}" in error_of("doctor", "-m", model, other, code=2)
    assert "default is a tokenizer, not a text" in error_of("doctor", model, "default", code=2)
    for arguments in (["default", other, text], ["-m", model, other], [other, other, text]):
        assert f"name a tokenizer with -m {other}; to read the file as text" in error_of("count", *arguments, code=2)
    assert f"name a tokenizer with -m {other}" in error_of("encode", "-m", model, text, other, code=2)
    assert "not a text" in error_of("tokenize", "-m", model, other, "-o", tmp_path / "corpus", code=2)
    assert "not a text" in error_of("convert", model, tmp_path / "out.ptok", other, code=2)


def test_a_tokenizer_beside_m_is_an_error(model: Path, text: Path, tmp_path: Path) -> None:
    target = tmp_path / "own.ptok"
    for verb, *arguments in (
        ["info"],
        ["vocab"],
        ["convert", target],
        ["convert", "-o", target],
        ["edit", "-o", target],
    ):
        message = error_of(verb, "default", "-m", model, *arguments, code=2)
        assert f"default and -m {model} both name the tokenizer" in message
    assert not target.exists()
    assert f"remove {text}" in error_of("info", text, "-m", model, code=2)
    run("convert", "-m", model, target)
    run("convert", "-m", "default", target, "--overwrite")
    assert polytok.load(target).vocab_size == 32768


def test_the_target_of_a_conversion_can_stand_in_two_places(model: Path, tmp_path: Path) -> None:
    for number, arguments in enumerate(
        ((model, "{}"), (model, "-o", "{}"), ("-m", model, "{}"), ("-m", model, "-o", "{}"))
    ):
        target = tmp_path / f"{number}.ptok"
        run("convert", *(str(target) if argument == "{}" else argument for argument in arguments))
        assert polytok.load(target).vocab_size == 320
    assert "no file to write" in error_of("convert", model, code=2)


def test_notes_of_a_conversion_name_flags(tmp_path: Path) -> None:
    minbpe = tmp_path / "a.model"
    run("convert", "default", minbpe, "--to", "minbpe")
    notes = run("convert", minbpe, tmp_path / "a.gguf").decode()
    assert "train with --eos to name a token" in notes


def test_the_name_of_a_file_does_not_contradict_its_format(model: Path, tmp_path: Path) -> None:
    for name, format in (("a.gguf", "ptok"), ("a.json", "gguf"), ("tokenizer.bin", "ptok"), ("a.ptok", "huggingface")):
        assert f"not of --to {format}" in error_of("convert", model, tmp_path / name, "--to", format, code=2)
        assert not (tmp_path / name).exists()
    for name in ("a", "a.bin", "a.txt", "a.new"):
        run("convert", model, tmp_path / name, "--to", "ptok")


# info


def test_info_has_every_field(model: Path) -> None:
    report = json.loads(run("info", "-m", model, "--json"))
    file = described.ModelProto.FromString(model.read_bytes())
    for name in ("trainer_spec", "normalizer_spec", "denormalizer_spec"):
        part = getattr(file, name)
        if not file.HasField(name):
            assert name not in report
            continue
        assert set(report[name]) == {field.name for field in part.DESCRIPTOR.fields}
        for field in part.DESCRIPTOR.fields:
            shown_value = report[name][field.name]
            is_set = bool(getattr(part, field.name)) if field.is_repeated else part.HasField(field.name)
            assert shown_value["set"] == is_set, field.name
            if field.type == field.TYPE_BOOL or field.type == field.TYPE_INT32:
                assert shown_value["value"] == getattr(part, field.name), field.name
    assert report["trainer_spec"]["model_type"] == {"value": "BPE", "set": True}
    assert report["self_test_data"]["samples"] == {"value": [["a dog", "▁a ▁dog"]], "set": True}
    assert "▁a ▁dog" in run("info", "-m", model).decode()
    assert report["vocab"]["user_defined"] == 1
    assert report["vocab"]["byte"] == 256
    assert report["special"]["names"] == {"unk": 0, "bos": 1, "eos": 2}
    assert report["vocab"]["special"] == len(report["special"]["tokens"]) == 2
    assert report["model"]["byte_fallback"] is True and report["model"]["unknown"] == "bytes"
    assert list(report)[:9] == ["file", "lossless", "vocab", "special", "normalize", "split", "model", "post", "decode"]


def test_defaults_are_those_of_sentencepiece() -> None:
    for name, spec in (
        ("trainer_spec", described.TrainerSpec.DESCRIPTOR),
        ("normalizer_spec", described.NormalizerSpec.DESCRIPTOR),
    ):
        known_names = sentencepiece_proto.field_names(name)
        for field in spec.fields:
            our_default = _DEFAULTS[name].get(field.name, known_names[field.name])
            their_default = () if field.is_repeated else field.default_value
            their_default = their_default.encode() if isinstance(their_default, str) else their_default
            assert our_default == pytest.approx(their_default), field.name


def test_info_shows_what_is_lossless(model: Path, ranks: list[str]) -> None:
    report = json.loads(run("info", "-m", model, "--json"))["lossless"]
    assert report["for_text"] is False
    assert [reason["for"] for reason in report["reasons"]] == ["text", "bytes"]
    table = run("info", "-m", model).decode()
    assert "U+2581 is decoded to a space" in table
    assert "(default)" in table
    assert json.loads(run("info", *ranks, "--json"))["lossless"]["for_bytes"] is True
    assert "sha256" in run("info", *ranks).decode()


@pytest.mark.parametrize("order", ["<", ">"])
def test_info_shows_the_metadata_of_a_gguf_file(order: str, tmp_path: Path) -> None:
    rows = [("<unk>", 2, 0.0), ("a", 1, -1.0), ("b", 1, -2.0)]
    keys = gguf_samples.vocabulary("llama", rows, name="x", architecture="llama")
    scalars = {"a.u8": (0, 255), "a.i8": (1, -1), "a.u16": (2, 65535), "a.i16": (3, -2), "a.u32": (4, 4096)}
    scalars |= {"a.i32": (5, -3), "a.f32": (6, 0.1), "a.u64": (10, 2**64 - 1), "a.i64": (11, -4), "a.f64": (12, 0.5)}
    keys |= {key: gguf_samples.Typed(*value) for key, value in scalars.items()}
    keys |= {"a.flag": True, "a.many": list(range(20)), "a.flags": [True, False], "a.bytes": b"\xff\n"}
    path = tmp_path / "a.gguf"
    path.write_bytes(gguf_samples.file(keys, order=order))
    metadata = json.loads(run("info", "-m", path, "--json"))["metadata"]
    assert list(metadata) == list(keys)
    assert {key: metadata[key] for key in scalars} == {key: value for key, (_, value) in scalars.items()}
    assert metadata["a.flag"] is True
    assert metadata["a.many"] == {"length": 20, "first": list(range(12))}
    assert metadata["a.flags"] == {"length": 2, "first": [True, False]}
    assert metadata["tokenizer.ggml.tokens"] == {"length": 3, "first": ["<unk>", "a", "b"]}
    assert metadata["tokenizer.ggml.scores"] == {"length": 3, "first": [0.0, -1.0, -2.0]}
    lines = [line.split(maxsplit=1) for line in run("info", "-m", path).decode().splitlines()]
    assert ["a.u32", "4096"] in lines
    assert ["a.many", "20 items: 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, …"] in lines
    assert ["a.flags", "2 items: yes, no"] in lines
    assert ["a.bytes", "\\xff\\n"] in lines


# vocab


def test_vocab(model: Path, ranks: list[str], tmp_path: Path) -> None:
    tokenizer = polytok.load(model)
    all_lines = run("vocab", "-m", model).decode().split("\n")[:-1]
    assert len(all_lines) == len(tokenizer.spec.vocab)
    assert all_lines[0].split() == ["0", "unknown", "-", "0.0", "<unk>"]
    assert [row.split()[0] for row in run("vocab", "-m", model, "--ids", "1-3,7,319-").decode().splitlines()] == [
        *["1", "2", "3", "7", "319"]
    ]
    assert len(run("vocab", "-m", model, "--kind", "byte").splitlines()) == 256
    matching_lines = run("vocab", "-m", model, "--search", "^▁d", "--kind", "normal").decode().splitlines()
    assert matching_lines
    assert all(row.split()[4].startswith("▁d") for row in matching_lines)
    assert len(run("vocab", "-m", model, "--contains", "@@").splitlines()) == 1
    assert run("vocab", "-m", model, "--contains", "no such piece", code=1) == b""
    assert run("vocab", *ranks, "--kind", "special").split() == [b"256", b"control", b"special", b"-", b"<|end|>"]


def test_vocab_says_why_nothing_is_selected(model: Path, ranks: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    messages = {
        ("--ids", "7000"): "no entry is selected: the largest id is 319",
        ("--contains", "␣dog"): "no entry is selected: columns show a space as ␣, but it is written '▁dog' here",
        ("--search", "no such piece"): "no entry is selected",
        ("--merges", "--search", "no such piece"): "no merge is selected",
    }
    for options, message in messages.items():
        assert main(["vocab", str(model), *options]) == 1
        assert capsys.readouterr().err == f"polytok: {message}\n"


def test_vocab_has_one_row_for_each_id(tmp_path: Path) -> None:
    model = {"type": "WordLevel", "vocab": {"<unk>": 0, "<s>": 1, "a": 2}, "unk_token": "<unk>"}
    flags = {"special": True, "single_word": False, "lstrip": False, "rstrip": False, "normalized": False}
    added = [{"id": id, "content": text, **flags} for id, text in ((0, "<unk>"), (1, "<s>"), (3, "<b>"))]
    (tmp_path / "tokenizer.json").write_text(json.dumps({"model": model, "added_tokens": added}))
    rows = [line.split() for line in run("vocab", "-m", tmp_path / "tokenizer.json").decode().splitlines()]
    assert rows == [
        ["0", "unknown", "special", "<unk>"],
        ["1", "control", "special", "<s>"],
        ["2", "normal", "-", "a"],
        ["3", "control", "special", "<b>"],
    ]


def test_vocab_lists_merges(model: Path) -> None:
    merges = polytok.load(model).merges()
    head, *lines = run("vocab", "-m", model, "--merges", "--to", "tsv").decode().splitlines()
    assert head.split("\t") == ["rank", "id", "score", "left", "right", "piece"]
    assert "merges have no kind" in error_of("vocab", "-m", model, "--merges", "--kind", "normal", code=2)
    assert [line.split("\t")[:3] for line in lines] == [[str(m.rank), str(m.id), str(m.score)] for m in merges]
    assert json.loads(run("vocab", "-m", model, "--merges", "--ids", str(merges[0].id), "--json")) == [
        {
            **merges[0]._asdict(),
            **{name: getattr(merges[0], name).decode() for name in ("left", "right", "piece")},
        }
    ]


def test_vocab_without_merges(tmp_path: Path) -> None:
    (tmp_path / "vocab.txt").write_bytes(b"1 'a' 1\n2 'b' 1\n")
    assert "has no merges: its model is Longest" in error_of("vocab", "-m", tmp_path / "vocab.txt", "--merges", code=2)


def test_vocab_never_used(ranks: list[str], tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(bytes(range(2, 256)) + b"<|end|>")
    (tmp_path / "b.jsonl").write_text('{"body": "\\u0001"}\n')
    rows = run("vocab", *ranks, "--never-used", tmp_path, "--field", "body").split(b"\n")
    assert [row.split()[0] for row in rows[:-1]] == [b"0"]
    assert run("vocab", *ranks, "--never-used", "--text", "ab", "--ids", "97-99").split()[0] == b"99"
    record = tmp_path / "b.jsonl"
    assert run("vocab", *ranks, "--never-used", "--field", "body", record, "--ids", "1-2").split()[0] == b"2"
    polytok.train(["a"], vocab_size=256).save(tmp_path / "tokenizer.json")
    model = tmp_path / "tokenizer.json"
    expected = run("vocab", "-m", model, "--never-used", record, "--field", "body")
    assert run("vocab", model, "--never-used", record, "--field", "body") == expected
    assert run("vocab", model, "--never-used", "--field", "body", record) == expected
    assert run("vocab", model, record, "--field", "body", "--never-used") == expected
    assert "add --never-used" in error_of("vocab", model, record, code=2)
    assert run("vocab", *ranks, "--never-used", "--ids", "97-99", stdin=b"ab").split()[0] == b"99"


def test_vocab_export(ranks: list[str], model: Path, tmp_path: Path) -> None:
    rows = [json.loads(line) for line in run("vocab", *ranks, "--to", "jsonl").splitlines()]
    pieces = [piece if isinstance(piece, list) else list(piece.encode()) for piece in (row["piece"] for row in rows)]
    assert pieces == [*([byte] for byte in range(256)), list(b"<|end|>")]
    tsv = list(csv.reader(run("vocab", "-m", model, "--to", "tsv").decode().splitlines(), delimiter="\t"))
    vocab = polytok.load(model).spec.vocab
    assert tsv[0] == ["id", "kind", "special", "score", "rank", "piece"]
    assert [np.float32(row[3]) for row in tsv[1:]] == vocab.scores.tolist()
    for name in ("vocab.jsonl", "vocab.tsv", "vocab.csv", "vocab.json"):
        assert run("vocab", "-m", model, "-o", tmp_path / name) == b""
    assert json.loads((tmp_path / "vocab.jsonl").read_text().splitlines()[0])["kind"] == "unknown"
    assert list(csv.reader((tmp_path / "vocab.tsv").read_text().splitlines(), delimiter="\t")) == tsv
    assert list(csv.reader((tmp_path / "vocab.csv").read_text().splitlines())) == tsv
    assert len(json.loads((tmp_path / "vocab.json").read_text())) == len(tsv) - 1


def test_every_row_of_a_tsv_vocabulary_is_read(tmp_path: Path) -> None:
    run("vocab", "-o", tmp_path / "default.tsv")
    with open(tmp_path / "default.tsv", newline="") as file:
        ids = [int(row["id"]) for row in csv.DictReader(file, delimiter="\t")]
    assert ids == polytok.load("default").vocab().ids.tolist()
    errors = error_of("vocab", "-o", tmp_path / "default.xlsx", code=2)
    assert "has none of the suffixes .csv, .tsv, .json, .jsonl, .ndjson" in errors


def test_the_folder_of_a_model_is_a_tokenizer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, text in {"prompts/a.md": "the dog", "m1/README.md": "a model", "mixed/a.txt": "a text"}.items():
        Path(name).parent.mkdir()
        Path(name).write_text(text)
    tokenizer = polytok.train(["the dog"], vocab_size=258)
    for name in ("m1/tokenizer.json", "mixed/tokenizer.json"):
        tokenizer.save(name)
    assert run("encode", "m1", "prompts") == run("encode", "-m", "m1", "prompts") != run("encode", "prompts")
    assert "m1 is the folder of a tokenizer: to encode texts with it, use -m m1" in error_of("count", "m1")
    assert "m1 is a tokenizer, not a text: name a tokenizer with -m m1" in error_of("count", "prompts", "m1")
    assert b"mixed/a.txt" in run("count", "mixed", "prompts")


def test_a_misspelt_name_of_a_tokenizer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.txt").write_text("a")
    for arguments in (["a.txt"], ["--text", "x"], []):
        error = error_of("encode", "defualt", *arguments)
        assert "defualt: no such file, and no vocabulary has this name; did you mean 'default'?" in error
    assert "did you mean 'a.txt'?" in error_of("encode", "a.tx")
    for arguments in (["encode", "-m", ""], ["info", ""]):
        assert "--model is empty: name a tokenizer file, a folder, or 'default'" in error_of(*arguments)


def test_a_folder_with_two_rank_files(tmp_path: Path) -> None:
    for name in ("a.tiktoken", "b.tiktoken"):
        (tmp_path / name).write_text("YQ== 0\n")
    assert "has 2 tiktoken files, a.tiktoken, b.tiktoken: name one of them" in error_of("info", str(tmp_path))
