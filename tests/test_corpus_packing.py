"""Tests windows packed with whole documents, against packing one document at a time."""

from __future__ import annotations

import pickle
from collections import Counter
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import polytok
from polytok import ArgumentError, corpus
from polytok.corpus import PackedWindow, packing
from polytok.corpus.packing import Packing
from shards import Documents, dataset

EOS = polytok.load("default").eos_id
documents_of_shards = st.lists(st.lists(st.integers(0, 23), max_size=9), max_size=4)


def parts_of(lengths: list[int], length: int) -> list[int]:
    """Returns the lengths of the parts of documents."""
    return [min(size - start, length) for size in lengths for start in range(0, size, length)]


def plain_best_fit(parts: list[int], length: int) -> list[int]:
    """Returns the room in each window after best-fit decreasing, one part at a time."""
    rooms: list[int] = []
    for part in sorted(parts, reverse=True):
        fitting = [number for number, room in enumerate(rooms) if room >= part]
        if fitting:
            rooms[min(fitting, key=rooms.__getitem__)] -= part
        else:
            rooms.append(length - part)
    return rooms


def plain_in_order(parts: list[int], length: int) -> list[int]:
    rooms: list[int] = []
    for part in parts:
        if rooms and rooms[-1] >= part:
            rooms[-1] -= part
        else:
            rooms.append(length - part)
    return rooms


def write(folder: Path, shard_lengths: list[list[int]], kind: str = "flat") -> tuple[Path, Documents]:
    """Writes a dataset of documents with these lengths, in which every id is different."""
    shards, next_id = [], 0
    for lengths in shard_lengths:
        shards.append(
            [list(range(next_id + 100 * row, next_id + 100 * row + size)) for row, size in enumerate(lengths)]
        )
        next_id += 1000
    return dataset(folder, shards, kind), [document for shard in shards for document in shard]


def check_window(window: PackedWindow, documents: Documents, length: int) -> None:
    """Checks the arrays of a window against its documents."""
    assert window.ids.shape == window.positions.shape == window.document_ids.shape == (length,)
    assert window.cu_seqlens.dtype == np.int32 and window.cu_seqlens[0] == 0 and window.cu_seqlens[-1] == length
    bounds = window.cu_seqlens.tolist()
    for start, end in pairwise(bounds):
        (document,) = set(window.document_ids[start:end].tolist())
        assert window.positions[start:end].tolist() == list(range(end - start))
        ids = window.ids[start:end].tolist()
        if document < 0:
            assert end == length and set(ids) == {EOS}
        else:
            offset = documents[document].index(ids[0])
            assert offset % length == 0 and documents[document][offset : offset + length] == ids
    assert window.max_seqlen == max(np.diff(bounds))


@settings(max_examples=80, deadline=None)
@given(
    shard_lengths=documents_of_shards,
    length=st.integers(1, 12),
    kind=st.sampled_from(["best-fit", "in-order"]),
    block=st.sampled_from([3, 1 << 20]),
)
def test_windows(
    tmp_path_factory: pytest.TempPathFactory, shard_lengths: list[list[int]], length: int, kind: Packing, block: int
) -> None:
    folder, documents = write(tmp_path_factory.mktemp("packing") / "tokens", shard_lengths)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(packing, "_BLOCK_DOCUMENTS", block)
        windows = corpus.open(folder).packed(length, packing=kind)
        rooms = [int((windows[index].document_ids < 0).sum()) for index in range(len(windows))]
    for index in range(len(windows)):
        check_window(windows[index], documents, length)
    stream = [
        id for index in range(len(windows)) for id in windows[index].ids[windows[index].document_ids >= 0].tolist()
    ]
    assert Counter(stream) == Counter(id for document in documents for id in document)
    firsts = [windows[index].document_ids[0] for index in range(len(windows))]
    assert firsts == sorted(firsts)
    if kind == "in-order":
        assert stream == [id for document in documents for id in document]
    if block > 100:
        plain = plain_best_fit if kind == "best-fit" else plain_in_order
        expected = plain(parts_of(list(map(len, documents)), length), length)
        assert sorted(rooms) == sorted(expected)
        assert windows.fill == pytest.approx(1 - sum(rooms) / (len(rooms) * length) if rooms else 1)


def test_batches_and_masks(tmp_path: Path) -> None:
    folder, _ = write(tmp_path / "tokens", [[3, 5, 2], [20, 1, 4]], "megatron")
    windows = corpus.open(folder).packed(8)
    batch = windows.take([2, 0])
    assert batch.ids.shape == (2, 8) and batch.ids.dtype == np.uint16
    assert batch.ids.tolist() == [windows[2].ids.tolist(), windows[0].ids.tolist()]
    # The bounds describe the same mask as the document ids and rows.
    flat = np.searchsorted(batch.cu_seqlens, np.arange(16), side="right")
    keys = [(row, document) for row in range(2) for document in batch.document_ids[row].tolist()]
    same_document = [[keys[i] == keys[j] for j in range(16)] for i in range(16)]
    assert (flat[:, None] == flat[None, :]).tolist() == same_document
    assert batch.cu_seqlens[-1] == 16 and batch.cu_seqlens.dtype == np.int32
    assert all(map(np.array_equal, windows[2:0:-1], windows.take([2, 1])))
    empty = windows.take([])
    assert empty.ids.shape == (0, 8) and empty.cu_seqlens.tolist() == [0] and empty.max_seqlen == 0
    again = pickle.loads(pickle.dumps(windows))
    assert [again[index].ids.tolist() for index in range(len(again))] == [
        windows[index].ids.tolist() for index in range(len(windows))
    ]
    assert len(pickle.dumps(windows)) < 600


def test_padding(tmp_path: Path) -> None:
    folder, _ = write(tmp_path / "tokens", [[3]])
    tokens = corpus.open(folder)
    assert tokens.packed(4)[0].ids.tolist() == [0, 1, 2, EOS]
    assert tokens.packed(4, pad=7)[-1].ids.tolist() == [0, 1, 2, 7]
    windows = tokens.packed(4)
    assert windows[0:9].ids.tolist() == [window.ids.tolist() for window in windows]
    assert tokens.packed(4, pad="<|endoftext|>")[0].ids.tolist() == [0, 1, 2, EOS]
    bare = polytok.train(["some text without special tokens"], vocab_size=260)
    (tmp_path / "a.txt").write_text("text")
    corpus.tokenize(tmp_path / "a.txt", bare, tmp_path / "bare", workers=1)
    with pytest.raises(ArgumentError, match="neither a pad nor an eos: give pad="):
        corpus.open(tmp_path / "bare").packed(100)[0]
    with pytest.raises(ArgumentError, match="pad=99999"):
        tokens.packed(4, pad=99999)
    with pytest.raises(polytok.PieceError, match=r"<\|pad\|>' is not a piece of the vocabulary"):
        tokens.packed(4, pad="<|pad|>")


def test_wrong_arguments(tmp_path: Path) -> None:
    tokens = corpus.open(write(tmp_path / "tokens", [[3], []])[0])
    with pytest.raises(ArgumentError, match="length=0"):
        tokens.packed(0)
    with pytest.raises(ArgumentError, match="packing='worst'"):
        tokens.packed(4, packing="worst")  # type: ignore[arg-type]
    for index in (1, -2):
        with pytest.raises(IndexError, match=f"window {index} is out of range: there are 1 windows"):
            tokens.packed(4)[index]
    assert len(corpus.open(dataset(tmp_path / "empty", [])).packed(4)) == 0
