"""Tests ``polytok train`` and ``polytok count-words``."""

from __future__ import annotations

import argparse
import gzip
import io
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

import polytok
from cli_process import ENVIRONMENT, command
from polytok.cli import kind_options, main, targets
from polytok.formats import detect
from polytok.training import KINDS, Kind, kind_named
from polytok.training.sentencepiece.options import resolve_options

EVERYTHING = "kept: everything; 452 of 452 texts have the same ids"
WORDS = "low lower lowest new newer newest wide wider widest " * 20

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """Returns a function that runs the command and returns its exit code, standard output and standard error."""

    def run(*arguments: str | Path, stdin: bytes = b"") -> tuple[int, str, str]:
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        try:
            code = main([str(argument) for argument in arguments])
        except SystemExit as ended:
            code = int(ended.code or 0)
        return code, *capsys.readouterr()

    return run


@pytest.fixture
def words(tmp_path: Path) -> Path:
    path = tmp_path / "words.txt"
    path.write_text(WORDS)
    return path


def test_every_form_of_input_trains_the_same(tmp_path: Path, words: Path, run: Run) -> None:
    (tmp_path / "words.jsonl.gz").write_bytes(gzip.compress(json.dumps({"a": {"b": WORDS}}).encode()))
    sized = ("--vocab-size", "270", "--to", "minbpe")
    first_path, second_path, third_path = (tmp_path / name for name in ("one", "two", "three"))
    assert run("train", words, *sized, "-o", first_path) == (0, f"{first_path}: 270 entries; {EVERYTHING}\n", "")
    field = ("--field", "a.b", "--threads", "1", "--max-memory", "16M")
    assert run("train", tmp_path / "words.jsonl.gz", *field, *sized, "-o", second_path)[0] == 0
    assert run("train", "-", *sized, "-o", third_path, stdin=WORDS.encode())[0] == 0
    assert first_path.read_bytes() == second_path.read_bytes() == third_path.read_bytes()
    assert polytok.load(first_path).vocab_size == 270


def test_the_options_of_a_kind(tmp_path: Path, words: Path, run: Run) -> None:
    assert "--min-frequency" in run("train", "--kind", "bpe", "--help")[1]
    out = tmp_path / "tokenizer.json"
    special = ("--special-tokens", "<a>", "--special-tokens", "<b>")
    assert run("train", words, "--trainer=huggingface", *special, "--vocab-size", "270", "-o", out)[0] == 0
    spec = polytok.train([WORDS], kind="bpe", trainer="huggingface", special_tokens=["<a>", "<b>"], vocab_size=270)
    assert polytok.load(out).encode(WORDS) == spec.encode(WORDS)
    assert polytok.load(out).encode("<a>", special="all") == spec.encode("<a>", special="all")
    code, _, errors = run("train", words, "--trainer", "none", "--vocab-size", "270", "-o", out)
    assert code == 2 and "trainer" in errors


def test_every_kind_lists_its_options(run: Run) -> None:
    for kind in KINDS:
        code, output, _ = run("train", "--kind", kind.name, "--help")
        assert code == 0 and f"options of {kind.name}" in output


@pytest.mark.parametrize("profile", ["lossless", "sentencepiece", "llama2c"])
def test_shown_defaults_are_those_of_the_profile(profile: str, run: Run) -> None:
    resolved = replace(resolve_options({"vocab_size": 300, "profile": profile}, "unigram")[0], profile="lossless")
    parser = argparse.ArgumentParser()
    kind_options.add_options(parser, kind_named("unigram"), profile=profile)
    checked_names = []
    for action in parser._actions:
        value = getattr(resolved, action.dest.removeprefix("kind_"), None)
        if isinstance(value, (bool, int, float)) or (isinstance(value, str) and value):
            shown = repr(value) if str(value) != str(value).strip() else str(value)
            assert (action.help or "").endswith(f"; default {shown}")
            checked_names.append(action.dest)
    assert {"kind_byte_fallback", "kind_sentences", "kind_profile"} <= set(checked_names)
    _, output, _ = run("train", "--kind", "unigram", "--profile", profile, "--help")
    assert f"256 pieces; default {resolved.byte_fallback}" in " ".join(output.split())


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_every_option_of_a_kind_has_a_description(kind: Kind) -> None:
    parser = argparse.ArgumentParser()
    kind_options.add_options(parser, kind)
    descriptions = {action.dest: action.help or "" for action in parser._actions}
    assert not [name for name, text in descriptions.items() if not text or text.startswith(("default", "can be"))]


def test_every_kind_can_be_written_as_ptok() -> None:
    for kind in KINDS:
        assert targets.choose_formats(["a.ptok"], [], kind.name, {}) == ["ptok"]


def test_wrong_arguments_are_reported_before_training(tmp_path: Path, words: Path, run: Run) -> None:
    out = tmp_path / "a.ptok"
    for expected, arguments in [
        ("{size}", (words, "--vocab-size", "270,280", "-o", out)),
        ("is not a folder", (words, "--vocab-size", "270", "-o", words / "folder" / "a.ptok")),
        ("one format for each output", (words, "--vocab-size", "270", *["--to", "ptok"] * 3, *["-o", out] * 2)),
        ("needs --vocab-size", (words, "-o", out)),
        ("512M", (words, "--max-memory", "much", "-o", out)),
    ]:
        code, _, errors = run("train", *arguments)
        assert code == 2 and expected in errors
    code, _, errors = run("train", tmp_path / "absent", "--vocab-size", "270", "-o", out)
    assert code == 2 and "cannot read" in errors
    assert not out.exists()


def test_the_format_is_chosen_before_training(tmp_path: Path, run: Run) -> None:
    """Tests unknown formats with a text file that does not exist."""
    for expected, out, kind, options in [
        ("--to minbpe or --to tiktoken", "m.model", "bpe", ()),
        ("does not select a format: choose --to huggingface", "vocab.json", "bpe", ()),
        ("does not select a format: choose --to huggingface", "out.tok", "bpe", ()),
        ("choose --to sentencepiece", "out", "char", ()),
        ("a rwkv or wordpiece file, and --kind bpe cannot", "v.txt", "bpe", ()),
        ("is a folder", ".", "bpe", ()),
        ("cannot be written as huggingface: choose --to rwkv", "a", "longest-match", ("--to", "huggingface")),
        ("not of --to huggingface: change the name", "a.gguf", "bpe", ("--to", "huggingface")),
        ("cannot be written as minbpe", "a", "bpe", ("--to=minbpe", "--trainer=huggingface")),
        ("cannot be written as huggingface: Oniguruma", "a.json", "bpe", ("--pattern", r"\w+")),
        ("cannot be written as gguf", "a.gguf", "bpe", ("--pattern", "whitespace")),
    ]:
        arguments = ("--kind", kind, *options, "--vocab-size", "300", "-o", tmp_path / out)
        code, _, errors = run("train", tmp_path / "absent.txt", *arguments)
        assert code == 2 and expected in errors
    assert "'abc' is not a size" in run("train", "absent.txt", "--vocab-size", "abc", "-o", tmp_path / "a.ptok")[2]


def test_the_format_implied_by_a_name(tmp_path: Path, words: Path, run: Run) -> None:
    for out, kind, options, format in [
        ("m.model", "sentencepiece-bpe", (), "sentencepiece"),
        ("m.model", "bpe", ("--trainer", "minbpe"), "minbpe"),
        ("x.json", "bpe", (), "huggingface"),
        ("x.json", "wordpiece", (), "huggingface"),
        ("v.txt", "wordpiece", (), "wordpiece"),
        ("vocab.txt", "longest-match", ("--min-count", "2"), "rwkv"),
    ]:
        size = "275" if kind.startswith("sentencepiece") else "262"
        arguments = ("--kind", kind, *options, "--vocab-size", size, "-o", tmp_path / out, "--overwrite")
        assert run("train", words, *arguments)[0] == 0
        assert detect((tmp_path / out).read_bytes()).name == format


def test_all_formats_of_a_kind_are_accepted(tmp_path: Path, words: Path, run: Run) -> None:
    for kind, options, formats in [
        ("bpe", (), ("huggingface", "minbpe", "tiktoken", "tekken", "gguf", "ptok")),
        ("bpe", ("--special-tokens", "<a>"), ("huggingface", "minbpe", "tiktoken", "gguf", "ptok")),
        ("bpe", ("--special-tokens", '{"<a>": 400}'), ("huggingface", "minbpe", "ptok")),
        ("bpe", ("--trainer", "huggingface"), ("huggingface", "tiktoken", "gguf", "ptok")),
        ("bpe", ("--trainer", "huggingface", "--no-byte-level"), ("huggingface", "ptok")),
        ("wordpiece", (), ("huggingface", "wordpiece", "gguf", "ptok")),
    ]:
        outputs = [word for format in formats for word in ("--to", format, "-o", str(tmp_path / format))]
        code, _, errors = run("train", words, "--kind", kind, *options, "--vocab-size", "260", *outputs, "--overwrite")
        has_bytes = kind == "bpe" and "--no-byte-level" not in options
        assert code == 0 and ("the texts allow" in errors) == (not has_bytes)


def test_all_outputs_are_written_or_none(tmp_path: Path, words: Path, run: Run) -> None:
    outputs = ("-o", tmp_path / "a.ptok", "-o", tmp_path / "a.bin", "--strict")
    code, _, errors = run("train", words, "--kind", "sentencepiece-bpe", "--vocab-size", "280", *outputs)
    assert code == 1 and "llama2c" in errors
    assert list(tmp_path.iterdir()) == [words]


def test_skipped_texts_are_reported(tmp_path: Path, run: Run) -> None:
    path = tmp_path / "texts.jsonl"
    path.write_text('{"text": "to be"}\n{"txt": ""}\n')
    arguments = ("train", path, "--vocab-size", "258", "-o", tmp_path / "a.ptok")
    assert "texts.jsonl:2" in run(*arguments)[2]
    code, _, errors = run(*arguments, "--bad-records", "skip")
    assert code == 0
    assert errors == f"polytok: 1 text was skipped\n  no field 'text': 1, e.g. at {path}:2\n"


def test_counts_of_many_machines(tmp_path: Path, run: Run) -> None:
    texts = [f"{WORDS} {number}" for number in range(3)]
    for number, text in enumerate(texts):
        (tmp_path / f"{number}.txt").write_text(text)
        assert run("count-words", tmp_path / f"{number}.txt", "-o", tmp_path / f"{number}.counts") == (0, "", "")
    run("count-words", "--merge", *(tmp_path / f"{number}.counts" for number in range(3)), "-o", tmp_path / "counts")
    for name, inputs in (
        ("a", ["counts"]),
        ("b", ["0.counts", "1.counts", "2.counts"]),
        ("c", ["0.txt", "1.txt", "2.txt"]),
    ):
        paths = [tmp_path / input_name for input_name in inputs]
        assert run("train", *paths, "--vocab-size", "270", "--to", "minbpe", "-o", tmp_path / name)[0] == 0
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes() == (tmp_path / "c").read_bytes()
    mixed_arguments = (
        "train",
        tmp_path / "counts",
        tmp_path / "0.txt",
        "--vocab-size",
        "270",
        "-o",
        tmp_path / "d.ptok",
    )
    assert "files of counts and files of texts" in run(*mixed_arguments)[2]


def test_ctrl_c_leaves_no_files(tmp_path: Path) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    arguments = ("count-words", "-", "--max-memory", "16M", "-o", tmp_path / "counts")
    process = subprocess.Popen(
        command(*arguments),
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**ENVIRONMENT, "TMPDIR": str(temporary)},
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # a background job would ignore the signal
    )
    assert process.stdin is not None
    for start in range(0, 2_000_000, 50_000):
        process.stdin.write(b" ".join(b"%d" % number for number in range(start, start + 50_000)))
    process.stdin.flush()
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert (process.returncode, errors) == (130, b"")
    assert list(tmp_path.iterdir()) == [temporary] and not list(temporary.iterdir())


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_the_bar_is_in_a_terminal_only(tmp_path: Path, words: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    arguments = ("train", words, "--vocab-size", "270", "-o", tmp_path / "a.ptok", "--overwrite")
    assert run(*arguments)[2] == ""
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    assert run(*arguments, "--quiet")[0] == 0 and terminal.getvalue() == ""
    assert run(*arguments)[0] == 0 and "reading [" in terminal.getvalue()


def test_options_that_cannot_be_combined_with_counts(tmp_path: Path, words: Path, run: Run) -> None:
    counts, out = tmp_path / "a.counts", tmp_path / "out.ptok"
    assert run("count-words", words, "-o", counts)[0] == 0
    for expected, arguments in [
        ("--merge", ("count-words", counts)),
        ("options of reading", ("count-words", "--merge", counts, "--lines")),
        ("--min-frequency", ("count-words", words, "--min-frequency", "2")),
        ("--lines has an effect only on texts", ("train", counts, "--vocab-size", "270", "--lines")),
        ("file of counts", ("train", "-", "--vocab-size", "270")),
    ]:
        code, _, errors = run(*arguments, "-o", out, stdin=counts.read_bytes())
        assert code == 2 and expected in errors
    arguments = ("train", f"{tmp_path}/*.counts", "--vocab-size", "270", "--to", "minbpe")
    assert run(*arguments, "-o", tmp_path / "out.model")[0] == 0


def test_inputs_from_a_list_and_between_separators(tmp_path: Path, run: Run) -> None:
    for name, text in (("a.txt", "to be\n\n\n"), ("b.txt", "or not\n\n\nto be")):
        (tmp_path / name).write_text(text)
    (tmp_path / "list").write_text(f"{tmp_path}/b.txt\n")
    counts = tmp_path / "counts"
    arguments = ("count-words", tmp_path / "a.txt", "--files-from", tmp_path / "list", "-o", counts)
    assert run(*arguments, "--separator", r"\n\n\n", "--pattern", r"(?s:.+)") == (0, "", "")
    words = polytok.Counts.load(counts).words("most_frequent").to_list()
    assert words == [(b"to be", 2), (b"or not", 1)]
    wrongs = (
        (("--workers", "2"), "no input"),
        (("a", "--lines", "--separator", "x"), "not allowed"),
        (("a", "--separator", r"\x"), "escape"),
    )
    for invalid_arguments, message in wrongs:
        code, _, errors = run("count-words", *invalid_arguments, "-o", counts, "--overwrite")
        assert code != 0 and message in errors


def test_files_are_the_same_in_every_process(tmp_path: Path) -> None:
    """Tests two processes in which sets of texts have different orders."""
    program = (
        "import sys, hashlib, polytok\n"
        "texts = ['to be or not to be', 'what the other texts are about', 'höher 漢字']\n"
        "options = dict(character_coverage=0.99, max_sentencepiece_length=9, hard_vocab_limit=False, vocab_size=300)\n"
        "kinds = {'bpe': {}, 'wordpiece': {}, 'longest-match': {}, 'sentencepiece-bpe': options}\n"
        "for kind, options in {**kinds, 'word': options}.items():\n"
        "    made = polytok.train(texts, kind, **{'vocab_size': 262, **options})\n"
        "    made.save(sys.argv[1])\n"
        "    print(kind, hashlib.sha256(open(sys.argv[1], 'rb').read()).hexdigest())\n"
    )
    outputs = [
        subprocess.run(
            [sys.executable, "-W", "ignore", "-c", program, str(tmp_path / f"{seed}.ptok")],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2", "3")
    ]
    assert len(outputs[0].splitlines()) == 5 and outputs[0] == outputs[1] == outputs[2]
