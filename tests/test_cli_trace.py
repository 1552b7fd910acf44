"""Tests ``polytok trace``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import polytok
from cli_process import error_of, run
from polytok.cli.trace_lines import Painter, side_by_side, trace_lines, width_of, wrap


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ab.model").write_text("minbpe v1\n\\w+|\\W+\n0\n97 98\n256 97\n256 98\n")
    (tmp_path / "ba.model").write_text("minbpe v1\n\\w+|\\W+\n0\n97 98\n98 97\n")
    return tmp_path


def test_a_person_sees_every_step() -> None:
    lines = run("trace", "aba c", "-m", "ab.model").decode().splitlines()
    assert lines[0] == "ab.model: 3 tokens"
    assert "  aba|␣|c|" in lines
    assert "  merge 1: a + b → ab, place 0" in lines
    assert "  merge 2: ab + a → aba, place 1" in lines
    assert lines[-1].split() == ["aba", "257", "␣", "32", "c", "99"]
    assert run("trace", "aba", "-m", "ab.model").startswith(b"ab.model: 1 token\n")
    assert "    stale: b + a, since merge 1" in run("trace", "baba", "-m", "ba.model").decode().splitlines()


def test_json_has_everything() -> None:
    [trace] = json.loads(run("trace", "abab", "-m", "ab.model", "--json"))
    assert trace == polytok.load("ab.model").trace("abab").to_json()
    traces = json.loads(run("trace", "-", "-m", "ab.model", "-m", "default", "--json", stdin=b"abab"))
    assert [trace["ids"] for trace in traces] == [[256, 256], polytok.load("default").encode("abab")]


def test_html_is_one_file(folder: Path) -> None:
    assert run("trace", "abab", "-m", "ab.model", "--html", "trace.html") == b""
    html = (folder / "trace.html").read_text("utf-8")
    content = html.split('id="content">')[1].split("</script>")[0]
    assert json.loads(content)["traces"][0]["name"] == "ab.model"
    assert "--overwrite" in error_of("trace", "ab", "--html", "trace.html")
    run("trace", "ab", "--html", "trace.html", "--overwrite")


def test_ids_say_why_they_are_not_canonical() -> None:
    text = run("trace", "-m", "ab.model", "--ids", "97", "98").decode()
    assert "given:" in text and "this encoder:" in text
    assert "given:" not in run("trace", "-m", "ab.model", "--ids", "256").decode()


def test_one_piece() -> None:
    text = run("trace", "ab ab", "-m", "ab.model", "--piece", "2").decode()
    assert text.count("piece ") == 1 and "piece 2 ab" in text
    assert "piece 1" in run("trace", "ab ab", "-m", "ab.model", "--at", "2").decode()


def test_special_tokens_are_named() -> None:
    lines = run("trace", "a<|endoftext|>", "--special", "all").decode()
    assert "<|endoftext|> id 32767" in lines
    assert "not taken" in run("trace", "a<|endoftext|>").decode()


def test_colours_and_columns() -> None:
    colored = run("trace", "abab c", "-m", "ab.model", "--color", "always").decode()
    assert "\x1b[" in colored
    traces = [("one", polytok.load("ab.model").trace("abab 吾")), ("two", polytok.load("default").trace("abab 吾"))]
    text = side_by_side([trace_lines(name, trace, Painter(True), 50) for name, trace in traces], 50)
    for line in text.splitlines():
        left, _, _ = line.partition(" │ ")
        assert width_of(left) == 50 or "│" not in line


def test_wrapped_lines_are_never_wider() -> None:
    for width in (10, 20, 37):
        lines = list(wrap(["ab", "吾輩", "x" * 60, "c"] * 9, width))
        assert all(width_of(line) <= width for line in lines)


@pytest.mark.parametrize("arguments", [["ab", "--ids", "1"], ["ab", "--piece", "9"], ["ab", "--at", "99"]])
def test_wrong_arguments_are_errors(arguments: list[str]) -> None:
    assert error_of("trace", *arguments, "-m", "ab.model").startswith("polytok: ")
