"""Shards as they are written, read back from the layouts by readers of the tests' own."""

from __future__ import annotations

import struct
from itertools import pairwise
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import ipc, parquet

from polytok.corpus.write import WRITERS, checksum

DTYPES = {"uint16": 2**16, "uint32": 2**32, "int32": 2**31}
PAIRS = [(kind, dtype) for kind, writer in WRITERS.items() for dtype in writer.dtypes]

Documents = list[list[int]]


def portions(documents: Documents, borders: list[int]) -> list[Documents]:
    """The documents cut at borders."""
    cuts = sorted({0, len(documents), *(border % (len(documents) + 1) for border in borders)})
    return [documents[first:last] for first, last in pairwise(cuts)]


def columnar(documents: Documents, dtype: str, lead: int = 0) -> tuple[npt.NDArray[np.integer], npt.NDArray[np.int64]]:
    """Ids and offsets, with other ids before those of the first document."""
    ids = np.array([9] * lead + [id for document in documents for id in document], dtype=dtype)
    return ids, np.cumsum([lead, *map(len, documents)], dtype=np.int64)


def written(folder: Path, kind: str, dtype: str, parts: list[Documents], stem: str = "00000") -> list[Path]:
    """The files of a shard of these documents."""
    with WRITERS[kind](folder, stem, np.dtype(dtype)) as writer:
        for number, part in enumerate(parts):
            writer.write(*columnar(part, dtype, lead=number))
        files = writer.finish()
    assert [file.name for file in files] == sorted(path.name for path in folder.iterdir()) or len(files) == 2
    for file in files:
        assert (folder / file.name).stat().st_size == file.bytes
        assert checksum(folder / file.name) == file.checksum
    return [folder / file.name for file in files]


def read_megatron(bin: Path, idx: Path) -> Documents:
    """The documents of a pair, from the layout: header, lengths, pointers, document borders."""
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


def read_flat(data: Path, offsets: Path, dtype: str) -> Documents:
    """The documents of a stream and its borders."""
    little = np.dtype(dtype).newbyteorder("<")
    ids = np.load(data) if data.suffix == ".npy" else np.fromfile(data, dtype=little)
    assert ids.dtype == little
    borders = np.fromfile(offsets, dtype="<i8").tolist()
    assert borders[0] == 0 and borders[-1] == len(ids)
    return [ids[first:last].tolist() for first, last in pairwise(borders)]


def read(paths: list[Path], kind: str, dtype: str) -> Documents:
    """The documents of any kind of shard."""
    if kind == "megatron":
        return read_megatron(*paths)
    if kind in ("flat", "npy"):
        return read_flat(*paths, dtype)
    table = parquet.read_table(paths[0]) if kind == "parquet" else ipc.open_file(paths[0]).read_all()
    assert table.schema.field("ids").type.value_type == pyarrow.from_numpy_dtype(dtype)
    rows: Documents = table["ids"].to_pylist()
    return rows


@pytest.mark.parametrize(("kind", "dtype"), PAIRS)
@settings(max_examples=15, deadline=None)
@given(data=st.data())
def test_documents_come_back(
    tmp_path_factory: pytest.TempPathFactory, kind: str, dtype: str, data: st.DataObject
) -> None:
    ids = st.integers(0, DTYPES[dtype] - 1)
    documents = data.draw(st.lists(st.lists(ids, max_size=8), max_size=12))
    parts = portions(documents, data.draw(st.lists(st.integers(0, 100), max_size=4)))
    one, other = tmp_path_factory.mktemp("one"), tmp_path_factory.mktemp("other")
    paths = written(one, kind, dtype, parts)
    assert read(paths, kind, dtype) == documents
    # The bytes do not depend on the portions.
    again = written(other, kind, dtype, [documents])
    assert [path.read_bytes() for path in again] == [path.read_bytes() for path in paths]
