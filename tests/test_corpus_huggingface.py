"""Tests that Hugging Face's datasets reads what polytok writes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import polytok
from polytok import corpus

hf = pytest.importorskip("datasets")
hf.disable_progress_bars()

TEXTS = [f"text {number} 漢字 " * (number % 5) for number in range(60)]


@pytest.fixture
def inputs(tmp_path: Path) -> Path:
    (tmp_path / "a.txt").write_text("\n".join(TEXTS), "utf-8")
    return tmp_path / "a.txt"


@pytest.mark.parametrize("streaming", [False, True])
@pytest.mark.parametrize("kind", ["parquet", "arrow"])
def test_table_shards(tmp_path: Path, inputs: Path, kind: Any, streaming: bool) -> None:
    options: dict[str, Any] = {"lines": True, "to": kind, "documents": True, "shard_size": 500}
    corpus.tokenize(inputs, "default", tmp_path / "tokens", workers=1, **options)
    shards = sorted(str(path) for path in (tmp_path / "tokens").glob(f"0*.{kind}"))
    place = {} if streaming else {"cache_dir": str(tmp_path / "cache")}
    rows = hf.load_dataset(kind, data_files=shards, split="train", streaming=streaming, **place)
    tokenizer = polytok.load("default")
    assert len(shards) > 1 and [tokenizer.decode(row["ids"]) for row in rows] == TEXTS
    assert rows.features["ids"].feature.dtype == "uint16" and next(iter(rows))["source"] == str(inputs)


def yield_rows(tokens: corpus.Dataset) -> Iterator[dict[str, Any]]:
    for ids in tokens:
        yield {"ids": ids}


def test_generators(tmp_path: Path, inputs: Path) -> None:
    corpus.tokenize(inputs, "default", tmp_path / "tokens", lines=True, workers=1)
    tokens = corpus.open(tmp_path / "tokens")
    expected = [row.tolist() for row in tokens]
    rows = hf.Dataset.from_generator(yield_rows, gen_kwargs={"tokens": tokens}, cache_dir=str(tmp_path / "cache"))
    assert [row["ids"] for row in rows] == expected
    assert corpus.tokenize(inputs, "default", tmp_path / "tokens", workers=1, overwrite=True)
    rows = hf.Dataset.from_generator(
        yield_rows, gen_kwargs={"tokens": corpus.open(tmp_path / "tokens")}, cache_dir=str(tmp_path / "cache")
    )
    assert len(rows) == len(corpus.open(tmp_path / "tokens")) < len(expected)
    assert corpus.tokenize(inputs, "default", tmp_path / "tokens", lines=True, workers=1, overwrite=True)
    stream = hf.IterableDataset.from_generator(yield_rows, gen_kwargs={"tokens": tokens})
    assert [row["ids"].tolist() for row in stream] == expected
