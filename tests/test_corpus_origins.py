"""Tests that each document leads back to its record, and each token to its document."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pyarrow
import pytest
from pyarrow import ipc, parquet

import polytok
from polytok import ArgumentError, FileError, corpus
from polytok.corpus import DocumentSource
from polytok.corpus.write import documents_table
from shards import Documents, dataset
from test_corpus_show import interrupt_job

TOKENIZER = polytok.load("default")
SHARDS: list[Documents] = [[[], [1, 2, 3], [], [], [4]], [], [[5, 6], [7, 8, 9, 10], []], [[]], [[11]]]
MAPPED = ["megatron", "flat", "npy"]
RECORDS = [{"text": f"text {number} 漢字 " * (number % 4), "url": f"u{number}"} for number in range(50)]


@pytest.fixture
def inputs(tmp_path: Path) -> Path:
    """Writes the records as JSON lines, compressed, as Parquet and as Arrow."""
    folder = tmp_path / "inputs"
    folder.mkdir()
    lines = "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in RECORDS).encode()
    (folder / "a.jsonl").write_bytes(lines)
    (folder / "b.jsonl.gz").write_bytes(gzip.compress(lines))
    table = pyarrow.Table.from_pylist(RECORDS)
    parquet.write_table(table, folder / "c.parquet", row_group_size=17)
    with ipc.new_file(folder / "d.arrow", table.schema) as file:
        file.write_table(table, max_chunksize=13)
    return folder


def read_record(source: DocumentSource) -> dict[str, Any]:
    """Reads the record of a document from its input, without polytok."""
    path = Path(source.file)
    assert source.position is not None
    if path.suffix in (".jsonl", ".gz"):
        data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        assert source.group is None
        return dict(json.loads(data[source.position :].split(b"\n")[0]))
    if path.suffix == ".parquet":
        group = parquet.ParquetFile(path).read_row_group(source.group)
    else:
        group = pyarrow.Table.from_batches([ipc.open_file(path).get_batch(source.group)])
    return dict(group.slice(source.position, 1).to_pylist()[0])


@pytest.mark.parametrize("shuffle", [0, 9])
@pytest.mark.parametrize("kind", MAPPED)
def test_documents_lead_to_their_records(
    tmp_path: Path, inputs: Path, kind: str, shuffle: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(documents_table, "_MAX_GROUP_ROWS", 8)
    options: dict[str, Any] = {"to": kind, "documents": True, "columns": ["url"], "shuffle": shuffle, "shard_size": 900}
    corpus.tokenize(f"{inputs}/*", TOKENIZER, tmp_path / "out", min_tokens=2, workers=1, **options)
    assert corpus.verify(tmp_path / "out") == ()
    tokens = corpus.open(tmp_path / "out")
    texts = [record["text"] for record in RECORDS if record["text"]] * 4
    assert sorted(map(tokens.decode, range(len(tokens)))) == sorted(texts)
    for number in range(len(tokens)):
        source = tokens.source_of(number)
        record = read_record(source)
        assert record["text"] == tokens.decode(number) and source.columns == {"url": record["url"]}
    assert [document.source for document in corpus.read_documents(tokens.folder, range(len(tokens)))] == [
        tokens.source_of(number).file for number in range(len(tokens))
    ]
    rows = [
        row for shard in tokens.shards for row in parquet.read_table(tokens.folder / shard.files[-1].name).to_pylist()
    ]
    assert [row["url"] for row in rows] == [tokens.source_of(number).columns["url"] for number in range(len(tokens))]


def test_split_documents_share_a_record(tmp_path: Path, inputs: Path) -> None:
    options: dict[str, Any] = {"max_tokens": 5, "long_documents": "split", "documents": True}
    corpus.tokenize(inputs / "a.jsonl", TOKENIZER, tmp_path / "out", workers=1, **options)
    tokens = corpus.open(tmp_path / "out")
    sources = [tokens.source_of(number) for number in range(len(tokens))]
    assert len(tokens) > len(RECORDS) == len({source.position for source in sources})
    ids = [id for number, source in enumerate(sources) if source == sources[-1] for id in tokens[number].tolist()]
    assert TOKENIZER.decode(ids) == RECORDS[-1]["text"] == read_record(sources[-1])["text"]


def test_tables_with_origins(tmp_path: Path, inputs: Path) -> None:
    options: dict[str, Any] = {"to": "parquet", "documents": True, "columns": ["url"], "workers": 1}
    corpus.tokenize(inputs / "a.jsonl", TOKENIZER, tmp_path / "out", **options)
    assert parquet.read_table(tmp_path / "out/00000.parquet").schema.names == [
        "ids",
        "source",
        "position",
        "group",
        "url",
    ]
    corpus.merge([tmp_path / "out"], tmp_path / "mapped", to="flat")
    assert corpus.verify(tmp_path / "mapped") == ()
    source = corpus.open(tmp_path / "mapped").source_of(7)
    assert source.columns == {"url": "u7"} and read_record(source) == RECORDS[7]
    corpus.merge([tmp_path / "mapped"], tmp_path / "back", to="parquet")
    tables = [parquet.read_table(tmp_path / name / "00000.parquet") for name in ("out", "back")]
    assert tables[0].equals(tables[1])


@pytest.mark.parametrize("link", [False, True])
def test_merging_keeps_documents_tables(tmp_path: Path, inputs: Path, link: bool) -> None:
    for name in ("a.jsonl", "d.arrow"):
        corpus.tokenize(inputs / name, TOKENIZER, tmp_path / name, documents=True, workers=1)
    corpus.merge([tmp_path / "a.jsonl", tmp_path / "d.arrow"], tmp_path / "both", link=link)
    assert corpus.verify(tmp_path / "both") == ()
    both = corpus.open(tmp_path / "both")
    assert [Path(both.source_of(number).file).name for number in (0, 49, 50, -1)] == ["a.jsonl"] * 2 + ["d.arrow"] * 2
    corpus.tokenize(inputs / "a.jsonl", TOKENIZER, tmp_path / "bare", workers=1)
    with pytest.raises(ArgumentError, match="a.jsonl has a documents table, but .*bare has none"):
        corpus.merge([tmp_path / "bare", tmp_path / "a.jsonl"], tmp_path / "unlike")


def test_damaged_documents_tables(tmp_path: Path, inputs: Path) -> None:
    corpus.tokenize(inputs / "a.jsonl", TOKENIZER, tmp_path / "out", documents=True, workers=1)
    path = tmp_path / "out/00000.documents.parquet"
    data = path.read_bytes()
    path.write_bytes(data[:-1] + b"X")
    assert [damage.file for damage in corpus.verify(tmp_path / "out")] == [path.name]
    with pytest.raises(polytok.FormatError, match=path.name):
        corpus.open(tmp_path / "out").source_of(0)
    path.unlink()
    with pytest.raises(FileError):
        corpus.open(tmp_path / "out").source_of(0)


def test_interrupted_jobs_continue_with_documents_tables(
    tmp_path: Path, inputs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    options: dict[str, Any] = {"documents": True, "shard_size": 500}
    interrupt_job(inputs / "a.jsonl", tmp_path / "out", monkeypatch, **options)
    (tmp_path / "out/.00007.documents.parquet.0123abcd").write_bytes(b"unfinished")
    for out, workers in (("out", 2), ("whole", 1)):
        corpus.tokenize(inputs / "a.jsonl", TOKENIZER, tmp_path / out, workers=workers, **options)
    names = [sorted(path.name for path in (tmp_path / out).iterdir()) for out in ("out", "whole")]
    assert names[0] == names[1] and "00002.documents.parquet" in names[0]
    assert all((tmp_path / "out" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes() for name in names[0])


def test_columns_need_a_table(tmp_path: Path, inputs: Path) -> None:
    with pytest.raises(ArgumentError, match="to='megatron' cannot hold columns: .* or use documents=True"):
        corpus.tokenize(inputs / "a.jsonl", TOKENIZER, tmp_path / "out", columns=["url"])
    (tmp_path / "s.jsonl").write_text('{"text": "a", "source": "b"}\n')
    with pytest.raises(ArgumentError, match="documents=True writes a column 'source' itself"):
        corpus.tokenize(
            tmp_path / "s.jsonl", TOKENIZER, tmp_path / "out", columns=["source"], documents=True, workers=1
        )


def test_without_a_documents_table_only_the_file_is_known(tmp_path: Path, inputs: Path) -> None:
    corpus.tokenize(f"{inputs}/*", TOKENIZER, tmp_path / "out", workers=1, shard_size=900)
    tokens = corpus.open(tmp_path / "out")
    assert tokens.source_of(-1) == DocumentSource(str(inputs / "d.arrow"))
    with pytest.raises(IndexError, match="document 200 is out of range"):
        tokens.source_of(200)


@pytest.mark.parametrize("kind", MAPPED)
def test_tokens_lead_to_their_documents(tmp_path: Path, kind: str) -> None:
    tokens = corpus.open(dataset(tmp_path / "tokens", SHARDS, kind))
    expected = [(number, offset) for number, row in enumerate(tokens) for offset in range(len(row))]
    locations = [tokens.locate(position) for position in range(tokens.tokens)]
    assert [(location.document, location.offset) for location in locations] == expected
    assert all(location.source is None for location in locations)
    for position in (-1, tokens.tokens):
        with pytest.raises(IndexError, match=f"token {position} is out of range"):
            tokens.locate(position)
    with pytest.raises(ArgumentError, match="documents=True"):
        tokens.source_of(0)


def test_tokens_lead_to_their_records(tmp_path: Path, inputs: Path) -> None:
    corpus.tokenize(inputs / "c.parquet", TOKENIZER, tmp_path / "out", documents=True, columns=["url"], workers=1)
    tokens = corpus.open(tmp_path / "out")
    location = tokens.locate(tokens.tokens - 1)
    assert location.source is not None and location.source.columns == {"url": "u49"}
    assert tokens[location.document][location.offset] == tokens.ids(tokens.tokens - 1, tokens.tokens)[0]
