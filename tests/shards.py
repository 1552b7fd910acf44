"""Writes shards and datasets from lists of ids, and reads their layouts without polytok's code."""

from __future__ import annotations

import struct
from functools import cache
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow
from pyarrow import ipc, parquet

import polytok
from polytok.corpus.journal import TOKENIZER_NAME
from polytok.corpus.manifest import Manifest, ShardEntry, SourceEntry, TokenizerIdentity
from polytok.corpus.write import WRITERS

MOST = {"uint16": 2**16 - 1, "uint32": 2**32 - 1, "int32": 2**31 - 1}
PAIRS = [(kind, dtype) for kind, writer in WRITERS.items() for dtype in writer.dtypes]

Documents = list[list[int]]


def columnar(documents: Documents, dtype: str, lead: int = 0) -> tuple[npt.NDArray[Any], npt.NDArray[np.int64]]:
    """Returns ids and offsets; other ids precede the ids of the first document."""
    ids = np.array([9] * lead + [id for document in documents for id in document], dtype=dtype)
    return ids, np.cumsum([lead, *map(len, documents)], dtype=np.int64)


@cache
def default() -> tuple[TokenizerIdentity, bytes]:
    """Returns the default vocabulary, and its file in a dataset."""
    tokenizer = polytok.load("default")
    with TemporaryDirectory() as folder:
        tokenizer.save(Path(folder, TOKENIZER_NAME))
        file = Path(folder, TOKENIZER_NAME).read_bytes()
    return TokenizerIdentity(tokenizer.fingerprint, "default", tokenizer.vocab_size), file


def dataset(
    folder: Path,
    shards: list[Documents],
    kind: str = "megatron",
    dtype: str = "uint16",
    columns: dict[str, Any] | None = None,
) -> Path:
    """Writes a dataset folder of the default vocabulary's ids; every document has the same column values."""
    folder.mkdir()
    name, file = default()
    (folder / TOKENIZER_NAME).write_bytes(file)
    entries = []
    for number, documents in enumerate(shards):
        table = pyarrow.table({name: [value] * len(documents) for name, value in columns.items()}) if columns else None
        with WRITERS[kind](folder, f"{number:05d}", np.dtype(dtype), None if table is None else table.schema) as writer:
            writer.write(*columnar(documents, dtype), table)
            files = writer.finish()
        tokens = sum(map(len, documents))
        skipped = {"too short": 1}
        entries.append(ShardEntry(len(documents), tokens, 4 * tokens, skipped, stem=f"{number:05d}", files=files))
    counts = [(entry.documents, entry.tokens, entry.text_bytes, entry.skipped, entry.changed) for entry in entries]
    sources = tuple(SourceEntry(*entry_counts, name="texts") for entry_counts in counts)
    Manifest(kind, dtype, name, {"eos": None}, sources, tuple(entries)).save(folder)
    return folder


def read(paths: list[Path], kind: str, dtype: str) -> Documents:
    """Returns the documents in the files of a shard of any kind."""
    if kind == "megatron":
        return _read_megatron(*paths)
    if kind in ("flat", "npy"):
        return _read_flat(*paths, dtype)
    table = parquet.read_table(paths[0]) if kind == "parquet" else ipc.open_file(paths[0]).read_all()
    assert table.schema.field("ids").type.value_type == pyarrow.from_numpy_dtype(dtype)
    rows: Documents = table["ids"].to_pylist()
    return rows


def _read_megatron(bin: Path, idx: Path) -> Documents:
    index, data = idx.read_bytes(), bin.read_bytes()
    magic, version, code, sequences, borders = struct.unpack_from("<9sQBQQ", index)
    assert (magic, version, borders) == (b"MMIDIDX\0\0", 1, sequences + 1)
    size, letter = {8: (2, "H"), 4: (4, "i")}[code]
    lengths = struct.unpack_from(f"<{sequences}i", index, 34)
    pointers = struct.unpack_from(f"<{sequences}q", index, 34 + 4 * sequences)
    assert struct.unpack_from(f"<{borders}q", index, 34 + 12 * sequences) == tuple(range(borders))
    assert len(index) == 42 + 20 * sequences
    assert sum(lengths) * size == len(data)
    rows = zip(lengths, pointers, strict=True)
    return [list(struct.unpack_from(f"<{length}{letter}", data, pointer)) for length, pointer in rows]


def _read_flat(data: Path, offsets: Path, dtype: str) -> Documents:
    stored_dtype = np.dtype(dtype).newbyteorder("<")
    ids = np.load(data) if data.suffix == ".npy" else np.fromfile(data, dtype=stored_dtype)
    assert ids.dtype == stored_dtype
    borders = np.fromfile(offsets, dtype="<i8").tolist()
    assert borders[0] == 0 and borders[-1] == len(ids)
    return [ids[start:end].tolist() for start, end in pairwise(borders)]
