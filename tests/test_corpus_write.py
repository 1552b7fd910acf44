"""Tests writing shards: every kind and dtype, completely or not at all, in limited memory."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import tracemalloc
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import ipc, parquet

from polytok import ArgumentError, FileError
from polytok.corpus.write import WRITERS, OutputFile, arrow, checksum, megatron
from shards import MOST, PAIRS, Documents, columnar, read

IDS = [f"{kind}-{dtype}" for kind, dtype in PAIRS]


@pytest.fixture
def skip_fsync(monkeypatch: pytest.MonkeyPatch) -> None:
    """Disables fsync, because hundreds of small shards would wait for the disk."""
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)


def portions(documents: Documents, borders: list[int]) -> list[Documents]:
    """Divides the documents at borders."""
    cuts = sorted({0, len(documents), *(border % (len(documents) + 1) for border in borders)})
    return [documents[start:end] for start, end in pairwise(cuts)]


def write_shard(folder: Path, kind: str, dtype: str, parts: list[Documents]) -> list[Path]:
    """Writes a shard of these documents and returns its files."""
    with WRITERS[kind](folder, "00000", np.dtype(dtype)) as writer:
        for number, part in enumerate(parts):
            writer.write(*columnar(part, dtype, lead=number))
        files = writer.finish()
    assert [file.name for file in files] == [f"00000{suffix}" for suffix in writer.suffixes]
    assert sorted(path.name for path in folder.iterdir()) == sorted(file.name for file in files)
    for file in files:
        assert ((folder / file.name).stat().st_size, checksum(folder / file.name)) == (file.bytes, file.checksum)
    return [folder / file.name for file in files]


@pytest.mark.usefixtures("skip_fsync")
@pytest.mark.parametrize(("kind", "dtype"), PAIRS, ids=IDS)
def test_documents_come_back(tmp_path_factory: pytest.TempPathFactory, kind: str, dtype: str) -> None:
    ids = st.integers(0, MOST[dtype])
    documents = st.lists(st.lists(ids, max_size=8), max_size=12)

    @settings(max_examples=20, deadline=None)
    @given(documents, st.lists(st.integers(0, 100), max_size=4))
    def check(documents: Documents, borders: list[int]) -> None:
        first_folder, other_folder = tmp_path_factory.mktemp("one"), tmp_path_factory.mktemp("other")
        paths = write_shard(first_folder, kind, dtype, portions(documents, borders))
        assert read(paths, kind, dtype) == documents
        # The bytes do not depend on the portions.
        second_shard = write_shard(other_folder, kind, dtype, [documents])
        assert [path.read_bytes() for path in second_shard] == [path.read_bytes() for path in paths]

    check()


@pytest.mark.usefixtures("skip_fsync")
@pytest.mark.parametrize(("kind", "dtype"), PAIRS, ids=IDS)
def test_small_blocks_and_groups(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, dtype: str) -> None:
    """Tests blocks and groups of documents with sizes small enough for several of each."""
    monkeypatch.setattr(megatron, "_BLOCK_DOCUMENTS", 3)
    monkeypatch.setattr(arrow, "_MAX_GROUP_TOKENS", 5)
    monkeypatch.setattr(arrow, "_MAX_GROUP_ROWS", 3)
    documents = [[], [1], [2] * 20, [], [], [], [], [3, 4], [MOST[dtype]], [5] * 6]
    (tmp_path / "one").mkdir()
    paths = write_shard(tmp_path / "one", kind, dtype, portions(documents, [1, 4, 9]))
    assert read(paths, kind, dtype) == documents
    (tmp_path / "other").mkdir()
    second_shard = write_shard(tmp_path / "other", kind, dtype, portions(documents, [2, 3, 8]))
    assert [path.read_bytes() for path in second_shard] == [path.read_bytes() for path in paths]
    if kind == "parquet":
        file = parquet.ParquetFile(paths[0])
        assert [file.metadata.row_group(group).num_rows for group in range(file.num_row_groups)] == [3, 3, 3, 1]


def test_columns_go_with_their_documents(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrow, "_MAX_GROUP_ROWS", 2)
    table = pyarrow.table(
        {"url": pyarrow.array(["a", None, "c", "a"]).dictionary_encode(), "meta": [{"n": 1}, {"n": 2}, None, {"n": 4}]}
    )
    for kind in ("parquet", "arrow"):
        with WRITERS[kind](tmp_path, kind, np.dtype("uint16"), table.schema) as writer:
            writer.write(*columnar([[1], []], "uint16"), table.slice(0, 2))
            # A different dictionary, as in another row group of an input.
            remaining_rows = pyarrow.table(
                {"url": pyarrow.array(["c", "a"]).dictionary_encode(), "meta": table["meta"][2:]}
            )
            writer.write(*columnar([[2, 3], [4]], "uint16"), remaining_rows)
            (file,) = writer.finish()
        path = tmp_path / file.name
        stored_table = parquet.read_table(path) if kind == "parquet" else ipc.open_file(path).read_all()
        assert stored_table.column_names == ["ids", "url", "meta"]
        assert stored_table["ids"].to_pylist() == [[1], [], [2, 3], [4]]
        assert stored_table["url"].to_pylist() == ["a", None, "c", "a"]
        assert stored_table["meta"].to_pylist() == table["meta"].to_pylist()


def test_columns_that_differ_between_portions(tmp_path: Path) -> None:
    table = pyarrow.table({"n": pyarrow.array([1, 2], pyarrow.int8())})
    for other_table, message in (
        (None, "has no column 'n'"),
        (pyarrow.table({"m": [1]}), "has no column 'n'"),
        (pyarrow.table({"n": [1000]}), "'n' of an input cannot be cast to int8: .*1000"),
    ):
        writer = WRITERS["parquet"](tmp_path, "00000", np.dtype("uint16"), table.schema)
        writer.write(*columnar([[1], [2]], "uint16"), table)
        with pytest.raises(ArgumentError, match=message):
            writer.write(*columnar([[3]], "uint16"), other_table)
        assert list(tmp_path.iterdir()) == []


def test_columns_need_a_kind_that_holds_them(tmp_path: Path) -> None:
    schema = pyarrow.schema([("url", pyarrow.string())])
    with pytest.raises(ArgumentError, match="remove the columns"):
        WRITERS["megatron"](tmp_path, "00000", np.dtype("uint16"), schema)
    with pytest.raises(ArgumentError, match="the input column 'ids' has the name"):
        WRITERS["parquet"](tmp_path, "00000", np.dtype("uint16"), pyarrow.schema([("ids", pyarrow.string())]))
    assert list(tmp_path.iterdir()) == []


def test_ids_that_do_not_fit(tmp_path: Path) -> None:
    for kind, dtype, given_dtype, id in (
        ("flat", "uint16", "uint32", 2**16),
        ("megatron", "int32", "uint32", 2**31),
        ("parquet", "uint16", "uint32", 70000),
    ):
        writer = WRITERS[kind](tmp_path, "00000", np.dtype(dtype))
        writer.write(*columnar([[id - 1] if kind != "parquet" else [5]], given_dtype))
        with pytest.raises(ArgumentError, match=f"id {id} does not fit"):
            writer.write(*columnar([[1, id]], given_dtype))
        assert list(tmp_path.iterdir()) == []


def test_which_dtype_is_stored() -> None:
    wide_dtype = np.dtype("uint32")
    stored_dtypes = {kind: writer.stored_dtype(wide_dtype).name for kind, writer in WRITERS.items()}
    assert stored_dtypes == {
        "megatron": "int32",
        "flat": "uint32",
        "npy": "uint32",
        "parquet": "uint32",
        "arrow": "uint32",
    }
    with pytest.raises(ArgumentError, match="choose uint16"):
        WRITERS["flat"].stored_dtype(np.dtype("float32"))


def test_an_unfinished_shard_has_no_files(tmp_path: Path) -> None:
    for kind, writer_of in WRITERS.items():
        with WRITERS[kind](tmp_path, "00000", np.dtype(writer_of.dtypes[0])) as writer:
            writer.write(*columnar([[1, 2]], "uint16"))
            names = [path.name for path in tmp_path.iterdir()]
            assert len(names) == len(writer_of.suffixes) and all(name.startswith(".00000") for name in names)
        assert list(tmp_path.iterdir()) == []


def test_a_disk_that_is_full(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests a full disk by the system's limit on file sizes, which causes the same kind of error."""
    program = (
        "import resource, signal, sys, numpy as np; from pathlib import Path\n"
        "import polytok; from polytok.corpus.write import WRITERS\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))\n"
        "for kind, writer in WRITERS.items():\n"
        "    try:\n"
        "        out = writer(Path(sys.argv[1]), '00000', np.dtype('uint16'))\n"
        "        rows = np.random.default_rng(1).integers(0, 65536, 60_000).astype(np.uint16)\n"
        "        out.write(rows, np.array([0, 60_000])); out.finish()\n"
        "    except polytok.FileError as error: print(kind, error.filename)\n"
    )
    process = subprocess.run([sys.executable, "-c", program, str(tmp_path)], capture_output=True, text=True, check=True)
    printed_fields = [line.split() for line in process.stdout.splitlines()]
    assert [kind for kind, _ in printed_fields] == list(WRITERS)
    assert all(name == str(tmp_path / f"00000{WRITERS[kind].suffixes[0]}") for kind, name in printed_fields)
    assert list(tmp_path.iterdir()) == []


def test_a_disk_that_fails_at_the_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(descriptor: int) -> None:
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(os, "fsync", fails)
    for kind, writer_of in WRITERS.items():
        writer = writer_of(tmp_path, "00000", np.dtype("uint16"))
        writer.write(*columnar([[1]], "uint16"))
        with pytest.raises(FileError, match="00000"):
            writer.finish()
        assert list(tmp_path.iterdir()) == [], kind


def test_output_files_are_hashed_for_any_order_of_writes(tmp_path: Path) -> None:
    file = OutputFile(tmp_path / "file")
    file.write(b"....")
    file.write(np.arange(3, dtype=np.uint32))
    assert file.read_at(4, 100) == bytes([0, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0])
    file.write(b"end")
    file.seek(0)
    file.write(b"head")
    finished = file.finish()
    file.keep()
    assert (tmp_path / "file").read_bytes()[:4] == b"head" and finished.bytes == 19
    assert finished.checksum == checksum(tmp_path / "file")


@pytest.mark.usefixtures("skip_fsync")
@pytest.mark.parametrize("kind", ["megatron", "flat", "npy"])
def test_memory_does_not_grow(tmp_path: Path, kind: str) -> None:
    """Tests memory with two million documents, whose lengths alone would take 8 MB and whose borders 16 MB."""
    rows = 50_000
    ids, offsets = np.zeros(rows, dtype=np.uint16), np.arange(rows + 1, dtype=np.int64)
    tracemalloc.start()
    try:
        with WRITERS[kind](tmp_path, kind, np.dtype("uint16")) as writer:
            for _ in range(40):
                writer.write(ids, offsets)
            files = writer.finish()
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 6 << 20
    assert files[1].bytes == (42 + 20 * 40 * rows if kind == "megatron" else 8 + 8 * 40 * rows)
