"""Tests the shuffle of all documents: each occurs exactly once, languages mix, and jobs can be continued."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from pyarrow import ipc, parquet

import polytok
from polytok import ArgumentError, corpus
from polytok.cli import main
from polytok.corpus import shuffle_all
from polytok.corpus.shuffle import random_keys
from test_corpus_show import interrupt_job

TOKENIZER = polytok.load("default")
LANGUAGES = {"de": "der Text Nummer", "en": "the text number", "zh": "第 号文字"}
LINES = 400


@pytest.fixture
def inputs(tmp_path: Path) -> Path:
    """Writes a file of lines for each language."""
    folder = tmp_path / "inputs"
    folder.mkdir()
    for name, text in LANGUAGES.items():
        (folder / f"{name}.txt").write_text("\n".join(f"{text} {number}" for number in range(LINES)), "utf-8")
    return folder


def tokenize(inputs: Path, out: Path, **options: Any) -> list[str]:
    """Tokenizes the files and returns the texts of the dataset in its order."""
    all_options = {"lines": True, "shuffle": "all", "shard_size": 3000, "workers": 1, "to": "flat", **options}
    corpus.tokenize(f"{inputs}/*.txt", TOKENIZER, out, **all_options)
    return [TOKENIZER.decode(document.ids) for document in corpus.read_documents(out, range(3 * LINES))]


def unevenness(texts: list[str]) -> float:
    """Returns the chi-square statistic of languages in ten parts of the dataset, which has 18 degrees of freedom."""
    cells = np.zeros((3, 10))
    for place, text in enumerate(texts):
        language = next(row for row, start in enumerate(LANGUAGES.values()) if text.startswith(start[:1]))
        cells[language, place * 10 // len(texts)] += 1
    expected = len(texts) / 30
    return float(((cells - expected) ** 2 / expected).sum())


@pytest.mark.parametrize("kind", ["megatron", "flat", "npy", "parquet", "arrow"])
def test_each_document_occurs_once_and_languages_mix(
    tmp_path: Path, inputs: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shuffle_all, "_MAX_RUN_BYTES", 500)
    texts = tokenize(inputs, tmp_path / "out", to=kind)
    assert sorted(texts) == sorted(f"{text} {number}" for text in LANGUAGES.values() for number in range(LINES))
    assert corpus.verify(tmp_path / "out") == ()
    assert not [path for path in (tmp_path / "out").iterdir() if path.suffix == ".runs" or path.name == "done"]
    # 50 is exceeded once in ten thousand shuffles. In windows of 100 documents, languages stay together.
    assert unevenness(texts) < 50
    assert unevenness(tokenize(inputs, tmp_path / "windows", shuffle=100)) > 1000


def test_the_order_is_the_documented_one(tmp_path: Path, inputs: Path) -> None:
    options: dict[str, Any] = {"lines": True, "shard_size": 3000, "workers": 1, "to": "flat"}
    corpus.tokenize(f"{inputs}/*.txt", TOKENIZER, tmp_path / "plain", **options)
    plain = corpus.open(tmp_path / "plain")
    keys = [random_keys(shard.documents, 7, number, 0) for number, shard in enumerate(plain.shards)]
    order = np.argsort(np.concatenate(keys), kind="stable").tolist()
    assert len(keys) > 3
    assert tokenize(inputs, tmp_path / "out", seed=7) == [plain.decode(row) for row in order]


def folder_bytes(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_the_folder_does_not_depend_on_workers_runs_and_interruptions(
    tmp_path: Path, inputs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = tokenize(inputs, tmp_path / "one", documents=True)
    assert tokenize(inputs, tmp_path / "three", documents=True, workers=3) == texts
    with monkeypatch.context() as patch:
        patch.setattr(shuffle_all, "_MAX_RUN_BYTES", 300)
        tokenize(inputs, tmp_path / "small runs", documents=True)
    expected = folder_bytes(tmp_path / "one")
    assert folder_bytes(tmp_path / "three") == folder_bytes(tmp_path / "small runs") == expected
    options: dict[str, Any] = {"lines": True, "shuffle": "all", "shard_size": 3000, "to": "flat", "documents": True}
    for done_count in range(1, 2 * len(corpus.open(tmp_path / "one").shards)):
        out = tmp_path / f"interrupted {done_count}"
        interrupt_job(f"{inputs}/*.txt", out, monkeypatch, task_count=done_count, **options)
        assert corpus.job_status(out).documents <= 3 * LINES
        tokenize(inputs, out, documents=True)
        assert folder_bytes(out) == expected
    assert tokenize(inputs, tmp_path / "seed", seed=1) != texts


def test_documents_keep_their_origins_and_columns(tmp_path: Path) -> None:
    records = [{"text": f"text {number}", "n": str(number)} for number in range(300)]
    (tmp_path / "a.jsonl").write_text("\n".join(map(json.dumps, records)))
    for kind in ("parquet", "arrow", "megatron"):
        options: dict[str, Any] = {
            "shuffle": "all",
            "shard_size": 2000,
            "columns": ["n"],
            "documents": True,
            "to": kind,
        }
        corpus.tokenize(tmp_path / "a.jsonl", TOKENIZER, tmp_path / kind, workers=1, **options)
    for kind in ("parquet", "arrow"):
        paths = sorted((tmp_path / kind).glob(f"0*.{kind}"))
        tables = [parquet.read_table(path) if kind == "parquet" else ipc.open_file(path).read_all() for path in paths]
        rows = [row for table in tables for row in table.to_pylist()]
        assert all(TOKENIZER.decode(row["ids"]) == f"text {row['n']}" for row in rows) and len(rows) == 300
    tokens = corpus.open(tmp_path / "megatron")
    assert [tokens.source_of(number).columns["n"] for number in range(300)] == [row["n"] for row in rows]


def test_limits_and_skipped_documents_are_counted(tmp_path: Path, inputs: Path) -> None:
    (inputs / "de.txt").write_bytes(b"\xff\nabc\n" + b"lang " * 50)
    options: dict[str, Any] = {"lines": True, "shuffle": "all", "bad_bytes": "skip", "max_tokens": 9, "workers": 1}
    report = corpus.tokenize(f"{inputs}/*.txt", TOKENIZER, tmp_path / "out", shard_size=3000, **options)
    assert report.total.skipped == {"not UTF-8": 1} and report.total.documents == 2 * LINES + 2
    manifest = corpus.open(tmp_path / "out").manifest
    assert manifest.totals == report.total and corpus.verify(tmp_path / "out") == ()
    assert max(len(row) for row in corpus.open(tmp_path / "out")) == 9


def test_without_documents(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("")
    corpus.tokenize(tmp_path / "a.txt", TOKENIZER, tmp_path / "out", shuffle="all", lines=True, workers=1)
    assert len(corpus.open(tmp_path / "out")) == 0 and corpus.verify(tmp_path / "out") == ()


def test_the_origin_is_unknown_without_a_documents_table(tmp_path: Path, inputs: Path) -> None:
    tokenize(inputs, tmp_path / "out")
    with pytest.raises(ArgumentError, match="tokenize with documents=True"):
        corpus.open(tmp_path / "out").source_of(0)
    (document,) = corpus.read_documents(tmp_path / "out", [0])
    assert document.source is None


def test_the_store_can_have_a_url(inputs: Path, tmp_path: Path) -> None:
    fsspec = pytest.importorskip("fsspec")
    options: dict[str, Any] = {"lines": True, "shuffle": "all", "shard_size": 3000}
    corpus.tokenize(f"{inputs}/*.txt", TOKENIZER, "memory://shuffled", **options)
    corpus.tokenize(f"{inputs}/*.txt", TOKENIZER, tmp_path / "out", workers=1, **options)
    names = sorted(path.rsplit("/", 1)[-1] for path in fsspec.filesystem("memory").find("/shuffled"))
    assert names == sorted(path.name for path in (tmp_path / "out").iterdir())
    assert fsspec.filesystem("memory").cat_file("/shuffled/00001.bin") == (tmp_path / "out/00001.bin").read_bytes()


def test_the_option(tmp_path: Path, inputs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(ArgumentError, match="shuffle='some' is neither a number of documents nor 'all'"):
        tokenize(inputs, tmp_path / "out", shuffle="some")
    arguments = ["tokenize", f"{inputs}/*.txt", "--lines", "--workers", "1", "-q", "-o", str(tmp_path / "out")]
    assert main([*arguments, "--shuffle", "all"]) == 0
    assert main([*arguments, "--shuffle", "9"]) == 2 and 'shuffle: "all" → 9' in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main([*arguments, "--shuffle", "some"])


def test_keys_are_uniform() -> None:
    keys: npt.NDArray[np.uint64] = np.concatenate([random_keys(5000, 3, task, 0) for task in range(4)])
    counts = np.bincount((keys >> np.uint64(60)).astype(np.int64), minlength=16)
    assert len(set(keys.tolist())) == 20_000 and ((counts - 1250) ** 2 / 1250).sum() < 50
