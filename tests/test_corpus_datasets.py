"""Tests dataset folders: opening, verifying, merging and exporting; damaged and hostile folders."""

from __future__ import annotations

import contextlib
import json
import os
import pickle
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import ipc, parquet

import polytok
from polytok import ArgumentError, FileError, FormatError, corpus
from polytok.cli import main
from polytok.corpus import blocks
from shards import PAIRS, Documents, dataset, read

MAPPED = [(kind, dtype) for kind, dtype in PAIRS if kind in ("megatron", "flat", "npy")]
IDS = [f"{kind}-{dtype}" for kind, dtype in MAPPED]
KINDS = ["megatron", "flat", "npy", "parquet", "arrow"]
SHARDS: list[Documents] = [[[1, 2, 3], [], [4]], [], [[5, 6], [7, 8, 9, 10]], [[]], [[11]]]
ROWS = [document for shard in SHARDS for document in shard]
STREAM = [id for document in ROWS for id in document]


@pytest.fixture(autouse=True)
def _skip_fsync(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)


@pytest.mark.parametrize(("kind", "dtype"), MAPPED, ids=IDS)
def test_documents_by_index(tmp_path: Path, kind: str, dtype: str) -> None:
    tokens = corpus.open(dataset(tmp_path / "tokens", SHARDS, kind, dtype))
    assert (len(tokens), tokens.documents, tokens.tokens, tokens.dtype) == (7, 7, 11, np.dtype(dtype))
    assert [row.tolist() for row in tokens] == ROWS
    assert [tokens[index].tolist() for index in range(-7, 0)] == ROWS
    assert tokens[1:6:2].to_list() == ROWS[1:6:2] and tokens[4:1].to_list() == []
    assert tokens[np.int64(2)].tolist() == [4]
    for index in (7, -8):
        with pytest.raises(IndexError, match=f"document {index} is out of range: the dataset has 7"):
            tokens[index]
    assert [shard.documents for shard in tokens.shards] == [3, 0, 2, 1, 1]
    assert tokens.shard(-1).ids.tolist() == [11]


def test_ids_are_not_copied(tmp_path: Path) -> None:
    tokens = corpus.open(dataset(tmp_path / "tokens", SHARDS))
    shard_ids = tokens.shard(2).ids
    assert np.shares_memory(tokens[4], shard_ids) and np.shares_memory(tokens.windows(2)[3], shard_ids)
    assert not tokens[4].flags.writeable
    assert not np.shares_memory(tokens.ids(3, 6), shard_ids)


@settings(max_examples=40, deadline=None)
@given(
    shards=st.lists(st.lists(st.lists(st.integers(0, 99), max_size=5), max_size=4), max_size=5),
    length=st.integers(1, 12),
    stride=st.integers(1, 12) | st.none(),
    kind=st.sampled_from(["megatron", "flat", "npy"]),
)
def test_windows_are_slices_of_one_stream(
    tmp_path_factory: pytest.TempPathFactory, shards: list[Documents], length: int, stride: int | None, kind: str
) -> None:
    tokens = corpus.open(dataset(tmp_path_factory.mktemp("windows") / "tokens", shards, kind))
    stream = [id for shard in shards for document in shard for id in document]
    step = length if stride is None else stride
    expected = [stream[start : start + length] for start in range(0, len(stream) - length + 1, step)]
    windows = tokens.windows(length, stride)
    assert len(windows) == len(expected)
    assert [window.tolist() for window in windows] == expected
    assert windows[::-1].tolist() == expected[::-1] and windows[:].shape == (len(expected), length)
    assert windows.take([0, -1] if expected else []).tolist() == (expected[:1] + expected[-1:])
    for start in range(-3, len(stream) + 3):
        assert tokens.ids(start, start + length).tolist() == stream[slice(start, start + length)]
    with pytest.raises(IndexError, match="window"):
        windows[len(expected)]


def test_windows_of_an_empty_dataset(tmp_path: Path) -> None:
    tokens = corpus.open(dataset(tmp_path / "tokens", []))
    assert len(tokens) == 0 and tokens.tokens == 0 and list(tokens) == [] and tokens[:].to_list() == []
    assert len(tokens.windows(1)) == 0 and tokens.windows(3)[:].shape == (0, 3)
    for length, stride in ((0, 1), (1, 0), (-1, None)):
        with pytest.raises(ArgumentError, match="too small"):
            tokens.windows(length, stride)


def test_pickled_datasets_contain_only_the_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = dataset(tmp_path / "tokens", SHARDS)
    monkeypatch.chdir(tmp_path)
    pickled = pickle.dumps((corpus.open("tokens"), corpus.open("tokens").windows(4)))
    assert len(pickled) < 500
    monkeypatch.chdir("/")
    tokens, windows = pickle.loads(pickled)
    assert tokens.folder == folder and tokens[4].tolist() == ROWS[4] and windows[0].tolist() == STREAM[:4]


def test_more_shards_than_files_can_be_open(tmp_path: Path) -> None:
    folder = dataset(tmp_path / "tokens", [[[number]] for number in range(200)], "flat")
    program = (
        "import resource, sys; from polytok import corpus\n"
        "resource.setrlimit(resource.RLIMIT_NOFILE, (320, 320))\n"
        "print(sum(int(row[0]) for row in corpus.open(sys.argv[1])))"
    )
    process = subprocess.run([sys.executable, "-c", program, folder], capture_output=True, text=True)
    assert (process.stdout.strip(), process.stderr) == (str(sum(range(200))), "")


def test_the_tokenizer_is_the_one_used(tmp_path: Path) -> None:
    default = polytok.load("default")
    rows = [default.encode("one text"), default.encode("another")]
    tokens = corpus.open(dataset(tmp_path / "tokens", [rows]))
    tokens.check(default)
    assert tokens.decode(0) == "one text" and tokens.decode(-1) == "another"
    assert tokens.tokenizer is tokens.tokenizer
    other_tokenizer = polytok.train(["some other text"], vocab_size=260)
    with pytest.raises(ArgumentError, match="this tokenizer is another one"):
        tokens.check(other_tokenizer)
    other_tokenizer.save(tokens.folder / "tokenizer.ptok")
    with pytest.raises(ArgumentError, match="this tokenizer is another one"):
        corpus.open(tokens.folder).decode(0)
    (tokens.folder / "tokenizer.ptok").unlink()
    with pytest.raises(FileError, match="No such file"):
        corpus.open(tokens.folder).decode(0)


@pytest.mark.parametrize("kind", ["parquet", "arrow"])
def test_table_shards_cannot_be_opened(tmp_path: Path, kind: str) -> None:
    with pytest.raises(ArgumentError, match="polytok corpus merge"):
        corpus.open(dataset(tmp_path / "tokens", SHARDS, kind))


def test_folders_without_a_dataset(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="this folder is not a dataset"):
        corpus.open(tmp_path)
    with pytest.raises(FileError, match="this folder does not exist"):
        corpus.open(tmp_path / "nowhere")


def test_urls_are_refused_with_advice(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder, url = dataset(tmp_path / "tokens", SHARDS), "memory://tokens"
    calls: list[Callable[[], Any]] = [
        lambda: corpus.open(url),
        lambda: corpus.verify(url),
        lambda: corpus.merge([url], tmp_path / "merged"),
        lambda: corpus.merge([folder], url),
        lambda: corpus.export(url, tmp_path / "train"),
        lambda: corpus.export(folder, url),
    ]
    for call in calls:
        with pytest.raises(ArgumentError, match="memory://tokens is a URL"):
            call()
    assert main(["corpus", "info", url]) == 2 and "memory://tokens is a URL" in capsys.readouterr().err
    assert len(corpus.open(f"file://{folder}")) == 7


def _set(*path: str | int, to: Any) -> Callable[[Any], None]:
    def change(manifest: Any) -> None:
        for key in path[:-1]:
            manifest = manifest[key]
        manifest[path[-1]] = to

    return change


HOSTILE = {
    "newer": (_set("version", to=2), "update polytok"),
    "no version": (lambda manifest: manifest.pop("version"), "'version' of the manifest is not"),
    "kind": (_set("kind", to="pickle"), "unknown kind 'pickle'"),
    "dtype": (_set("dtype", to="float16"), "cannot hold ids of type 'float16'"),
    "path": (_set("shards", 0, "stem", to="../00000"), "not the name of a file in the folder"),
    "absolute": (_set("shards", 0, "files", 0, "name", to="/etc/passwd"), "not the name of a file in the folder"),
    "hidden": (_set("shards", 0, "stem", to=".."), "not the name of a file in the folder"),
    "other file": (_set("shards", 0, "files", 0, "name", to="tokenizer.ptok"), "the files of shard 00000 are not"),
    "files": (_set("shards", 0, "files", to=[]), "the files of shard 00000 are not"),
    "negative": (_set("shards", 0, "documents", to=-1), "is -1, which is not from 0"),
    "huge": (_set("shards", 0, "tokens", to=2**63), "is not from 0"),
    "float": (_set("shards", 0, "tokens", to=4.0), "is not a whole number, but 4.0"),
    "true": (_set("shards", 0, "tokens", to=True), "is not a whole number"),
    "sums": (_set("totals", "tokens", to=12), "but the sums over the shards"),
    "twice": (_set("shards", 1, "stem", to="00000"), "the files of shard 00000 are not"),
    "list": (_set("sources", to={}), "'sources' of the manifest is not a list"),
    "object": (_set("shards", 0, to=[]), r"shards\[0\] is not an object"),
    "source": (_set("shards", 0, "sources", to=[{"source": 5, "documents": 3}]), "an input that the manifest"),
    "sources": (_set("shards", 0, "sources", to=[{"source": 0, "documents": 2}]), "do not add up"),
    "window": (_set("shards", 0, "shuffle", to={"window": 0, "seed": 1, "task": 0}), "windows of 0 documents"),
    "seed": (_set("shards", 0, "shuffle", to={"window": 2, "seed": 2**64, "task": 0}), "not from 0"),
    "skipped": (_set("shards", 0, "skipped", to={"why": "x"}), "'why' of 'skipped' of shards"),
}


@pytest.mark.parametrize("what", HOSTILE)
def test_hostile_manifests(tmp_path: Path, what: str) -> None:
    folder = dataset(tmp_path / "tokens", SHARDS)
    change, message = HOSTILE[what]
    manifest = json.loads((folder / "dataset.json").read_bytes())
    change(manifest)
    (folder / "dataset.json").write_text(json.dumps(manifest))
    with pytest.raises(FormatError, match=message) as error:
        corpus.open(folder)
    assert str(folder / "dataset.json") in str(error.value)


@pytest.mark.parametrize(
    "data", [b"", b"{", b"[]", b"\xff", b"[" * 100_000, b'{"version": ' + b"9" * 5000 + b"}"], ids=range(6)
)
def test_invalid_manifests_are_refused(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "dataset.json").write_bytes(data)
    with pytest.raises(FormatError, match="dataset.json"):
        corpus.open(tmp_path)


def test_a_manifest_without_sources_of_shards(tmp_path: Path) -> None:
    folder = dataset(tmp_path / "tokens", SHARDS)
    manifest = json.loads((folder / "dataset.json").read_bytes())
    for shard in manifest["shards"]:
        del shard["sources"], shard["shuffle"]
    del manifest["documents"]
    (folder / "dataset.json").write_text(json.dumps(manifest))
    assert [row.tolist() for row in corpus.open(folder)] == ROWS


def test_a_manifest_that_is_too_large(tmp_path: Path) -> None:
    with open(tmp_path / "dataset.json", "wb") as file:
        file.truncate(2**30 + 1)
    with pytest.raises(FormatError, match="too large for a manifest"):
        corpus.open(tmp_path)


@pytest.mark.parametrize("kind", KINDS)
def test_damage_is_found(tmp_path: Path, kind: str) -> None:
    folder = dataset(tmp_path / "tokens", SHARDS, kind)
    assert corpus.verify(folder) == ()
    names = [path.name for path in folder.iterdir() if path.name.startswith("0000") and path.stat().st_size]
    for name in names:
        data = (folder / name).read_bytes()
        for damaged_data in (
            data[:-1],
            data + b"\0",
            bytes([data[0] ^ 1]) + data[1:],
            data[:-1] + bytes([data[-1] ^ 128]),
        ):
            (folder / name).write_bytes(damaged_data)
            assert [damage.file for damage in corpus.verify(folder)] == [name]
        (folder / name).unlink()
        (damage,) = corpus.verify(folder)
        assert (damage.file, damage.what) == (name, "cannot be read: No such file or directory")
        (folder / name).write_bytes(data)
    (folder / "tokenizer.ptok").write_bytes(b"")
    assert [damage.file for damage in corpus.verify(folder)] == ["tokenizer.ptok"]


def test_inputs_that_do_not_add_up(tmp_path: Path) -> None:
    folder = dataset(tmp_path / "tokens", SHARDS)
    manifest = json.loads((folder / "dataset.json").read_bytes())
    for change in (_set("sources", 0, "documents", to=4), _set("sources", 0, "skipped", to={"too long": 1})):
        changed_manifest = json.loads(json.dumps(manifest))
        change(changed_manifest)
        (folder / "dataset.json").write_text(json.dumps(changed_manifest))
        (damage,) = corpus.verify(folder)
        assert damage.file == "dataset.json" and "the sums over the inputs are" in damage.what


def _forged(folder: Path, name: str, data: bytes) -> None:
    """Changes a file, and adapts the manifest to the change."""
    (folder / name).write_bytes(data)
    manifest = json.loads((folder / "dataset.json").read_bytes())
    for shard in manifest["shards"]:
        for file in shard["files"]:
            if file["name"] == name:
                file.update(bytes=len(data), checksum=corpus.write.checksum(folder / name))
    (folder / "dataset.json").write_text(json.dumps(manifest))


@pytest.mark.parametrize(
    ("kind", "name", "place", "value", "message"),
    [
        ("megatron", "00000.bin", 0, b"\xff\xff", "id 65535 is not in the vocabulary"),
        ("megatron", "00000.idx", 0, b"X", "the header is"),
        ("megatron", "00000.idx", 17, b"\4", "the header is"),
        ("megatron", "00000.idx", 34, b"\2", "do not agree"),
        ("megatron", "00000.idx", 46, b"\2", "do not agree"),
        ("megatron", "00000.idx", 54, b"\xff\xff", "do not agree"),
        ("megatron", "00000.idx", 70, b"\1", "do not agree"),
        ("flat", "00000.offsets", 8, b"\xff\xff", "not in order"),
        ("flat", "00000.offsets", 0, b"\xff" * 8, "not in order"),
        ("npy", "00000.npy", 0, b"X", "magic"),
        ("npy", "00000.npy", 6, b"\2", "too long for a row of integers"),
        ("npy", "00000.npy", 20, b"'|O' ", "not a row of integers"),
        ("npy", "00000.npy", 20, b"'<f2'", "not a row of integers"),
        ("npy", "00000.npy", 20, b"()   ", "the header of the .npy file is damaged"),
        ("npy", "00000.npy", 10, b"((", "the header of the .npy file is damaged"),
    ],
    ids=range(15),
)
def test_forged_shards(tmp_path: Path, kind: str, name: str, place: int, value: bytes, message: str) -> None:
    folder = dataset(tmp_path / "tokens", SHARDS, kind)
    data = bytearray((folder / name).read_bytes())
    data[place : place + len(value)] = value
    _forged(folder, name, bytes(data))
    (damage,) = corpus.verify(folder)
    assert message in damage.what
    # Reading the file can only cause errors or wrong ids.
    tokens = corpus.open(folder)
    for row in range(3):
        with contextlib.suppress(FormatError):
            assert len(tokens[row]) <= 4


def test_forged_tables(tmp_path: Path) -> None:
    for kind in ("parquet", "arrow"):
        folder = dataset(tmp_path / kind, [[[1, 2], [3]]], kind)
        name = f"00000.{kind}"
        data = (folder / name).read_bytes()
        for place in range(0, len(data), 7):
            _forged(folder, name, data[:place] + bytes([data[place] ^ 0x55]) + data[place + 1 :])
            corpus.verify(folder)
        _forged(folder, name, data[: len(data) // 2])
        assert corpus.verify(folder)


@pytest.mark.parametrize("kind", KINDS)
def test_merging(tmp_path: Path, kind: str) -> None:
    first_folder, second_folder = dataset(tmp_path / "one", SHARDS, kind), dataset(tmp_path / "two", SHARDS[::-1], kind)
    manifest = corpus.merge([first_folder, second_folder], tmp_path / "merged")
    assert corpus.verify(tmp_path / "merged") == ()
    assert (
        manifest.totals.documents == 14 and len(manifest.sources) == 10 and manifest.totals.skipped == {"too short": 10}
    )
    shards = [
        read([tmp_path / "merged" / file.name for file in shard.files], kind, "uint16") for shard in manifest.shards
    ]
    assert shards == SHARDS + SHARDS[::-1]
    linked = corpus.merge([first_folder, second_folder], tmp_path / "linked", link=True)
    assert linked == manifest
    name = manifest.shards[0].files[0].name
    assert (tmp_path / "linked" / name).stat().st_ino == (first_folder / name).stat().st_ino
    assert sorted(path.name for path in tmp_path.iterdir()) == ["linked", "merged", "one", "two"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("other", KINDS)
def test_merging_rewrites_shards_as_another_kind(tmp_path: Path, kind: str, other: str) -> None:
    wide_dtype = "int32" if kind == "megatron" else "uint32"
    source = dataset(tmp_path / "source", SHARDS, kind, wide_dtype)
    merged_dataset = corpus.merge([source], tmp_path / "made", to=other)
    assert corpus.verify(tmp_path / "made") == ()
    assert merged_dataset.dtype == ("int32" if other == "megatron" else "uint32")
    files = corpus.export(source, tmp_path / "out", to=other)
    assert read([tmp_path / file.name for file in files], other, merged_dataset.dtype) == ROWS
    files = corpus.export(source, tmp_path / "small", to=other, dtype="uint16")
    assert read([tmp_path / file.name for file in files], other, "uint16") == ROWS


def test_datasets_that_cannot_be_merged(tmp_path: Path) -> None:
    first_folder = dataset(tmp_path / "one", SHARDS)
    out = tmp_path / "out"
    with pytest.raises(ArgumentError, match="different formats: megatron and flat"):
        corpus.merge([first_folder, dataset(tmp_path / "flat", SHARDS, "flat")], out)
    with pytest.raises(ArgumentError, match="different dtypes: uint16 and int32"):
        corpus.merge([first_folder, dataset(tmp_path / "wide", SHARDS, dtype="int32")], out)
    other_folder = dataset(tmp_path / "other", SHARDS)
    text = (other_folder / "dataset.json").read_text()
    (other_folder / "dataset.json").write_text(text.replace(polytok.load("default").fingerprint, "0" * 32))
    with pytest.raises(
        ArgumentError, match=r"different tokenizers.*: default \(32,768 ids, .*\), and default \(32,768"
    ):
        corpus.merge([first_folder, other_folder], out)
    with pytest.raises(ArgumentError, match="exists already"):
        corpus.merge([first_folder], other_folder)
    with pytest.raises(ArgumentError, match="no datasets to merge"):
        corpus.merge([], out)
    with pytest.raises(ArgumentError, match="remove link"):
        corpus.merge([first_folder], out, to="flat", link=True)
    with pytest.raises(ArgumentError, match="to='zip' is not one of"):
        corpus.merge([first_folder], out, to="zip")
    shutil.copytree(first_folder, tmp_path / "damaged")
    (tmp_path / "damaged/00002.bin").write_bytes(bytes(12))
    with pytest.raises(FormatError, match="00002.bin: the file differs from the manifest"):
        corpus.merge([first_folder, tmp_path / "damaged"], out)
    assert not out.exists() and not [path for path in tmp_path.iterdir() if path.name.startswith(".")]


@pytest.mark.parametrize("kind", ["parquet", "arrow"])
def test_columns_that_differ_cannot_be_merged(tmp_path: Path, kind: str) -> None:
    kinds: list[dict[str, Any] | None] = [{"url": "a", "stars": 1}, {"url": "b", "stars": 2}, {"url": 3}, None]
    first_folder, second_folder, other_folder, bare_folder = (
        dataset(tmp_path / str(number), [[[1], [2]]], kind, columns=columns) for number, columns in enumerate(kinds)
    )
    corpus.merge([first_folder, dataset(tmp_path / "empty", [], kind), second_folder], tmp_path / "merged")
    (file,) = corpus.export(tmp_path / "merged", tmp_path / "out", to=kind)
    table = parquet.read_table(tmp_path / file.name) if kind == "parquet" else ipc.open_file(tmp_path / file.name)
    assert table.schema.names == ["ids", "url", "stars"]
    for differing_folder, shown_columns in ((other_folder, "url: int64"), (bare_folder, "none")):
        with pytest.raises(
            ArgumentError, match=f"have different columns: url: string, stars: int64 and {shown_columns}"
        ):
            corpus.merge([first_folder, differing_folder], tmp_path / "unlike")
    assert corpus.merge([first_folder, other_folder], tmp_path / "unlike", to="flat").totals.documents == 4


def test_export_into_a_dataset_folder_is_refused(tmp_path: Path) -> None:
    folder, other_folder = dataset(tmp_path / "tokens", SHARDS), dataset(tmp_path / "other", SHARDS)
    (folder / "inner").mkdir()
    (tmp_path / "link").symlink_to(folder)
    for place in (folder, tmp_path / "link", folder / "inner", other_folder):
        with pytest.raises(ArgumentError, match="is in the folder of a dataset"):
            corpus.export(folder, place / "00000")
    assert corpus.verify(folder) == corpus.verify(other_folder) == ()


def test_exports_are_written_completely_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "_BLOCK_TOKENS", 2)
    monkeypatch.setattr(blocks, "_MAX_BLOCK_ROWS", 2)
    folder = dataset(tmp_path / "tokens", SHARDS)
    files = corpus.export(folder, tmp_path / "train.bin", to="flat")
    assert [file.name for file in files] == ["train.bin", "train.offsets"]
    assert read([tmp_path / file.name for file in files], "flat", "uint16") == ROWS
    assert np.fromfile(tmp_path / "train.bin", dtype="<u2").tolist() == STREAM
    (folder / "00002.bin").unlink()
    with pytest.raises(FileError, match="cannot read the shard"):
        corpus.export(folder, tmp_path / "other", to="flat")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["tokens", "train.bin", "train.offsets"]
    with pytest.raises(FileError, match="cannot read the shard"):
        corpus.export(folder, tmp_path / "new/folder/other", to="flat")
    with pytest.raises(ArgumentError, match="to='zip' is not one of"):
        corpus.export(folder, tmp_path / "new/train", to="zip")
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize("kind", KINDS)
def test_damaged_shards_are_not_rewritten(tmp_path: Path, kind: str) -> None:
    folder = dataset(tmp_path / "tokens", SHARDS, kind)
    path = next(path for path in folder.iterdir() if path.stem == "00002" and path.suffix not in (".idx", ".offsets"))
    data = bytearray(path.read_bytes())
    # Flips a bit of an id if the file contains only ids, else a bit of any byte.
    data[-1 if kind in ("megatron", "flat", "npy") else len(data) // 2] ^= 1
    path.write_bytes(data)
    other_kind = "flat" if kind != "flat" else "npy"
    for write in (
        lambda: corpus.export(folder, tmp_path / "train", to=other_kind),
        lambda: corpus.merge([folder], tmp_path / "merged", to=other_kind),
        lambda: corpus.merge([folder], tmp_path / "merged"),
    ):
        with pytest.raises(FormatError, match="00002.*differs from the manifest.*polytok corpus verify"):
            write()
    assert [path.name for path in tmp_path.iterdir()] == ["tokens"]


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def run(*arguments: str | Path) -> tuple[int, str]:
        return main(["corpus", *map(str, arguments)]), capsys.readouterr().out

    folder, out = dataset(tmp_path / "tokens", SHARDS), tmp_path / "out"
    code, output = run("info", folder, "--shards")
    assert code == 0 and "megatron, 5 shards" in output and "skipped: too short: 5" in output and "00004" in output
    assert any(line.split() == ["total", "7", "11", "4.00", "5"] for line in output.splitlines())
    assert any(line.split() == ["texts", "7", "11", "4.00", "5", "too", "short:", "5"] for line in output.splitlines())
    assert any(line.split() == ["00001", "0", "0", "-", "1", "too", "short:", "1"] for line in output.splitlines())
    assert json.loads(run("info", "--json", folder)[1])["totals"]["tokens"] == 11
    assert run("merge", folder, folder, "-o", out, "--to", "flat") == (0, "10 shards, 14 documents, 22 tokens\n")
    assert run("verify", out)[0] == 0
    assert run("export", out, "--to", "flat", "-o", tmp_path / "train") == (0, "44  train.bin\n120  train.offsets\n")
    manifest = (out / "dataset.json").read_text()
    (out / "dataset.json").write_text(manifest.replace('"too short"', '"\\u001b[2J"'))
    code, output = run("info", out, "--shards")
    assert code == 0 and "\x1b" not in output and "\\u001b[2J: 1" in output
    (folder / "00002.idx").write_bytes(b"")
    assert run("verify", folder) == (1, "00002.idx: 0 bytes instead of 82\n")
    assert run("export", folder, "-o", tmp_path / "other") == (2, "")
    assert run("info", tmp_path)[0] == 2 and run("merge", folder, "-o", folder)[0] == 2
    with pytest.raises(SystemExit, match="2"):
        run("nothing")
