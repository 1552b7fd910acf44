"""Tests the limit of records: a record that is longer is never in memory as a whole, in any kind of file."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import polytok
from optional_packages import zstd_package
from polytok import ArgumentError, FormatError, InputOptions, TrainingReport
from polytok.cli import main
from polytok.corpus import tokenize
from polytok.corpus.documents import documents
from polytok.corpus.plan import Part
from polytok.corpus.sources import sources
from polytok.reading import blocks as blocks_module
from polytok.reading.files import read

LIMIT = 1000
LONG = "longer than 1000 bytes"
COMPRESSIONS: dict[str, Callable[[bytes], bytes]] = {
    "": bytes,
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
    ".zst": lambda data: bytes(zstd_package().compress(data)),
}
compressions = pytest.mark.parametrize("suffix", list(COMPRESSIONS))


def write(path: Path, data: bytes) -> Path:
    path.write_bytes(COMPRESSIONS[path.suffix if path.suffix in COMPRESSIONS else ""](data))
    return path


def read_file(path: Path, **options: Any) -> tuple[list[bytes], list[str]]:
    """Returns the texts of a file and the reports of the skipped texts."""
    input_options = InputOptions(bad_records="skip", **options)
    with path.open("rb") as file:
        results = list(read(str(path), file, input_options, "keep"))
    texts = [text for result in results for text in result.texts.to_list() if text is not None]
    return texts, [str(text).removeprefix(f"{path}:") for result in results for text in result.skipped]


def record(length: int) -> bytes:
    """Returns a JSON line of this length, most of which is not in the field with the text."""
    return b'{"text": "a%d", "other": "%s"}' % (length, b"x" * (length - len(b'{"text": "a%d", "other": ""}' % length)))


@settings(max_examples=60, deadline=None)
@given(
    lengths=st.lists(st.sampled_from([40, 99, 100, 101, 102, 150, 201, 1000]), max_size=8),
    ends=st.booleans(),
    block=st.sampled_from([1, 7, 100, 1 << 20]),
    separator=st.sampled_from(["\n", "<|>", "json"]),
)
def test_only_records_up_to_the_limit_are_read(
    tmp_path_factory: pytest.TempPathFactory, lengths: list[int], ends: bool, block: int, separator: str
) -> None:
    is_json = separator == "json"
    between = b"\n" if is_json else separator.encode()
    records = [record(length) if is_json else b"<" * length for length in lengths]
    path = tmp_path_factory.getbasetemp() / ("limit.jsonl" if is_json else "limit.txt")
    data = between.join(records) + between * (ends and bool(records))
    path.write_bytes(data)
    input_options = InputOptions(separator=None if is_json else separator, bad_records="skip", max_record_bytes=100)
    (source,) = sources(path)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blocks_module, "BLOCK_BYTES", block)
        results = list(documents(Part(0, 0, len(data), "bytes", len(data)), source, input_options))
    texts = [text for result in results for text in result.texts.to_list()]
    skipped = [text for result in results for text in result.skipped]
    expected = data.split(between)
    starts = [sum(len(other) + len(between) for other in expected[:row]) for row in range(len(expected))]
    expected = expected if expected[-1] or is_json else expected[:-1]
    short = [text for text in expected if len(text) <= 100 and not (is_json and not text)]
    assert texts == [b"a%d" % len(text) for text in short] if is_json else texts == short
    assert skipped == [
        ("longer than 100 bytes", f"{path}: byte {start}", "")
        for start, text in zip(starts, expected, strict=False)
        if len(text) > 100
    ]


@compressions
@pytest.mark.parametrize("kind", ["jsonl", "lines", "separator", "whole"])
def test_an_error_names_the_record_and_both_ways_out(tmp_path: Path, suffix: str, kind: str) -> None:
    between = "|" if kind == "separator" else "\n"
    texts = ["a" * 2000] if kind == "whole" else ["short", "also short", "b" * 5_000_000]
    content = between.join(map(json.dumps, texts) if kind == "jsonl" else texts)
    path = write(tmp_path / f"a.{'jsonl' if kind == 'jsonl' else 'txt'}{suffix}", content.encode())
    options: dict[str, Any] = {"lines": kind == "lines", "separator": "|" if kind == "separator" else None}
    line = 1 if kind in ("whole", "separator") else 3
    with pytest.raises(FormatError) as error:
        polytok.train(path, kind="bpe", vocab_size=300, max_record_bytes=LIMIT, bad_bytes="skip", **options)
    place = path if kind == "whole" else f"{path}:{line}"
    assert str(error.value) == (
        f"{place}: {LONG}; bad_records='skip' skips such records, and a larger max_record_bytes accepts them"
    )
    expected = [text.encode() for text in texts if len(text) <= LIMIT]
    assert read_file(path, max_record_bytes=LIMIT, **options) == (expected, [f"{line}: {LONG}"])
    assert read_file(path, max_record_bytes=5_000_002, **options) == ([text.encode() for text in texts], [])


@compressions
@pytest.mark.parametrize("kind", ["one record", "many records", "whole"])
def test_memory_does_not_grow_with_what_a_file_expands_to(tmp_path: Path, suffix: str, kind: str) -> None:
    size = 1 << 25
    content = b"a" * size if kind != "many records" else (b"a" * 99 + b"\n") * (size // 100)
    path = write(tmp_path / f"a.txt{suffix}", content)
    del content
    input_options = InputOptions(lines=kind != "whole", bad_records="skip", max_record_bytes=LIMIT)
    count = skipped = 0
    tracemalloc.start()
    try:
        with path.open("rb") as file:
            for result in read(str(path), file, input_options, "keep"):
                count, skipped = count + len(result), skipped + len(result.skipped)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert (count, skipped) == ((size // 100, 0) if kind == "many records" else (0, 1))
    assert peak < 6 * blocks_module.BLOCK_BYTES + (1 << 23)  # xz has a dictionary of 8 MiB


def table_file(tmp_path: Path, kind: str, columns: dict[str, Any], **options: Any) -> Path:
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    path, table = tmp_path / f"a.{kind}", arrow.table(columns)
    if kind == "parquet":
        parquet.write_table(table, path, **options)
    else:
        new = arrow.ipc.new_file if kind == "arrow" else arrow.ipc.new_stream
        with new(path, table.schema) as writer:
            writer.write_table(table)
    return path


@pytest.mark.parametrize("kind", ["parquet", "arrow", "arrows"])
def test_rows_of_tables(tmp_path: Path, kind: str) -> None:
    texts = ["a", "b" * 1000, "c" * 1001, None, "d"]
    path = table_file(tmp_path, kind, {"text": texts})
    found, skipped = read_file(path, max_record_bytes=LIMIT)
    assert found == [b"a", b"b" * 1000, b"d"]
    assert [text.partition(": ")[2] for text in skipped] == [LONG, "the field 'text' is null"]
    with pytest.raises(FormatError, match=rf"a\.{kind}: row 2.*: {LONG}; bad_records='skip' skips"):
        tokenize(path, "default", tmp_path / "out", workers=1, max_record_bytes=LIMIT)


@pytest.mark.parametrize("kind", ["parquet", "arrow"])
@pytest.mark.parametrize("is_dictionary", [False, True])
def test_the_other_columns_of_a_row_count(tmp_path: Path, kind: str, is_dictionary: bool) -> None:
    arrow = pytest.importorskip("pyarrow")
    urls = arrow.array(["u" * 500, "v" * 501, None, "w" * 999])
    columns = {
        "text": ["a" * 500, "b" * 500, "c" * 1000, "dd"],
        "url": urls.dictionary_encode() if is_dictionary else urls,
    }
    path = table_file(tmp_path, kind, columns)
    options: dict[str, Any] = {"max_record_bytes": LIMIT, "workers": 1, "columns": ["url"], "to": "arrow"}
    report = tokenize(path, "default", tmp_path / "out", bad_records="skip", **options)
    assert report.total.documents == 2 and report.total.skipped == {LONG: 2}
    report = tokenize(path, "default", tmp_path / "all", workers=1, max_record_bytes=LIMIT)
    assert report.total.documents == 4


def test_a_small_dictionary_of_long_texts_is_read_in_small_blocks(tmp_path: Path) -> None:
    arrow = pytest.importorskip("pyarrow")
    indices = arrow.array([0] * 300 + [None] + [1] * 30_000, arrow.int32())
    column = arrow.DictionaryArray.from_arrays(indices, arrow.array(["x" * 100_000, "y"]))
    path = table_file(tmp_path, "arrow", {"text": column})
    with path.open("rb") as file:
        results = list(read(str(path), file, InputOptions(bad_records="skip"), "keep"))
    assert max(result.texts.nbytes for result in results) <= blocks_module.BLOCK_BYTES
    texts = [text for result in results for text in result.texts.to_list()]
    assert texts == [b"x" * 100_000] * 300 + [b"y"] * 30_000
    assert sum(len(result.skipped) for result in results) == 1
    assert read_file(path, max_record_bytes=LIMIT)[0] == [b"y"] * 30_000


def test_files_of_urls() -> None:
    fsspec = pytest.importorskip("fsspec")
    fsspec.filesystem("memory").pipe("/limit/a.jsonl.gz", gzip.compress(record(5000) + b"\n" + record(50)))
    counts = polytok.count_words("memory://limit/*.gz", max_record_bytes=LIMIT, bad_records="skip", split=r"\w+")
    assert counts.words().to_list() == [(b"a50", 1)]
    with pytest.raises(FormatError, match=rf"memory://.*/a\.jsonl\.gz:1: {LONG}"):
        polytok.count_words("memory://limit/*.gz", max_record_bytes=LIMIT)


def test_records_in_memory_have_the_same_limit() -> None:
    texts = ["short", "é" * 501, {"text": b"x" * 1001}, io.BytesIO(b"y" * 1001)]
    report = TrainingReport()
    counts = polytok.count_words(texts, max_record_bytes=LIMIT, bad_records="skip", bad_bytes="skip", report=report)
    assert counts.words().to_list() == [(b"short", 1)]
    assert (report.texts, report.skipped) == (1, {LONG: 3})
    assert report.examples == [("text 2", LONG), ("text 3", LONG), ("input", LONG)]
    with pytest.raises(FormatError, match=rf"^text 1: {LONG}; bad_records='skip' skips such records, and a larger"):
        polytok.count_words(texts[1:], max_record_bytes=LIMIT)


def test_a_text_that_is_read_in_parts_can_be_longer(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"some words\n" * 1_000_000)
    counts = polytok.count_words(path, max_record_bytes=1 << 16, split=r"\w+")
    assert dict(counts.words().to_list()) == {b"some": 1_000_000, b"words": 1_000_000}
    assert polytok.train(path, vocab_size=262, max_record_bytes=1 << 16).vocab_size == 262


@pytest.mark.parametrize("kind", ["bpe", "longest-match"])
def test_what_must_be_in_memory_of_such_a_text_is_limited(tmp_path: Path, kind: Any) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"two words\n" + b"x" * 9_000_000)
    with pytest.raises(FormatError, match=r"a\.txt: \d+ bytes of the text must be in memory together, more than"):
        polytok.train(path, kind=kind, max_record_bytes=LIMIT, vocab_size=300)


@pytest.mark.parametrize("value", [0, -1, 1.5, "1M", None])
def test_wrong_limits(value: Any) -> None:
    with pytest.raises(ArgumentError, match="max_record_bytes="):
        InputOptions(max_record_bytes=value)


COMMANDS = [
    ("encode", "-m", "default"),
    ("count", "-m", "default"),
    ("stats", "default", "--json", "--on"),
    ("tokenize", "-m", "default", "--workers", "1", "-o", "{out}"),
    ("count-words", "-o", "{out}"),
    ("train", "--vocab-size", "256", "-o", "{out}.ptok"),
    ("chunk", "-m", "default", "--max-tokens", "9"),
]


def run(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> tuple[int, str, str]:
    code = main([str(argument) for argument in arguments])
    return code, *capsys.readouterr()


@pytest.mark.parametrize("command", COMMANDS, ids=[command[0] for command in COMMANDS])
def test_every_verb_has_the_limit(tmp_path: Path, capsys: pytest.CaptureFixture[str], command: tuple[str, ...]) -> None:
    path = write(tmp_path / "a.jsonl.gz", b'{"text": "short"}\n' + record(9_000_000) + b"\n")
    arguments = [argument.format(out=tmp_path / "out") for argument in command]
    arguments = [*arguments, str(path), "--max-record-bytes", "1K"]
    code, _, error = run(capsys, *arguments)
    place = " byte 18" if command[0] == "tokenize" else "2"
    assert (code, error.strip().partition("a.jsonl.gz:")[2]) == (
        2,
        f"{place}: longer than 1024 bytes; --bad-records skip skips such records, and a larger --max-record-bytes "
        "accepts them",
    )
    code, output, error = run(capsys, *arguments, "--bad-records", "skip")
    assert code == 0 and "longer than 1024 bytes: 1" in output + error


def test_encoding_a_file_in_parts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"some words " * 900_000)
    code, output, _ = run(capsys, "encode", "-m", "default", path, "--max-record-bytes", "64K")
    assert (code, output) == run(capsys, "encode", "-m", "default", path)[:2]
    path.write_bytes(b"x" * 9_000_000)
    code, _, error = run(capsys, "encode", "-m", "default", path, "--max-record-bytes", "64K")
    assert code == 2 and "bytes of the text must be in memory together, more than --max-record-bytes 65536" in error
