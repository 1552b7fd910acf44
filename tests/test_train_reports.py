"""Tests what `polytok train`, `convert` and `doctor` report first, and their exit codes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import polytok
from polytok.__main__ import main
from polytok.convert import convert
from polytok.formats import llama2c
from polytok.pattern_advice import better_pattern, changes_texts

EVERYTHING = "kept: everything; 452 of 452 texts have the same ids"
HINDI = "हिन्दी क्षत्रिय भाषा में हिन्दी के शब्द और क्षत्रिय " * 3


@pytest.fixture
def hindi(tmp_path: Path) -> str:
    path = tmp_path / "hindi.txt"
    path.write_text(HINDI)
    return str(path)


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    code = main([str(argument) for argument in arguments])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_train_suggests_a_pattern_that_gguf_keeps(
    hindi: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "m.gguf"
    code, report, _ = run(capsys, "train", hindi, "--vocab-size", 280, "-o", out)
    assert code == 1 and "because gguf splits text in Devanagari" in report
    assert "differently; train with --pattern qwen35, which keeps all ids and texts\n" in report
    assert "\n  byte " in report and "\n    trained  " in report, "the first difference is shown"
    arguments = ("train", hindi, "--vocab-size", 280, "-o", out, "--overwrite", "--pattern")
    code, report, _ = run(capsys, *arguments, "qwen35")
    same_texts = "452 of 452 texts have the same ids and decode to the same texts"
    assert code == 0 and report.startswith(f"{out}: 280 entries; {same_texts}\n")
    code, report, _ = run(capsys, *arguments, "llama3")
    cure = "some texts are decoded differently; train with --pattern qwen2, which keeps all ids and texts"
    assert code == 0 and report.startswith(f"{out}: 280 entries; 452 of 452 texts have the same ids; {cure}\n")
    out.unlink()
    code, _, errors = run(capsys, "train", hindi, "--vocab-size", 280, "--strict", "-o", out)
    assert code == 1 and "cannot carry all of this tokenizer" in errors and not out.exists()


def test_train_notes_what_llama_cpp_does_without_eos(
    hindi: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ("train", hindi, "--vocab-size", 280, "--pattern", "llama3", "-o", tmp_path / "m.gguf")
    note = "llama.cpp ends a text at its default id 11, which is b'\\x0b'; train with --eos to name a token\n"
    assert note in run(capsys, *arguments)[1]
    assert "  note:" not in run(capsys, *arguments, "--eos", "<|endoftext|>")[1]


def test_no_pattern_is_suggested_if_none_helps() -> None:
    assert better_pattern(polytok.train([HINDI], vocab_size=280, pattern=None), "gguf") is None


def test_train_reports_json(hindi: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    outputs = ("-o", tmp_path / "m.gguf", "-o", tmp_path / "tokenizer.json")
    code, report, _ = run(capsys, "train", hindi, "--vocab-size", 280, *outputs, "--json")
    gguf, huggingface = json.loads(report)["files"]
    assert code == 1 and (gguf["better_pattern"], gguf["kept_everything"]) == ("qwen35", False)
    assert gguf["same_ids"] == gguf["texts"] - len(gguf["divergences"]) < 452
    assert (huggingface["summary"], huggingface["same_ids"]) == (EVERYTHING, 452)
    assert run(capsys, "train", hindi, "--vocab-size", 280, *outputs, "--json", "--verbose")[0] == 2


def test_a_reference_export_is_no_alarm(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text, model, out = tmp_path / "a.txt", tmp_path / "m.model", tmp_path / "tokenizer.bin"
    text.write_text("Once upon a time some little cats sat on mats.\n" * 4)
    options = ("--kind", "sentencepiece-bpe", "--profile", "llama2c", "--vocab-size", 290)
    code, report, _ = run(capsys, "train", text, *options, "-o", out, "-o", model)
    assert code == 0 and report == (
        f"{out}: 290 entries; the same bytes as llama2c's own export\n{model}: 290 entries; {EVERYTHING}\n"
    )
    code, report, _ = run(capsys, "convert", model, out, "--overwrite")
    assert code == 0 and report.startswith(f"{out}: the same bytes as llama2c's own export\n")
    assert "\nlost" not in report and "llama2c itself differs from sentencepiece" in report
    code, report, _ = run(capsys, "convert", out, tmp_path / "copy.bin")
    assert code == 0 and report.splitlines()[0] == f"{tmp_path / 'copy.bin'}: the same bytes"
    assert len(report.splitlines()) == 2
    assert convert(polytok.load(out), llama2c.name).keeps_everything


def test_unigram_reads_lines(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words, out = tmp_path / "words.txt", tmp_path / "m.model"
    words.write_text("".join(f"word{number % 997}\n" for number in range(30_000)))
    options: dict[str, Any] = {"kind": "unigram", "vocab_size": 400, "hard_vocab_limit": False}
    by_lines = polytok.train(words, lines=True, **options)
    assert polytok.train(words, **options).fingerprint == by_lines.fingerprint
    counts = polytok.count_words(words, "unigram")
    assert polytok.train(counts, **options).fingerprint == by_lines.fingerprint
    with pytest.raises(polytok.errors.ArgumentError, match="with lines=True, each line"):
        polytok.train(words, sentences="texts", **options)
    arguments = ("train", words, "--kind", "unigram", "--vocab-size", 400, "--no-hard-vocab-limit")
    assert run(capsys, *arguments, "-o", out)[0] == 0
    code, _, errors = run(capsys, *arguments, "-o", tmp_path / "m.gguf")
    assert code == 2 and "llama.cpp's Unigram has no byte fallback; train with --no-byte-fallback" in errors
    run(capsys, *arguments, "--no-byte-fallback", "-o", tmp_path / "m.gguf")
    assert polytok.load(tmp_path / "m.gguf").spec.names == {"unk": 0, "bos": 1, "eos": 2}


def test_doctor_reports_texts_with_the_same_ids(capsys: pytest.CaptureFixture[str]) -> None:
    code, report, _ = run(capsys, "doctor", "default", "--against", "default", "--text", "a b")
    assert (code, report) == (0, "1 of 1 texts have the same ids\nnothing found\n")
    assert json.loads(run(capsys, "doctor", "default", "--against", "default", "--json")[1])["compared"] == 452


def test_tokenize_lists_special_tokens_if_none_is_eos(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text, model = tmp_path / "a.txt", tmp_path / "m.ptok"
    text.write_text("low lower lowest newer newest")
    for options, message in (
        ((), "the vocabulary names no eos and has no special tokens: train with --eos '<|endoftext|>'"),
        (("--special-tokens", "<a>"), "its special tokens are '<a>' (id 259): give one, such as --eos '<a>'"),
    ):
        assert run(capsys, "train", text, "--vocab-size", 260, *options, "-o", model, "--overwrite")[0] == 0
        code, _, errors = run(capsys, "tokenize", text, "-m", model, "--eos", "-o", tmp_path / "out")
        assert code == 2 and message in errors
    code, _, errors = run(capsys, "tokenize", text, "-m", model, "--eos", "<b>", "-o", tmp_path / "out")
    assert code == 2 and "--eos '<b>' is not a piece of the vocabulary; its special tokens are '<a>' (id 259)" in errors


@pytest.mark.parametrize(
    ("eos", "message"),
    [
        (True, "eos=True names no token: write eos='auto' for the eos of the vocabulary"),
        ("<|endoftxt|>", "tokens are '<|endoftext|>' (id 32767); did you mean '<|endoftext|>'?"),
        ("Ġthe", "write ' the', because the pieces of this vocabulary are the text itself; its special tokens are"),
        (10**6, "eos=1000000 is not an id of the vocabulary; its special tokens are '<|endoftext|>' (id 32767)"),
    ],
)
def test_a_wrong_eos_lists_the_special_tokens(tmp_path: Path, eos: Any, message: str) -> None:
    (tmp_path / "a.txt").write_text("a")
    with pytest.raises(polytok.ArgumentError) as error:
        polytok.corpus.tokenize(tmp_path / "a.txt", "default", tmp_path / "out", eos=eos)
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("function", "keywords", "message"),
    [
        (polytok.train, {"vocabsize": 300}, "train() has no keyword argument 'vocabsize'; did you mean 'vocab_size'?"),
        (polytok.train, {"n_vocab": 300}, "did you mean 'vocab_size'?"),
        (polytok.train, {}, "missing 1 required keyword-only argument: 'vocab_size'"),
        (polytok.train, {"vocab_size": 300, "processes": 2}, "did you mean 'threads'?"),
        (polytok.train, {"vocab_size": 300, "model_type": "bpe"}, "did you mean 'kind'?"),
        (polytok.load("default").encode_batch, {"workers": 2}, "did you mean 'threads'?"),
    ],
)
def test_keywords_of_other_packages(function: Any, keywords: dict[str, Any], message: str) -> None:
    with pytest.raises((TypeError, polytok.ArgumentError)) as error:
        function(["a b"], **keywords)
    assert message in str(error.value)


TEXTS = {
    "english": "It's the first time, isn't it ? 12 345 words , and ' quoted ' ones .\n",
    "hindi": HINDI,
    "chinese": "所有人类成员的固有尊严及其平等的权利，乃是世界自由、正义与和平的基础 。2026年 ！\n",
}


@pytest.mark.parametrize("language", TEXTS)
@pytest.mark.parametrize("pattern", ["o200k", "llama3", "gpt2"])
def test_a_suggested_pattern_keeps_ids_and_texts(language: str, pattern: str) -> None:
    texts = [TEXTS[language]] * 9
    tokenizer = polytok.train(texts, vocab_size=270, pattern=pattern)
    if not changes_texts(convert(tokenizer, "gguf")):
        return
    name = better_pattern(tokenizer, "gguf")
    assert name in ("qwen2", "qwen35")
    better_tokenizer = polytok.train(texts, vocab_size=270, pattern=name)
    for conversion in (convert(better_tokenizer, "gguf"), convert(better_tokenizer, "gguf", texts=TEXTS.values())):
        assert not conversion.divergences and not conversion.decodes_differently
