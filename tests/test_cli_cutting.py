"""Tests ``polytok truncate`` and ``polytok chunk``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cli_process import error_of, run


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.txt").write_bytes(b"One two three.\nFour five six.\n")
    (tmp_path / "bad.txt").write_bytes(b"\xff\xfe a")
    records = [{"text": "one two three"}, {"text": "one"}]
    (tmp_path / "r.jsonl").write_text("".join(f"{json.dumps(record)}\n" for record in records))


def test_one_text_is_written_unchanged() -> None:
    assert run("truncate", "a.txt", "--max-tokens", "100") == b"One two three.\nFour five six.\n"
    assert run("truncate", "a.txt", "--max-tokens", "2") == b"One two"
    assert run("truncate", "bad.txt", "--max-tokens", "1") == b"\xff"


def test_several_texts_are_lines() -> None:
    assert run("truncate", "a.txt", "--lines", "--max-tokens", "2") == b"One two\nFour\n"
    assert run("truncate", "r.jsonl", "--max-tokens", "1", "--direction", "left") == b" three\none\n"
    assert run("truncate", "--text", "a b", "--text", "c", "--max-tokens", "1") == b"a\nc\n"


def test_truncated_texts_as_json() -> None:
    rows = [{"text": "one two", "tokens": 2, "truncated": True}, {"text": "one", "tokens": 1, "truncated": False}]
    assert json.loads(run("truncate", "r.jsonl", "--max-tokens", "2", "--json")) == rows
    lines = run("truncate", "r.jsonl", "--max-tokens", "2", "--to", "json").splitlines()
    assert [json.loads(line) for line in lines] == rows


def test_an_output_file() -> None:
    run("truncate", "a.txt", "--max-tokens", "2", "-o", "out.txt")
    assert Path("out.txt").read_bytes() == b"One two"
    run("truncate", "a.txt", "--max-tokens", "3", "-o", "out.txt", code=2)


def test_chunks_are_lines() -> None:
    assert run("chunk", "a.txt", "--max-tokens", "5", "--at", "line") == b"One two three.\\n\nFour five six.\\n\n"
    assert run("chunk", "bad.txt", "--max-tokens", "2") == b"\\xff\\xfe\n a\n"


def test_the_error_for_a_character_names_its_text() -> None:
    Path("p.jsonl").write_text('{"text": "one"}\n{"text": "a 🦜"}\n')
    error = error_of("chunk", "p.jsonl", "--max-tokens", "1")
    assert "p.jsonl:2: --max-tokens 1 is too small for this text: the character '🦜' at 2 " in error
    error = error_of("chunk", "--text", "a", "--max-tokens", "2", "--overlap", "2")
    assert error.startswith("polytok: --overlap 2 is not less than --max-tokens 2")


def test_chunks_as_json() -> None:
    rows = json.loads(run("chunk", "r.jsonl", "--max-tokens", "2", "--overlap", "1", "--json"))
    assert rows == [
        {"place": "r.jsonl:1", "byte_span": [0, 7], "tokens": 2, "text": "one two"},
        {"place": "r.jsonl:1", "byte_span": [3, 13], "tokens": 2, "text": " two three"},
        {"place": "r.jsonl:2", "byte_span": [0, 3], "tokens": 1, "text": "one"},
    ]
