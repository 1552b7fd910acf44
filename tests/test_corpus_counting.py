"""Tests that counting words in tasks equals one count, in the same order, for any workers and interruptions."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

import polytok
from polytok import ArgumentError, Counts, FormatError, InputOptions
from polytok.cli import main
from polytok.corpus import count_words
from polytok.spec import Lowercase, PatternSplit

LINES = InputOptions(lines=True, field="a")
TEXTS = [f"Word {n % 17} of {n % 5} éé 漢字{n} " for n in range(400)]


@pytest.fixture
def inputs(tmp_path: Path) -> list[Path]:
    """Writes the same texts in two formats, and bytes that are not UTF-8."""
    (tmp_path / "a.txt").write_bytes(b"\xff\xfe word\n" + "\n".join(TEXTS).encode())
    (tmp_path / "b.jsonl.gz").write_bytes(gzip.compress("\n".join(json.dumps({"a": text}) for text in TEXTS).encode()))
    return [tmp_path / "a.txt", tmp_path / "b.jsonl.gz"]


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        ("bpe", {}),
        ("bpe", {"pattern": "cl100k", "special_tokens": ["Word"]}),
        (None, {"split": [PatternSplit(r"\w+")], "normalize": [Lowercase()], "special_tokens": [b"\xff"]}),
    ],
    ids=["bpe", "bpe with options", "steps"],
)
@pytest.mark.parametrize("workers", [1, 3])
def test_the_counts_are_those_of_one_process(
    tmp_path: Path, inputs: list[Path], kind: str | None, options: dict[str, Any], workers: int
) -> None:
    out = tmp_path / "counts"
    report = count_words(inputs, kind, out, input_options=LINES, workers=workers, shard_size=3000, **options)
    expected = polytok.TrainingReport()
    polytok.count_words(inputs, kind, input_options=LINES, report=expected, **options).save(tmp_path / "expected")
    assert out.read_bytes() == (tmp_path / "expected").read_bytes()
    assert report == expected
    assert not (tmp_path / "counts.parts").exists()


def test_an_interrupted_count_continues(tmp_path: Path, inputs: list[Path]) -> None:
    (tmp_path / "c.jsonl").write_text("{}")
    more_inputs = [*inputs, tmp_path / "c.jsonl"]
    with pytest.raises(FormatError, match=r"c.jsonl: byte 0: no field 'a'"):
        count_words(more_inputs, "bpe", tmp_path / "counts", input_options=LINES, workers=1, shard_size=3000)
    assert len(list((tmp_path / "counts.parts/done").iterdir())) > 1
    with pytest.raises(ArgumentError, match=r"kind: \"bpe\" → \"wordpiece\""):
        count_words(more_inputs, "wordpiece", tmp_path / "counts", input_options=LINES, workers=1, shard_size=3000)
    (tmp_path / "c.jsonl").unlink()
    count_words(inputs, "bpe", tmp_path / "counts", input_options=LINES, workers=1, shard_size=3000, overwrite=True)
    assert Counts.load(tmp_path / "counts").words("bytes").to_list()


def test_bytes_that_are_not_utf8(tmp_path: Path, inputs: list[Path]) -> None:
    with pytest.raises(polytok.EncodeError, match="a.txt: byte 0: not UTF-8"):
        count_words(inputs, "wordpiece", tmp_path / "counts", input_options=LINES, workers=1)
    with pytest.raises(ArgumentError, match="a kind over bytes"):
        count_words(inputs, "wordpiece", tmp_path / "counts", input_options=InputOptions(bad_bytes="keep"), workers=1)


def test_the_command(tmp_path: Path, inputs: list[Path], capsys: pytest.CaptureFixture[str]) -> None:
    names = [str(path) for path in inputs]
    options = ["--lines", "--field", "a", "--pattern", "cl100k"]
    assert main(["count-words", *names, *options, "-o", str(tmp_path / "one")]) == 0
    assert main(["count-words", *names, *options, "-o", str(tmp_path / "many"), "--workers", "2"]) == 0
    assert (tmp_path / "one").read_bytes() == (tmp_path / "many").read_bytes()
    assert main(["count-words", "--merge", str(tmp_path / "one"), "--workers", "2", "-o", str(tmp_path / "two")]) == 2
    assert "--merge" in capsys.readouterr().err
