"""``polytok train`` and ``polytok count-words``, as processes of their own."""

from __future__ import annotations

import gzip
import json
import os
import pty
import signal
import subprocess
import time
from pathlib import Path

import pytest

import polytok
from test_cli import ENVIRONMENT, command, error_of, run

WORDS = "low lower lowest new newer newest wide wider widest " * 20


@pytest.fixture
def words(tmp_path: Path) -> Path:
    path = tmp_path / "words.txt"
    path.write_text(WORDS)
    return path


def test_every_form_of_input_trains_the_same(tmp_path: Path, words: Path) -> None:
    (tmp_path / "words.jsonl.gz").write_bytes(gzip.compress(json.dumps({"a": {"b": WORDS}}).encode()))
    run("train", words, "--vocab-size", "270", "--to", "minbpe", "-o", tmp_path / "one")
    run(
        *("train", tmp_path / "words.jsonl.gz", "--field", "a.b", "--vocab-size", "270", "--to", "minbpe"),
        *("-o", tmp_path / "two", "--threads", "1", "--max-memory", "16M"),
    )
    run("train", "-", "--vocab-size", "270", "--to", "minbpe", "-o", tmp_path / "three", stdin=WORDS.encode())
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes() == (tmp_path / "three").read_bytes()
    assert polytok.load(tmp_path / "one").vocab_size == 270


def test_the_options_of_a_kind(tmp_path: Path, words: Path) -> None:
    assert b"--min-frequency" in run("train", "--kind", "bpe", "--help")
    out = tmp_path / "tokenizer.json"
    special = ("--special-tokens", "<a>", "--special-tokens", "<b>")
    run("train", words, "--kind", "bpe", "--ties=huggingface", *special, "--vocab-size", "270", "-o", out)
    trained = polytok.train([WORDS], kind="bpe", ties="huggingface", special_tokens=["<a>", "<b>"], vocab_size=270)
    assert polytok.load(out).encode(WORDS) == trained.encode(WORDS)
    assert polytok.load(out).encode("<a>", special="all") == trained.encode("<a>", special="all")
    assert "ties" in error_of("train", words, "--ties", "none", "--vocab-size", "270", "-o", out, code=2)


def test_wrong_arguments_are_told_before_the_work(tmp_path: Path, words: Path) -> None:
    given = ("train", words, "--vocab-size")
    assert "{size}" in error_of(*given, "270,280", "-o", tmp_path / "a.model", code=2)
    assert "no folder" in error_of(*given, "270", "-o", tmp_path / "absent" / "a", code=2)
    assert "one format for each" in error_of(*given, "270", *["--to", "ptok"] * 3, *["-o", tmp_path / "a"] * 2, code=2)
    assert "needs vocab_size" in error_of("train", words, "-o", tmp_path / "a.ptok", code=2)
    assert "512M" in error_of("train", words, "--max-memory", "much", "-o", tmp_path / "a.ptok", code=2)
    assert "cannot read" in error_of("train", tmp_path / "absent", "--vocab-size", "270", "-o", tmp_path / "a.ptok")


def test_what_is_left_out_is_told(tmp_path: Path) -> None:
    path = tmp_path / "texts.jsonl"
    path.write_text('{"text": "to be"}\n{"txt": ""}\n')
    given = ("train", path, "--vocab-size", "258", "-o", tmp_path / "a.ptok")
    assert "texts.jsonl:2" in error_of(*given)
    done = subprocess.run(command(*given, "--skip-broken"), capture_output=True, env=ENVIRONMENT, timeout=60)
    assert (done.returncode, done.stderr.decode().splitlines()) == (
        0,
        ["polytok: 1 text was left out", f"  no field 'text': 1, e.g. at {path}:2"],
    )


def test_counts_of_many_machines(tmp_path: Path) -> None:
    texts = [f"{WORDS} {number}" for number in range(3)]
    for number, text in enumerate(texts):
        (tmp_path / f"{number}.txt").write_text(text)
        run("count-words", tmp_path / f"{number}.txt", "-o", tmp_path / f"{number}.counts")
    run("count-words", "--merge", *(tmp_path / f"{number}.counts" for number in range(3)), "-o", tmp_path / "counts")
    for name, inputs in (
        ("a", ["counts"]),
        ("b", ["0.counts", "1.counts", "2.counts"]),
        ("c", ["0.txt", "1.txt", "2.txt"]),
    ):
        paths = [tmp_path / each for each in inputs]
        run("train", *paths, "--vocab-size", "270", "--to", "minbpe", "-o", tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes() == (tmp_path / "c").read_bytes()
    mixed = ("train", tmp_path / "counts", tmp_path / "0.txt", "--vocab-size", "270", "-o", tmp_path / "d.ptok")
    assert "do not go together" in error_of(*mixed, code=2)


def test_ctrl_c_leaves_nothing(tmp_path: Path) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    given = ("count-words", "-", "--max-memory", "16M", "-o", tmp_path / "counts")
    process = subprocess.Popen(
        command(*given),
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**ENVIRONMENT, "TMPDIR": str(temporary)},
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # a job in the background would ignore it
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


def test_the_bar_is_in_a_terminal_only(tmp_path: Path, words: Path) -> None:
    given = command("train", words, "--vocab-size", "270", "-o", tmp_path / "a.ptok")
    shown = []
    for extra in ([], ["--quiet"]):
        ours, theirs = pty.openpty()
        process = subprocess.Popen([*given, *extra], stdout=subprocess.DEVNULL, stderr=theirs, env=ENVIRONMENT)
        os.close(theirs)
        try:
            shown.append(os.read(ours, 10_000))
        except OSError:  # the other end is closed
            shown.append(b"")
        process.wait(60)
        os.close(ours)
    assert b"reading [" in shown[0] and shown[1] == b""
