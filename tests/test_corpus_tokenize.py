"""Tests that shards have the ids of `encode`, however a job divides, groups, shuffles or interrupts the work."""

from __future__ import annotations

import gzip
import io
import json
import os
import subprocess
import sys
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import corpus_kills
import polytok
from format_samples import sentencepiece_spec
from polytok import ArgumentError, FileError, FormatError, InputOptions, Tokenizer, corpus
from polytok.cli import main
from polytok.corpus import Report, export, tokenize
from polytok.corpus import open as open_dataset
from polytok.corpus.options import resolve_dtype
from polytok.corpus.plan import Plan
from polytok.corpus.sources import sources
from polytok.corpus.storage import open_storage
from polytok.spec import Template

TOKENIZER = polytok.load("default")
EOS = TOKENIZER.piece_to_id("<|endoftext|>")
TEXTS = [f"text {n}: " + "naïve 漢字 🦜 " * (n % 7) for n in range(300)]
LINES = InputOptions(lines=True)


@pytest.fixture
def inputs(tmp_path: Path) -> Path:
    """Writes the same texts as lines, as JSON lines, and compressed."""
    folder = tmp_path / "inputs"
    folder.mkdir()
    records = "\n".join(json.dumps({"a": {"b": text}, "n": n}) for n, text in enumerate(TEXTS))
    (folder / "a.txt").write_text("\n".join(TEXTS), "utf-8")
    (folder / "b.jsonl").write_text(records, "utf-8")
    (folder / "c.jsonl.gz").write_bytes(gzip.compress(records.encode()))
    return folder


def tokenize_inputs(inputs: Any, out: Path, **options: Any) -> list[list[int]]:
    """Tokenizes inputs and returns the documents."""
    tokenize(inputs, TOKENIZER, out, **{"workers": 1, "input_options": LINES, **options})
    return [row.tolist() for row in open_dataset(out)]


def encode_all(texts: list[str], *, bos: int | None = None, eos: int | None = None) -> list[list[int]]:
    ends = [[] if id is None else [id] for id in (bos, eos)]
    return [[*ends[0], *TOKENIZER.encode(text), *ends[1]] for text in texts]


@pytest.mark.parametrize("shard_size", [700, 5000, 1 << 28], ids=["tiny", "small", "one"])
def test_the_ids_are_those_of_encode(tmp_path: Path, inputs: Path, shard_size: int) -> None:
    input_options = InputOptions(lines=True, field="a.b")
    actual = tokenize_inputs(
        f"{inputs}/*", tmp_path / "out", shard_size=shard_size, input_options=input_options, eos="auto"
    )
    assert actual == encode_all(TEXTS * 3, eos=EOS)


@pytest.mark.parametrize("name", ["plan.json", "tokenizer.ptok", "largest shard"])
@pytest.mark.parametrize("to", ["flat", "parquet"])
def test_a_job_continues_after_the_disk_was_full(tmp_path: Path, to: str, name: str) -> None:
    """Tests a full disk by the system's limit on file sizes, which causes the same kind of error."""
    resource = pytest.importorskip("resource")
    tokenizer = Tokenizer(sentencepiece_spec())
    texts = tmp_path / "a.txt"
    texts.write_text("\n".join(TEXTS * 10), "utf-8")

    def run(folder: Path) -> dict[str, bytes]:
        tokenize(texts, tokenizer, folder, workers=1, input_options=LINES, to=to)
        return {path.name: path.read_bytes() for path in folder.iterdir()}

    expected = run(tmp_path / "expected")
    sizes = {file_name: len(data) for file_name, data in expected.items()}
    size = sizes.get(name) or max(sizes.values())
    unlimited, maximum = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size - 1, maximum))
    try:
        with pytest.raises(FileError, match="cannot write: File too large"):
            run(tmp_path / "out")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (unlimited, maximum))
    assert run(tmp_path / "out") == expected


@pytest.mark.parametrize("output", ["megatron", "flat", "npy"])
@pytest.mark.parametrize(("bos", "eos"), [(None, None), (5, "auto"), ("!", None), (None, "<|endoftext|>")], ids=str)
def test_ids_at_the_start_and_end_of_documents(tmp_path: Path, inputs: Path, output: str, bos: Any, eos: Any) -> None:
    actual = tokenize_inputs(inputs / "a.txt", tmp_path / "out", bos=bos, eos=eos, to=output)
    first_id = TOKENIZER.piece_to_id("!") if bos == "!" else bos
    assert actual == encode_all(TEXTS, bos=first_id, eos=EOS if eos else None)


def test_a_job_and_its_report(tmp_path: Path, inputs: Path) -> None:
    log = io.StringIO()
    report = tokenize([inputs / "a.txt"], "default", tmp_path / "out", input_options=LINES, workers=1, json_log=log)
    tokens = sum(map(len, encode_all(TEXTS)))
    size = sum(len(text.encode()) for text in TEXTS)
    assert (report.total.documents, report.total.tokens, report.total.text_bytes) == (300, tokens, size)
    events = [json.loads(line) for line in log.getvalue().splitlines()]
    assert [event["event"] for event in events] == ["begin", "task", "end"]
    assert events[-1]["tokens"] == tokens
    second_report = tokenize([inputs / "a.txt"], "default", tmp_path / "out", input_options=LINES)
    assert second_report == report
    assert open_dataset(tmp_path / "out").tokenizer.fingerprint == TOKENIZER.fingerprint


def test_the_log_of_an_interrupted_job_says_so(tmp_path: Path, inputs: Path) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    log = io.StringIO()
    with pytest.raises(KeyboardInterrupt):
        tokenize(inputs / "a.txt", TOKENIZER, tmp_path / "out", workers=1, json_log=log, progress=interrupt)
    event = json.loads(log.getvalue().splitlines()[-1])
    assert (event["event"], event["kind"], event["message"]) == ("error", "KeyboardInterrupt", "interrupted")


def test_shuffled_documents_are_the_same_in_another_order(tmp_path: Path, inputs: Path) -> None:
    options = {"shuffle": 50, "shard_size": 4000}
    actual = tokenize_inputs(inputs / "a.txt", tmp_path / "one", **options)
    assert actual != encode_all(TEXTS) and sorted(actual) == sorted(encode_all(TEXTS))
    assert tokenize_inputs(inputs / "a.txt", tmp_path / "two", workers=3, **options) == actual
    assert tokenize_inputs(inputs / "a.txt", tmp_path / "three", seed=1, **options) != actual


def test_columns_go_with_their_documents(tmp_path: Path, inputs: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    input_options = InputOptions(field="a.b")
    options = {"columns": ["n"], "shuffle": 40, "min_tokens": 12, "eos": "auto", "to": "parquet"}
    tokenize(inputs / "b.jsonl", TOKENIZER, tmp_path / "out", input_options=input_options, workers=1, **options)
    table = parquet.read_table(tmp_path / "out/00000.parquet")
    expected = {n: ids for n, ids in enumerate(encode_all(TEXTS, eos=EOS)) if len(ids) >= 12}
    assert {int(row["n"]): row["ids"] for row in table.to_pylist()} == expected


def test_threads_of_a_worker(tmp_path: Path, inputs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    threads_used: list[int] = []
    encode = Tokenizer._encode_texts

    def record_threads(*arguments: Any, threads: int, **rest: Any) -> Any:
        threads_used.append(threads)
        return encode(*arguments, threads=threads, **rest)

    monkeypatch.setattr(Tokenizer, "_encode_texts", record_threads)
    assert tokenize_inputs(inputs / "a.txt", tmp_path / "three", threads=3) == encode_all(TEXTS) and set(
        threads_used
    ) == {3}
    # The number of threads is not part of the job, so a job continues with another number.
    assert tokenize_inputs(inputs / "a.txt", tmp_path / "three", threads=1) == encode_all(TEXTS)
    with pytest.raises(ArgumentError, match="threads=0 is too small"):
        tokenize_inputs(inputs / "a.txt", tmp_path / "none", threads=0)
    arguments = [str(inputs / "a.txt"), "--lines", "-m", "default", "--threads", "2", "--workers", "1", "--quiet"]
    assert main(["tokenize", *arguments, "-o", str(tmp_path / "two")]) == 0 and threads_used[-1] == 2


def report_of(tmp_path: Path, content: bytes, name: str = "a.jsonl", **options: Any) -> Report:
    (tmp_path / name).write_bytes(content)
    return tokenize(tmp_path / name, TOKENIZER, tmp_path / "out", workers=1, **options)


def test_skipped_documents_are_counted_by_reason(tmp_path: Path) -> None:
    content = b'{"text": "a b c d e"}\n{"text": 5}\n{"text\n{"text": "a"}\n{"text": "x y z"}\n'
    report = report_of(
        tmp_path,
        content,
        min_tokens=2,
        max_tokens=4,
        long_documents="skip",
        input_options=InputOptions(bad_records="skip"),
    )
    assert dict(report.total.skipped) == {
        "fewer than 2 tokens": 1,
        "more than 4 tokens": 1,
        "not JSON": 1,
        "the field 'text' is not a text": 1,
    }
    assert report.total.documents == 1
    assert f"{tmp_path}/a.jsonl: byte 34" in str(report)


def test_undecodable_text(tmp_path: Path) -> None:
    for bad_bytes, skipped_counts, changed_counts in (
        ("skip", {"not UTF-8": 1}, {}),
        ("replace", {}, {"not UTF-8, replaced": 1}),
    ):
        input_options = InputOptions(lines=True, bad_bytes=bad_bytes)
        report = report_of(tmp_path, b"one\n\xfftwo\n", "a.txt", input_options=input_options, overwrite=True)
        assert (dict(report.total.skipped), dict(report.total.changed)) == (skipped_counts, changed_counts)
    with pytest.raises(polytok.EncodeError, match=r"a.txt: byte 4: not UTF-8"):
        report_of(tmp_path, b"one\n\xfftwo\n", "a.txt", input_options=LINES, overwrite=True)


def test_a_damaged_file(tmp_path: Path) -> None:
    content = gzip.compress("\n".join(TEXTS).encode(), mtime=0)[:-200]
    with pytest.raises(FormatError, match="a.gz"):
        report_of(tmp_path, content, "a.gz", input_options=LINES)
    report = report_of(
        tmp_path, content, "a.gz", input_options=InputOptions(lines=True, damaged_files="skip"), overwrite=True
    )
    assert 0 < report.total.documents < 300 and report.total.damaged == 1 and not report.total.skipped
    table, damage = str(report).split("\ndamaged file: ")
    assert table.splitlines()[1].endswith("0  damaged")
    assert "it is truncated after byte" in damage and "a.gz: byte " in damage and damage.endswith(" were read")
    again = tokenize(tmp_path / "a.gz", TOKENIZER, tmp_path / "out", lines=True, damaged_files="skip", workers=1)
    assert str(again).splitlines()[-1] == "damage in inputs: 1"


def test_a_special_token_in_a_text(tmp_path: Path) -> None:
    content = b"one\ntwo <|endoftext|>\n"
    with pytest.raises(polytok.SpecialTokenError, match=r"a.txt: byte 4: .*endoftext"):
        report_of(tmp_path, content, "a.txt", input_options=LINES, reject_special=True)
    report_of(tmp_path, content, "a.txt", input_options=LINES, special="all", overwrite=True)
    assert open_dataset(tmp_path / "out")[1].tolist()[-1] == EOS


@pytest.mark.parametrize(
    "options",
    [
        {"dtype": "uint8"},
        {"to": "csv"},
        {"eos": "no such piece"},
        {"bos": "auto"},
        {"eos": True},
        {"eos": 32768},
        {"bos": -1},
        {"columns": "n", "to": "arrow"},
        {"special": "<|end|>"},
        {"max_tokens": 3, "min_tokens": 4},
        {"max_tokens": 1, "eos": "auto"},
        {"columns": ["n"]},
        {"seed": -1},
        {"shuffle": 1.5},
        {"runner": "slurm"},
        {"workers": 0},
        {"workers": "2"},
        {"input_options": {}},
        {"columns": ["n", "n"], "to": "parquet"},
        {"columns": [1], "to": "parquet"},
        {"dtype": "uint32"},
        {"input_options": InputOptions(bad_bytes="keep")},
    ],
    ids=str,
)
def test_wrong_options_are_refused_before_anything_is_written(
    tmp_path: Path, inputs: Path, options: dict[str, Any]
) -> None:
    with pytest.raises(ArgumentError):
        tokenize(inputs / "a.txt", TOKENIZER, tmp_path / "out", **options)
    assert not (tmp_path / "out").exists() or not list((tmp_path / "out").iterdir())


def test_the_plan_names_each_small_file_once(tmp_path: Path) -> None:
    for number in range(3):
        (tmp_path / f"{number}.txt").write_text("text")
    tokenize_inputs(f"{tmp_path}/*.txt", tmp_path / "out")
    plan_text = (tmp_path / "out/plan.json").read_text()
    assert [plan_text.count(json.dumps(f"{tmp_path}/{number}.txt")) for number in range(3)] == [1, 1, 1]
    assert Plan.from_plain(json.loads(plan_text)).sources == sources(f"{tmp_path}/*.txt")


def test_another_shard_size_is_the_only_difference_in_the_error(tmp_path: Path) -> None:
    for number in range(30):
        (tmp_path / f"{number}.txt").write_text("text" * number)
    tokenize_inputs(f"{tmp_path}/*.txt", tmp_path / "out", shard_size=50)
    with pytest.raises(ArgumentError) as error:
        tokenize_inputs(f"{tmp_path}/*.txt", tmp_path / "out", shard_size=200)
    assert str(error.value).split("\n")[1:-1] == ["  options: shard_size: 50 → 200"]


def tokenizer_with_template(before: tuple[int, ...], after: tuple[int, ...]) -> polytok.Tokenizer:
    """Returns a tokenizer that adds ids before and after texts."""
    return polytok.Tokenizer(sentencepiece_spec(post=Template.around(before, after)))


def test_ids_of_add_special_occur_once_and_survive_truncation(tmp_path: Path, inputs: Path) -> None:
    texts = [text[: text.index(":")] for text in TEXTS]
    (inputs / "a.txt").write_text("\n".join(texts), "utf-8")

    def documents(tokenizer: polytok.Tokenizer, **options: Any) -> list[list[int]]:
        all_options: dict[str, Any] = {
            "input_options": LINES,
            "workers": 1,
            "overwrite": True,
            "add_special": True,
            **options,
        }
        tokenize(inputs / "a.txt", tokenizer, tmp_path / "out", **all_options)
        return [row.tolist() for row in open_dataset(tmp_path / "out")]

    template_tokenizer = tokenizer_with_template((1,), (2,))
    complete_rows = [template_tokenizer.encode(text, add_special=True) for text in texts]
    assert documents(template_tokenizer) == complete_rows
    assert documents(template_tokenizer, max_tokens=6) == [
        [*row[:5], 2] if len(row) > 6 else row for row in complete_rows
    ]
    assert documents(tokenizer_with_template((1,), ()), eos="auto") == complete_rows
    assert documents(tokenizer_with_template((1, 1), (2, 2)), max_tokens=6, long_documents="split")[0][:3] == [
        1,
        1,
        complete_rows[0][1],
    ]
    for tokenizer, options in (
        (template_tokenizer, {"bos": "auto"}),
        (template_tokenizer, {"eos": 5}),
        (template_tokenizer, {"max_tokens": 2}),
        (tokenizer_with_template((1, 1), (2, 2)), {"max_tokens": 6}),
        (tokenizer_with_template((1, 1), ()), {"max_tokens": 2}),
    ):
        with pytest.raises(ArgumentError, match=r"would both add|no room|would remove"):
            documents(tokenizer, **options)


def test_columns_that_no_record_has_are_refused(tmp_path: Path, inputs: Path) -> None:
    pytest.importorskip("pyarrow")
    options: dict[str, Any] = {
        "columns": ["n", "m"],
        "to": "parquet",
        "input_options": InputOptions(field="a.b"),
        "workers": 1,
    }
    with pytest.raises(ArgumentError, match=r"first records of .*b.jsonl: no record has the field 'm'; the fields are"):
        tokenize(inputs / "b.jsonl", TOKENIZER, tmp_path / "out", **options)


@pytest.mark.parametrize("to", ["parquet", "megatron"])
def test_inputs_without_a_column_have_nulls(tmp_path: Path, to: str) -> None:
    arrow = pytest.importorskip("pyarrow")
    for name, lines in {
        "a.txt": "one",
        "b.jsonl": '{"text": "two"}\n',
        "c.jsonl": '{"text": "three", "lang": "en"}\n',
    }.items():
        (tmp_path / name).write_text(lines)
    options: dict[str, Any] = {"columns": ["lang"], "to": to, "documents": True, "workers": 1}

    def columns_of(folder: Path, count: int) -> list[Any]:
        return [document.columns["lang"] for document in corpus.read_documents(folder, range(count))]

    inputs = [tmp_path / name for name in ("a.txt", "b.jsonl", "c.jsonl")]
    tokenize(inputs, TOKENIZER, tmp_path / "out", **options)
    assert columns_of(tmp_path / "out", 3) == [None, None, "en"]
    table = tmp_path / "d.parquet"
    pytest.importorskip("pyarrow.parquet").write_table(arrow.table({"text": ["four"], "lang": [4]}), table)
    tokenize([tmp_path / "a.txt", table], TOKENIZER, tmp_path / "numbers", **options)
    assert columns_of(tmp_path / "numbers", 2) == [None, 4]
    with pytest.raises(ArgumentError, match=r"a.txt is text and has no field 'lang': name JSON lines or tables"):
        tokenize(tmp_path / "a.txt", TOKENIZER, tmp_path / "none", **options)
    with pytest.raises(ArgumentError, match=r"b.jsonl: no record has the field 'lnag'; the fields are 'text'"):
        tokenize(inputs, TOKENIZER, tmp_path / "none", **{**options, "columns": ["lnag"]})
    assert not (tmp_path / "none").exists()


def test_a_separator_with_an_unknown_escape(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["tokenize", "a.txt", "--separator", r"\q", "-o", str(tmp_path / "out")])
    assert r"'\\q' has an invalid escape" in capsys.readouterr().err


def test_dtypes() -> None:
    def dtype(vocab_size: int, output: str = "megatron", dtype_option: Any = "auto") -> str:
        return resolve_dtype(output, dtype_option, vocab_size)

    assert [dtype(65536), dtype(65537), dtype(65537, "flat")] == ["uint16", "int32", "uint32"]
    assert dtype(100, "npy", "int32") == "int32"
    with pytest.raises(ArgumentError, match="dtype='uint16' cannot hold the ids of a vocabulary of 65,537 entries"):
        dtype(65537, "flat", "uint16")
    assert [dtype(65537, kind) for kind in ("npy", "parquet", "arrow")] == ["uint32"] * 3


def test_megatron_refuses_uint32_with_the_reason_and_the_ways_out(
    tmp_path: Path, inputs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    message = "to='megatron' cannot hold uint32, because Megatron's index has no code for it: choose dtype='int32'"
    with pytest.raises(ArgumentError, match=message):
        tokenize(inputs / "a.txt", TOKENIZER, tmp_path / "out", dtype="uint32")
    assert main(["tokenize", str(inputs / "a.txt"), "--dtype", "uint32", "-o", str(tmp_path / "out")]) == 2
    assert "--to megatron cannot hold uint32" in (error := capsys.readouterr().err)
    assert "choose --dtype int32, which can hold" in error and "such as --to flat" in error
    tokenize(inputs / "a.txt", TOKENIZER, tmp_path / "flat", dtype="uint32", to="flat", workers=1)
    with pytest.raises(ArgumentError, match=message):
        export(tmp_path / "flat", tmp_path / "train", dtype="uint32")
    tokenize(inputs / "a.txt", TOKENIZER, tmp_path / "wide", dtype="int32", workers=1)
    capsys.readouterr()
    assert main(["corpus", "info", str(tmp_path / "wide")]) == 0
    assert "int32 (Megatron's format has no uint32)" in capsys.readouterr().out


@pytest.fixture
def unfinished_job(tmp_path: Path, inputs: Path) -> Callable[..., Report]:
    """Runs a job until a damaged file ends it; returns a function that continues the job."""
    (inputs / "d.jsonl.gz").write_bytes(b"\x1f\x8b no such file")
    input_options = InputOptions(lines=True, field="a.b")

    def go_on(**options: Any) -> Report:
        all_options = {
            "input_options": input_options,
            "shard_size": 3000,
            "workers": 1,
            "tokenizer": TOKENIZER,
            **options,
        }
        return tokenize(f"{inputs}/*", all_options.pop("tokenizer"), tmp_path / "out", **all_options)

    with pytest.raises(FormatError):
        go_on()
    return go_on


def test_another_tokenizer_option_or_input_is_refused(unfinished_job: Callable[..., Report], inputs: Path) -> None:
    other_tokenizer = polytok.train(["low lower lowest"], vocab_size=260)
    with pytest.raises(ArgumentError, match=r"tokenizer: fingerprint: .* → (.|\n)*vocab_size: 32768 → 260"):
        unfinished_job(tokenizer=other_tokenizer)
    with pytest.raises(ArgumentError, match=f"options: eos: null → {EOS}"):
        unfinished_job(eos="auto")
    with (inputs / "a.txt").open("a") as file:
        file.write("more")
    with pytest.raises(ArgumentError, match=r"sources: .*/a.txt: size: [0-9]+ → [0-9]+"):
        unfinished_job()


def test_a_seed_needs_a_shuffle(tmp_path: Path, inputs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for seed in ("0", "1"):
        assert main(["tokenize", str(inputs / "a.txt"), "--seed", seed, "-o", str(tmp_path / "out")]) == 2
        assert "--seed has no effect without --shuffle" in capsys.readouterr().err
    tokenize(inputs / "a.txt", TOKENIZER, tmp_path / "out", seed=1)
    assert tokenize(inputs / "a.txt", TOKENIZER, tmp_path / "out", seed=2).was_finished


def test_the_same_tokenizer_with_another_name_continues_the_job(tmp_path: Path, inputs: Path) -> None:
    TOKENIZER.save(tmp_path / "other.json", to="huggingface")
    (tmp_path / "renamed.json").write_bytes((tmp_path / "other.json").read_bytes())
    tokenizers = [polytok.load(tmp_path / name) for name in ("other.json", "renamed.json")]
    options: dict[str, Any] = {"input_options": LINES, "workers": 1}
    tokenize(inputs / "a.txt", tokenizers[0], tmp_path / "named", **options)
    expected_files = corpus_kills.contents(tmp_path / "named")
    assert tokenize(inputs / "a.txt", tokenizers[1], tmp_path / "named", **options).total.documents == len(TEXTS)
    (tmp_path / "named/dataset.json").unlink()
    tokenize(inputs / "a.txt", tokenizers[1], tmp_path / "named", **options)
    assert corpus_kills.contents(tmp_path / "named") == expected_files
    assert open_dataset(tmp_path / "named").manifest.tokenizer.name == "other"
    tokenize(inputs / "b.jsonl", tokenizers[1], tmp_path / "second", input_options=InputOptions(field="a.b"), workers=1)
    corpus.merge([tmp_path / "named", tmp_path / "second"], tmp_path / "merged")


def test_an_input_that_changes_while_the_job_runs_is_noticed(tmp_path: Path, inputs: Path) -> None:
    class Changing(io.StringIO):
        def write(self, text: str) -> int:
            os.utime(inputs / "b.jsonl", ns=(1, 1))
            return super().write(text)

    input_options = InputOptions(lines=True, field="a.b")
    with pytest.raises(FileError, match=r"changed since the job was planned .*/b\.jsonl"):
        tokenize(
            f"{inputs}/*", TOKENIZER, tmp_path / "out", input_options=input_options, workers=1, json_log=Changing()
        )


def test_a_tokenizer_that_is_replaced_while_the_job_runs_is_noticed(tmp_path: Path, inputs: Path) -> None:
    class Replacing(io.StringIO):
        def write(self, text: str) -> int:
            if '"begin"' in text:
                polytok.train(["low lower lowest"], vocab_size=260).save(tmp_path / "out/tokenizer.ptok")
            return super().write(text)

    with pytest.raises(FormatError, match=r"out/tokenizer.ptok is not the tokenizer that the job began with"):
        tokenize(inputs / "a.txt", TOKENIZER, tmp_path / "out", input_options=LINES, workers=1, json_log=Replacing())


def test_more_inputs_than_a_manifest_can_list_are_refused_at_once(
    tmp_path: Path, inputs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("polytok.corpus.tokenizing.MAX_MANIFEST_BYTES", 100)
    with pytest.raises(
        ArgumentError, match="1 input files are too many for one dataset, whose manifest has at most 100"
    ):
        tokenize(inputs / "a.txt", TOKENIZER, tmp_path / "out", input_options=LINES, workers=1)
    assert not (tmp_path / "out").exists()


def test_jobs_survive_being_killed() -> None:
    corpus_kills.check(moments=3, size=1_000_000, shard_size=100_000, seed=1)


def test_a_full_disk(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", str(disk)], capture_output=True)
    if mounted.returncode:
        pytest.skip("no file system may be mounted here")
    try:
        inputs = corpus_kills.write_inputs(tmp_path / "inputs", 2_000_000)
        options: dict[str, Any] = {"input_options": LINES, "shard_size": 200_000, "workers": 1}
        with pytest.raises(FileError, match="No space left on device") as error_info:
            tokenize(inputs, TOKENIZER, disk / "out", **options)
        assert str(error_info.value.filename).startswith(str(disk))
        assert list((disk / "out/done").iterdir())
        subprocess.run(["mount", "-o", "remount,size=50m", str(disk)], check=True)
        tokenize(inputs, TOKENIZER, disk / "out", **options)
        tokenize(inputs, TOKENIZER, tmp_path / "out", **options)
        assert corpus_kills.contents(disk / "out") == corpus_kills.contents(tmp_path / "out")
    finally:
        subprocess.run(["umount", "--lazy", str(disk)], check=True)


def test_an_object_store(tmp_path: Path, inputs: Path) -> None:
    fsspec = pytest.importorskip("fsspec")
    options: dict[str, Any] = {"input_options": LINES, "shard_size": 3000, "workers": 1}
    report = tokenize(inputs / "a.txt", TOKENIZER, "memory://bucket/out", **options)
    assert tokenize(inputs / "a.txt", TOKENIZER, "memory://bucket/out", **options) == report
    tokenize(inputs / "a.txt", TOKENIZER, tmp_path / "out", **options)
    system = fsspec.filesystem("memory")
    stored_files = {path.removeprefix("/bucket/out/"): system.cat_file(path) for path in system.find("/bucket/out")}
    assert stored_files == corpus_kills.contents(tmp_path / "out")


def test_errors_of_an_object_store_say_what_was_tried(
    inputs: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    memory = pytest.importorskip("fsspec.implementations.memory")
    arguments = ["tokenize", str(inputs / "a.txt"), "--lines", "-o", "memory://full/out"]

    def refuse(error: Exception) -> Callable[..., Any]:
        def refuses(*_: Any, **__: Any) -> None:
            raise error

        return refuses

    denied = "Permission denied"
    for error, message in ((PermissionError(13, denied), denied), (KeyError("k"), "KeyError: 'k'")):
        monkeypatch.setattr(memory.MemoryFileSystem, "pipe_file", refuse(error))
        assert main(arguments) == 2
        assert f"memory://full/out/plan.json: cannot write: {message}" in capsys.readouterr().err
    monkeypatch.undo()
    monkeypatch.setattr(memory.MemoryFileSystem, "put_file", refuse(FileNotFoundError(2, "No such bucket")))
    assert main(arguments) == 2
    assert "memory://full/out/00000.bin: cannot write: No such bucket" in capsys.readouterr().err


def test_files_of_killed_jobs_for_an_object_store_are_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("fsspec")
    code = (
        "import os; from polytok.corpus.storage import open_storage\n"
        "with open_storage('memory://bucket/out').output_folder() as folder:\n"
        "    (folder / '00000.bin').write_bytes(b'half'); os.kill(os.getpid(), 9)"
    )
    paths = os.pathsep.join(filter(None, sys.path))
    subprocess.run([sys.executable, "-c", code], env={**os.environ, "TMPDIR": str(tmp_path), "PYTHONPATH": paths})
    remaining_files = list(tmp_path.glob("*/00000.bin"))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with open_storage("memory://bucket/out").output_folder() as folder:
        with open_storage("memory://bucket/other").hold_lock():
            assert list(tmp_path.glob("*/00000.bin")) == remaining_files != []
        with open_storage("memory://bucket/out").hold_lock():
            assert list(tmp_path.iterdir()) == [folder]


def test_jobs_on_windows_are_refused(tmp_path: Path, inputs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("polytok.corpus.run.os", types.SimpleNamespace(name="nt"))
    with pytest.raises(ArgumentError, match="on Windows, run them in WSL"):
        tokenize(inputs / "a.txt", TOKENIZER, tmp_path / "out")


def test_the_command(tmp_path: Path, inputs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out"
    arguments = ["tokenize", str(inputs / "a.txt"), "--lines", "--eos", "--shard-size", "1K", "-o", str(out)]
    assert main([*arguments, "--workers", "2", "--json-log", str(tmp_path / "log")]) == 0
    assert capsys.readouterr().out.splitlines()[-1].split()[1] == "300"
    assert json.loads((tmp_path / "log").read_text().splitlines()[-1])["event"] == "end"
    assert [row.tolist() for row in open_dataset(out)] == encode_all(TEXTS, eos=EOS)
    assert main([*arguments, "--json-log", str(tmp_path / "log/new")]) == 2
    assert "log: cannot create the folder: File exists" in capsys.readouterr().err
    assert main([*arguments, "--bos", "5"]) == 2
    assert "options: bos: null → 5" in capsys.readouterr().err
    assert main([*arguments, "--bos", "5", "--overwrite", "--json-log", "-"]) == 0
    assert [json.loads(line)["event"] for line in capsys.readouterr().out.splitlines()][-1] == "end"
    assert open_dataset(out)[0][0] == 5 and np.asarray(open_dataset(out)[0]).dtype == np.uint16


def test_columns_of_other_types_are_refused(tmp_path: Path) -> None:
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    parquet.write_table(arrow.table({"text": ["a"], "n": [1]}), tmp_path / "a.parquet")
    parquet.write_table(arrow.table({"text": ["b"], "n": ["1"]}), tmp_path / "b.parquet")
    options: dict[str, Any] = {"columns": ["n"], "to": "arrow", "workers": 1}
    with pytest.raises(FormatError, match=r"b.parquet: row 0: the columns are n: string, but .* n: int64"):
        tokenize(f"{tmp_path}/*.parquet", TOKENIZER, tmp_path / "out", **options)
    parquet.write_table(arrow.table({"text": [], "n": arrow.array([], arrow.int64())}), tmp_path / "b.parquet")
    tokenize(f"{tmp_path}/*.parquet", TOKENIZER, tmp_path / "out", overwrite=True, shard_size=1, **options)
    tables = [arrow.ipc.open_file(tmp_path / f"out/0000{n}.arrow").read_all() for n in range(2)]
    assert tables[0].schema == tables[1].schema and [len(table) for table in tables] == [1, 0]
