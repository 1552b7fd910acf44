"""Tests the exit codes of all verbs: 0 for done, 1 if the answer is no, 2 if the verb could not do its work."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path

import pytest

from polytok.cli import main
from test_conventions import VERBS

DONE = [
    "encode a.txt",
    "decode ids",
    "count a.txt --max 9",
    "truncate a.txt --max-tokens 1",
    "chunk a.txt --max-tokens 1",
    "chat chat.json --template chat.jinja",
    "info default",
    "vocab --ids 1",
    "stats default --on a.txt",
    "convert default c.json",
    "edit v.txt -o e.txt --to rwkv --add-entry xyz",
    "doctor default",
    "diff default default",
    "tokenize a.txt -q --workers 1 -o tokens2",
    "train a.txt --vocab-size 257 -o t.ptok",
    "count-words a.txt -o counts",
    "fetch default",
    "trace ab",
    "corpus info tokens",
    "corpus show tokens",
    "corpus verify tokens",
    "corpus merge tokens -o merged",
    "corpus mix tokens=1 -q --workers 1 -o mixed",
    "corpus export tokens -o export",
]
NO = [
    "count a.txt --max 1",
    "vocab --contains no-entry-has-this",
    "doctor words.model",
    "doctor one.model --against two.model --text abba",
    "diff one.model two.model --text abba",
    "convert one.model small.tiktoken --strict --to tiktoken",
    "convert default small.model --strict --to minbpe",
    "train a.txt --vocab-size 257 --eos <e> -o t.model --strict --to minbpe",
    "corpus verify damaged",
]
CANNOT = [
    "encode missing.txt",
    "encode -m empty.json a.txt",
    "encode --special no a.txt",
    "decode a.txt",
    "decode missing",
    "count missing.txt",
    "truncate missing.txt --max-tokens 1",
    "truncate a.txt",
    "chunk missing.txt --max-tokens 1",
    "chunk a.txt --max-tokens 0",
    "chat missing.json",
    "chat chat.json",
    "chat a.txt --template chat.jinja",
    "chat chat.json --template missing.jinja",
    "chat chat.json --template refusal.jinja",
    "info missing.json",
    "vocab missing.json",
    "stats missing.json",
    "stats default --on missing.txt",
    "stats default --on a.txt --baseline b",
    "convert missing.json a.ptok",
    "convert default a.jsn",
    "edit v.txt -o e.jsn --add-entry xyz",
    "edit missing.txt -o e.txt",
    "doctor missing.json",
    "diff default missing.json",
    "diff - default",
    "tokenize missing.txt -o out",
    "train missing.txt --vocab-size 257 -o t.ptok",
    "train a.txt --vocab-size 9999 -o t.ptok",
    "count-words missing.txt -o counts",
    "fetch no-such-name",
    "trace ab -m missing.json",
    "trace ab --ids 1",
    "web missing.json",
    "corpus info missing",
    "corpus show missing",
    "corpus verify missing",
    "corpus merge missing -o merged",
    "corpus mix missing=1 -o mixed",
    "corpus export missing -o export",
]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    rows = [f"{byte + 1} {bytes([byte])!r} 1" for byte in range(256)]
    for name, text in {
        "a.txt": "to be",
        "ids": "97 98",
        "chat.json": '[{"role": "user", "content": "Hi"}]',
        "chat.jinja": "{{ messages[0].content }}",
        "refusal.jinja": "{{ raise_exception('no') }}",
        "v.txt": "\n".join([*rows, "257 'the' 3"]) + "\n",
        "empty.json": "",
        "words.model": "minbpe v1\n\\w+\n0\n97 98\n",
        "one.model": "minbpe v1\n\\w+|\\W+\n0\n97 98\n",
        "two.model": "minbpe v1\n\\w+|\\W+\n0\n98 97\n",
    }.items():
        (tmp_path / name).write_text(text)


@pytest.fixture
def datasets(folder: None, tmp_path: Path) -> None:
    for name in ("tokens", "damaged"):
        assert main(["tokenize", "a.txt", "-q", "--workers", "1", "-o", name]) == 0
    next((tmp_path / "damaged").glob("*.bin")).write_bytes(b"")


def code_of(line: str) -> int:
    try:
        return main(line.split())
    except SystemExit as error:
        return int(error.code or 0)


@pytest.mark.parametrize(
    ("line", "code"), [(line, code) for code, lines in enumerate((DONE, NO, CANNOT)) for line in lines]
)
def test_exit_codes(line: str, code: int, datasets: None, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    assert code_of(line) == code
    errors = capsys.readouterr().err
    assert errors if code == 2 else "cannot" not in errors or code == 1


@pytest.mark.parametrize("line", NO)
def test_no_is_a_report_with_json(line: str, datasets: None, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    capfdbinary.readouterr()
    assert code_of(f"{line} --json") == 1
    output = capfdbinary.readouterr()
    report = json.loads(output.out)
    assert report or line.startswith("vocab ")
    if "--strict" in line:
        files = report.get("files", [report])
        assert not output.err and [file["written"] for file in files] == [False]
        assert not any(Path(name).exists() for name in ("small.tiktoken", "small.model", "t.model"))


def test_every_verb_is_tested() -> None:
    verbs = {verb for verb in VERBS if verb and verb != "corpus"}
    for lines in ([*DONE, "web "], CANNOT):  # web ends when it is interrupted: see test_web.py
        assert {verb for verb in verbs if any(line.startswith(f"{verb} ") for line in lines)} == verbs


@pytest.mark.parametrize("verb", sorted(verb for verb in VERBS if verb))
def test_a_wrong_option_is_2(verb: str) -> None:
    assert code_of(f"{verb} --no-such-option") == 2


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
@pytest.mark.parametrize("line", ["--version", "info default"])
def test_a_full_disk_is_2(line: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    full_output = open("/dev/full", "w")  # noqa: SIM115
    monkeypatch.setattr("sys.stdout", full_output)
    assert main(line.split()) == 2
    assert "No space left on device" in capsys.readouterr().err
    with suppress(OSError):
        full_output.close()


def test_a_name_that_selects_no_format_lists_the_formats(capsys: pytest.CaptureFixture[str]) -> None:
    assert code_of("convert default x.jsn") == 2
    message = "polytok: the name x.jsn does not select a format: choose one with --to ptok, sentencepiece, "
    assert capsys.readouterr().err.startswith(message) and not Path("x.jsn").exists()


ODD_FILES = [("", "the file is empty: download or copy it again\n"), ("odd text", "no format recogn")]


@pytest.mark.parametrize(("text", "reason"), ODD_FILES)
def test_errors_name_the_tokenizer_file(text: str, reason: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path("odd.json").write_text(text)
    assert code_of("info odd.json") == 2
    assert capsys.readouterr().err.startswith(f"polytok: odd.json: {reason}")
