"""Tests that a field that no record has is an error with the fields that exist, in every verb and function."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

import polytok
from polytok.cli import main
from polytok.errors import ArgumentError, FormatError

RECORDS = [{"text": f"the dog {number}", "meta": {"language": "en"}, "id": number} for number in range(9)]
FIELDS = "the fields are 'text', 'meta', 'meta.language', 'id'"


@pytest.fixture
def jsonl(tmp_path: Path) -> Path:
    path = tmp_path / "a.jsonl"
    path.write_text("".join(f"{json.dumps(record)}\n" for record in RECORDS))
    return path


def error_of(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    assert main(arguments) != 0
    return capsys.readouterr().err


VERBS = [
    "count",
    "encode",
    "vocab --never-used",
    "doctor -m default",
    "train --vocab-size 258 -o {out}",
    "train --kind unigram --vocab-size 300 -o {out}",
    "count-words -o {out}",
    "count-words --workers 1 -q -o {out}",
    "tokenize --workers 1 -q -o {out}",
]


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("bad_records", ["skip", "error"])
def test_every_verb_refuses_a_misspelt_field(
    verb: str, bad_records: str, jsonl: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = verb.format(out=tmp_path / "out.ptok").split()
    error = error_of([*arguments, str(jsonl), "--field", "txet", "--bad-records", bad_records], capsys)
    assert f"{FIELDS}; did you mean 'text'?" in error and "a.jsonl" in error
    assert not (tmp_path / "out.ptok/manifest.json").exists() and not (tmp_path / "out.ptok").is_file()


@pytest.mark.parametrize("verb", [*VERBS, "tokenize --workers 1 --shard-size 100 -q -o {out}"])
def test_every_verb_refuses_a_later_file_without_the_field(
    verb: str, jsonl: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first_file = tmp_path / "0.jsonl"
    first_file.write_text('{"body": "the dog"}\n' * 9)
    arguments = [*verb.format(out=tmp_path / "out.ptok").split(), str(first_file), str(jsonl), "--field", "body"]
    assert FIELDS in (error := error_of([*arguments, "--bad-records", "skip"], capsys)) and "a.jsonl" in error
    assert not (tmp_path / "out.ptok/manifest.json").exists() and not (tmp_path / "out.ptok").is_file()


@pytest.mark.parametrize("suffix", ["jsonl", "parquet"])
def test_a_misspelt_column(suffix: str, jsonl: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    path = tmp_path / f"a.{suffix}"
    if suffix == "parquet":
        pytest.importorskip("pyarrow.parquet").write_table(pyarrow.Table.from_pylist(RECORDS), path)
    verb = ["tokenize", "--workers", "1", "-q", "--to", "parquet", "-o", str(tmp_path / "out")]
    error = error_of([*verb, str(path), "--columns", "idd"], capsys)
    assert f"a.{suffix}" in error and "'text', 'meta'" in error and error.endswith("did you mean 'id'?\n")
    error = error_of([*verb, str(path), "--columns", "id,meta"], capsys)
    assert "name each field on its own" in error


def test_count_by_a_misspelt_field(jsonl: Path, capsys: pytest.CaptureFixture[str]) -> None:
    error = error_of(["count", "--by", "meta.langage", str(jsonl)], capsys)
    assert error.endswith(f"no record has the field 'meta.langage'; {FIELDS}; did you mean 'meta.language'?\n")
    assert main(["count", "--by", "meta.language", str(jsonl)]) == 0


def test_text_files_have_no_fields(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.txt").write_text("a")
    assert "a.txt is text and has no field 'lang'" in error_of(["count", "--by", "lang", str(tmp_path)], capsys)


def test_one_file_with_the_field_is_enough(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, text in {"a.txt": "one", "b.jsonl": '{"text": "two"}', "c.jsonl": '{"text": "3", "lang": "en"}'}.items():
        (tmp_path / name).write_text(text)
    assert main(["count", "--by", "lang", str(tmp_path)]) == 0
    assert [line.split()[-1] for line in capsys.readouterr().out.splitlines()] == ["lang", "(none)", "en", "total"]
    error = error_of(["count", "--by", "lnag", str(tmp_path)], capsys)
    assert error.endswith("b.jsonl: no record has the field 'lnag'; the fields are 'text'\n")


def test_some_records_without_the_field_are_no_error(jsonl: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with jsonl.open("a") as file:
        file.write('{"body": "a"}\n{"text": "b"}\nnull\n')
    assert main(["count", "--field", "body", "--bad-records", "skip", str(jsonl)]) == 0
    assert main(["count", "--by", "meta.language", "--bad-records", "skip", str(jsonl)]) == 0
    assert "(none)" in capsys.readouterr().out


def test_files_without_records_are_no_error(tmp_path: Path) -> None:
    (tmp_path / "empty.jsonl").touch()
    (tmp_path / "broken.jsonl").write_text("{\n[]\n")
    assert main(["count", "--field", "body", "--bad-records", "skip", str(tmp_path)]) == 0


def test_a_null_in_every_record_is_a_field(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"text": "a", "lang": null}\n')
    assert main(["count", "--by", "lang", str(tmp_path)]) == 0


def test_compressed_files(jsonl: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = jsonl.with_suffix(".jsonl.gz")
    path.write_bytes(gzip.compress(jsonl.read_bytes()))
    for verb in (["count"], ["tokenize", "--workers", "1", "-q", "-o", str(jsonl.parent / "tokens")]):
        assert FIELDS in error_of([*verb, str(path), "--field", "txt", "--bad-records", "skip"], capsys)


def test_records_of_python() -> None:
    with pytest.raises(ArgumentError, match="inputs: no record has the field 'txt'; the fields are 'text'"):
        polytok.train(RECORDS, vocab_size=258, field="txt", bad_records="skip")
    with pytest.raises(FormatError, match="text 1: no field 'txt'.*; the fields are 'text'.*did you mean 'text'"):
        polytok.train(RECORDS, vocab_size=258, field="txt")
