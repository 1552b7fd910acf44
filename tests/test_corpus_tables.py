"""Tests texts of Parquet and Arrow files: every kind of column, groups that are read separately, damaged files."""

from __future__ import annotations

import gzip
import importlib
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import polytok
from polytok import ArgumentError, EncodeError, FormatError, InputOptions
from polytok.corpus.documents import Documents, SkippedText, documents, schema_of
from polytok.corpus.plan import plan
from polytok.reading import blocks as blocks_module
from polytok.reading import tables

arrow = pytest.importorskip("pyarrow")
parquet = importlib.import_module("pyarrow.parquet")
feather = importlib.import_module("pyarrow.feather")

TEXTS = ["to be", "", None, "ありがとう 😀", "x" * 100, "to be", None, "last"]
THERE = [text.encode() for text in TEXTS if text is not None]
FORMATS = ["parquet", "arrow", "stream", "feather"]


def write(path: Path, table: Any, rows: int = 1 << 20) -> None:
    """Writes a table in the format of the name, with ``rows`` rows in each group."""
    if path.suffix == ".parquet":
        parquet.write_table(table, path, row_group_size=rows, write_page_checksum=True)
    elif path.suffix == ".feather":
        feather.write_feather(table, str(path), chunksize=rows)
    else:
        make = arrow.ipc.new_stream if path.suffix == ".stream" else arrow.ipc.new_file
        with make(str(path), table.schema) as writer:
            writer.write_table(table, max_chunksize=rows)


def read_columns(
    path: Path, input_options: InputOptions, columns: Sequence[str] = (), shard_size: int = 1 << 28
) -> list[Documents]:
    planned = plan(path, input_options, shard_size)
    parts = [part for task in planned.tasks for part in task.parts]
    return [block for part in parts for block in documents(part, planned.sources[0], input_options, columns)]


def read_texts(
    path: Path, input_options: InputOptions, shard_size: int = 1 << 28
) -> tuple[list[bytes | None], list[SkippedText]]:
    blocks = read_columns(path, input_options, shard_size=shard_size)
    return [text for block in blocks for text in block.texts.to_list()], [
        skipped_text for block in blocks for skipped_text in block.skipped
    ]


def read_with_damage(path: Path, input_options: InputOptions, shard_size: int) -> tuple[list[bytes | None], list[str]]:
    blocks = read_columns(path, input_options, shard_size=shard_size)
    texts = [text for block in blocks for text in block.texts.to_list()]
    return texts, [block.damage for block in blocks if block.damage is not None]


def place(kind: str, row: int, rows: int) -> str:
    """Returns the position of a row as errors describe it, for groups of ``rows`` rows."""
    return f"row {row}" if kind in ("parquet", "stream") else f"row {row % rows} of record batch {row // rows}"


def reading_of(kind: str, **how: Any) -> InputOptions:
    return InputOptions(input_format="arrow" if kind == "stream" else None, bad_records="skip", **how)


@pytest.mark.parametrize("kind", FORMATS)
def test_every_kind_of_column(tmp_path: Path, kind: str) -> None:
    path = tmp_path / f"texts.{kind}"
    strings = arrow.array(TEXTS)
    columns = {
        "string": strings,
        "large": strings.cast(arrow.large_string()),
        "view": strings.cast(arrow.string_view()),
        "binary": strings.cast(arrow.binary()),
        "large binary": strings.cast(arrow.large_binary()),
        "binary view": strings.cast(arrow.binary_view()),
        "dictionary": strings.dictionary_encode(),
        "a.b": strings,
        "outer": arrow.array([{"inner": {"text": text}, "n": 1} for text in TEXTS]),
    }
    write(path, arrow.table(columns), 3)
    for field in (*list(columns)[:-1], "outer.inner.text"):
        texts, skipped_texts = read_texts(path, reading_of(kind, field=field))
        assert texts == THERE, field
        assert {skipped_text.reason for skipped_text in skipped_texts} == {f"the field {field!r} is null"}
        assert [skipped_text.place for skipped_text in skipped_texts] == [
            f"{path}: {place(kind, row, 3)}" for row in (2, 6)
        ]


@pytest.mark.parametrize("kind", FORMATS)
def test_structs_that_are_null_and_missing_columns(tmp_path: Path, kind: str) -> None:
    path = tmp_path / f"texts.{kind}"
    rows = [{"text": "a"}, None, {"text": None}, {"text": "b"}]
    write(path, arrow.table({"meta": rows, "n": [1, 2, 3, 4], "nothing": arrow.nulls(4)}))
    texts, skipped_texts = read_texts(path, reading_of(kind, field="meta.text"))
    assert texts == [b"a", b"b"] and len(skipped_texts) == 2
    assert read_texts(path, reading_of(kind, field="nothing"))[0] == []
    for field, message in (
        ("text", r"has no column 'text'; the fields are 'meta', 'n', 'nothing'"),
        ("meta.body", "has no column 'meta.body'"),
        ("n.m", "has no column 'n.m'"),
        ("n", "'n' is of type int64, not text"),
        ("meta", "'meta' is of type struct<text: string>"),
    ):
        with pytest.raises(ArgumentError, match=message):
            read_texts(path, reading_of(kind, field=field))
    with pytest.raises(FormatError, match=r"row 1.*: the field 'meta\.text' is null; bad_records='skip'"):
        read_texts(path, InputOptions(input_format="arrow" if kind == "stream" else None, field="meta.text"))


@pytest.mark.parametrize("kind", FORMATS)
@pytest.mark.parametrize("block", [1, 2000, 1 << 23])
def test_groups_are_read_separately(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, block: int) -> None:
    for module in (blocks_module, tables):
        monkeypatch.setattr(module, "BLOCK_BYTES", block)
    path = tmp_path / f"texts.{kind}"
    texts = [os.urandom(number % 50).hex() if number % 7 else None for number in range(1000)]
    write(path, arrow.table({"text": texts, "id": range(1000), "other": ["x"] * 1000}), 90)
    expected = [text.encode() for text in texts if text is not None]
    size = path.stat().st_size // 5
    planned = plan(path, reading_of(kind), size)
    assert len(planned.tasks) == (1 if kind == "stream" else 6)
    blocks = read_columns(path, reading_of(kind), ["id"], size)
    assert [text for text_block in blocks for text in text_block.texts.to_list()] == expected
    ids = [id for text_block in blocks for id in text_block.columns["id"].to_pylist()]
    schema = schema_of(planned.sources[0], reading_of(kind), ["id"])
    assert schema == arrow.schema([("id", arrow.int64())]) and all(
        text_block.columns.schema == schema for text_block in blocks
    )
    assert ids == [number for number in range(1000) if texts[number] is not None]
    places = [text_block.place(row) for text_block in blocks for row in range(len(text_block))]
    assert places == [f"{path}: {place(kind, id, 90)}" for id in ids]
    skipped_places = [skipped_text.place for text_block in blocks for skipped_text in text_block.skipped]
    assert skipped_places == [f"{path}: {place(kind, id, 90)}" for id in range(0, 1000, 7)]


@pytest.mark.parametrize("kind", FORMATS)
def test_a_column_that_occurs_twice(tmp_path: Path, kind: str) -> None:
    path = tmp_path / f"texts.{kind}"
    column = arrow.array(["x" * 1000]).dictionary_encode()
    write(path, arrow.table({"text": arrow.DictionaryArray.from_arrays([0] * 50_000, column.dictionary)}))
    blocks = read_columns(path, reading_of(kind))
    assert sum(map(len, blocks)) == 50_000 and max(block.texts.nbytes for block in blocks) < 1 << 25


ENCODINGS: dict[str, dict[str, Any]] = {
    "dictionary": {"use_dictionary": True},
    "delta": {"use_dictionary": False, "column_encoding": {"text": "DELTA_BYTE_ARRAY"}},
}


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_a_small_parquet_file_of_a_text_that_many_rows_repeat(tmp_path: Path, encoding: str) -> None:
    """The 20,000 rows of a few kilobytes have a gigabyte together; a batch of them has 256 rows."""
    path = tmp_path / "texts.parquet"
    repeated = arrow.DictionaryArray.from_arrays(arrow.array([0] * 20_000), arrow.array(["x" * 60_000]))
    parquet.write_table(arrow.table({"text": repeated.dictionary_decode()}), path, **ENCODINGS[encoding])
    assert path.stat().st_size < 50_000
    with path.open("rb") as file:
        table = tables.open_table("texts.parquet", file, b"PAR1", "parquet")
        sizes = [(batch.num_rows, batch.nbytes) for batch in table.batches(0, ["text"])]
    assert sum(rows for rows, _ in sizes) == 20_000 and max(size for _, size in sizes) < 256 * 60_100


@pytest.mark.parametrize("encoding", ["PLAIN", "DELTA_BYTE_ARRAY", "DELTA_LENGTH_BYTE_ARRAY"])
def test_the_batches_of_short_texts_after_a_long_one_are_joined(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "texts.parquet"
    texts = ["x" * 3_000_000, *(f"text {number}" for number in range(50_000))]
    options = {"use_dictionary": False, "column_encoding": {"text": encoding}}
    parquet.write_table(arrow.table({"text": texts}), path, **options)
    blocks = read_columns(path, reading_of("parquet"))
    assert [text for block in blocks for text in block.texts.to_list()] == [text.encode() for text in texts]
    assert len(blocks) < 10


def test_a_dictionary_column_beside_numbers_is_not_divided(tmp_path: Path) -> None:
    path = tmp_path / "texts.parquet"
    texts = arrow.array([f"text {number % 5000}" for number in range(40_000)]).dictionary_encode()
    write(path, arrow.table({"text": texts, "id": arrow.array(range(40_000))}))
    assert len(read_columns(path, reading_of("parquet"), ["id"])) < 10


@pytest.mark.parametrize("kind", FORMATS)
def test_tables_without_rows(tmp_path: Path, kind: str) -> None:
    path = tmp_path / f"texts.{kind}"
    write(path, arrow.table({"text": arrow.array([], arrow.string())}))
    assert read_texts(path, reading_of(kind)) == ([], [])


def test_texts_that_are_not_utf8(tmp_path: Path) -> None:
    path = tmp_path / "texts.parquet"
    write(path, arrow.table({"text": [b"good", b"caf\xe9", b"\xff", b"fine"], "id": [1, 2, 3, 4]}))
    with pytest.raises(EncodeError, match=r"texts\.parquet: row 1: not UTF-8 at byte 3"):
        read_texts(path, InputOptions())
    assert read_texts(path, InputOptions(bad_bytes="replace"))[0][1:3] == ["caf\ufffd".encode(), "\ufffd".encode()]
    (block,) = read_columns(path, InputOptions(bad_bytes="skip"), ["id"])
    assert block.texts.to_list() == [b"good", b"fine"] and block.columns["id"].to_pylist() == [1, 4]
    assert [skipped_text.place for skipped_text in block.skipped] == [f"{path}: row {row}" for row in (1, 2)]


def test_a_damaged_row_group_does_not_touch_the_others(tmp_path: Path) -> None:
    path = tmp_path / "texts.parquet"
    texts = [os.urandom(20).hex() for _ in range(3000)]
    write(path, arrow.table({"text": texts}), 1000)
    data = bytearray(path.read_bytes())
    middle = len(data) // 2
    data[middle : middle + 100] = bytes(100)
    path.write_bytes(data)
    with pytest.raises(FormatError, match=r"texts\.parquet cannot be read as a table.*damaged_files='skip'"):
        read_texts(path, InputOptions())
    for shard_size in (1 << 28, 10_000):
        texts_read, (damage,) = read_with_damage(path, InputOptions(damaged_files="skip"), shard_size)
        assert texts_read == [text.encode() for text in texts[:1000] + texts[2000:]]
        assert damage.endswith(f"; the texts before {path}: row 1000 were read")


@pytest.mark.parametrize("kind", FORMATS)
def test_truncated_files(tmp_path: Path, kind: str) -> None:
    path = tmp_path / f"texts.{kind}"
    texts = [os.urandom(20).hex() for _ in range(3000)]
    write(path, arrow.table({"text": texts}), 500)
    data = path.read_bytes()
    for length in (len(data) - 1, len(data) // 2, 20, 9, 0):
        path.write_bytes(data[:length])
        format_options: dict[str, Any] = {"input_format": "parquet" if kind == "parquet" else "arrow"}
        if kind == "stream" and length == len(data) - 1:
            continue  # the last bytes only mark the end of the stream
        with pytest.raises(FormatError, match=rf"texts\.{kind} .*damaged_files='skip'"):
            read_texts(path, InputOptions(**format_options))
        for shard_size in (1 << 28, 1000):
            texts_read, (damage,) = read_with_damage(
                path, InputOptions(**format_options, damaged_files="skip"), shard_size
            )
            assert texts_read == [text.encode() for text in texts[: len(texts_read)]]
            assert damage.startswith(str(path))
            assert (len(texts_read) >= 1000) == (kind == "stream" and length > 100)


def test_files_that_are_not_tables(tmp_path: Path) -> None:
    packed_file, old_file, text = tmp_path / "a.arrow", tmp_path / "b.feather", tmp_path / "c.parquet"
    write(tmp_path / "texts.stream", arrow.table({"text": ["a"]}))
    packed_file.write_bytes(gzip.compress((tmp_path / "texts.stream").read_bytes()))
    old_file.write_bytes(b"FEA1" + bytes(20))
    text.write_bytes(gzip.compress(b"text"))
    with pytest.raises(FormatError, match=r"a\.arrow cannot be read .* compressed as a whole"):
        read_texts(packed_file, InputOptions())
    read_end, write_end = os.pipe()
    write(tmp_path / "d.parquet", arrow.table({"text": ["a"]}))
    os.write(write_end, (tmp_path / "d.parquet").read_bytes())
    os.close(write_end)
    with open(read_end, "rb") as pipe, pytest.raises(ArgumentError, match="is a stream"):
        polytok.count_words([pipe])
    with pytest.raises(FormatError, match="Feather file of version 1"):
        read_texts(old_file, InputOptions())
    with pytest.raises(FormatError, match=r"does not begin as a Parquet file does; the file is compressed"):
        read_texts(text, InputOptions())


def test_without_pyarrow_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "texts.parquet"
    write(path, arrow.table({"text": ["a"]}))

    def fail_import(name: str) -> None:
        raise error

    monkeypatch.setattr(importlib, "import_module", fail_import)
    error: ImportError = ModuleNotFoundError("No module named 'pyarrow'", name="pyarrow")
    missing = r"texts\.parquet needs the package pyarrow: pip install 'polytok\[parquet\]'"
    with pytest.raises(ArgumentError, match=missing):
        read_texts(path, InputOptions())
    error = ImportError("numpy.core.multiarray failed to import")
    with pytest.raises(ArgumentError, match="package pyarrow, whose import fails: numpy.core.multiarray failed"):
        read_texts(path, InputOptions())
