"""Packs whole documents into windows of a fixed length, with the arrays that attention within documents needs.

A document that is longer than a window is divided into parts of the length of a window and a remainder, so every token
occurs exactly once. Packing plans blocks of documents in turn, so a window has only documents of one block.
"""

from __future__ import annotations

import operator
from bisect import bisect_left, bisect_right, insort
from collections import defaultdict
from collections.abc import Iterable, Iterator
from threading import Lock
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from ..checked import checked
from ..checks import number, one_of
from ..errors import ArgumentError

if TYPE_CHECKING:
    from .dataset import Dataset

Packing = Literal["best-fit", "in-order"]

_BLOCK_DOCUMENTS = 1 << 20

IntArray: TypeAlias = npt.NDArray[np.int64]


class PackedWindow(NamedTuple):
    """A window of documents, or several windows one after another; arrays of shape (length,) or (windows, length).

    ``ids`` has the dtype of the dataset. ``positions`` (int64) counts from 0 in each document. ``document_ids`` (int64)
    has for each token the index of its document in the dataset, and -1 for padding. ``cu_seqlens`` (int32) has the
    bounds of the documents in the flattened tokens, as flash-attention's varlen functions need them; padding at the end
    of a window counts as a document.
    """

    ids: npt.NDArray[Any]
    positions: IntArray
    document_ids: IntArray
    cu_seqlens: npt.NDArray[np.int32]

    @property
    def max_seqlen(self) -> int:
        """The number of tokens of the longest document, padding included."""
        return int(np.diff(self.cu_seqlens).max(initial=0))


class _Plan(NamedTuple):
    """The parts of documents in each window: window i has the parts ``starts[i]`` to ``starts[i + 1] - 1``.

    ``documents`` has the document of each part, and ``offsets`` the index of its first token in the document.
    """

    starts: IntArray
    documents: IntArray
    offsets: IntArray


class PackedWindows:
    """The windows of a dataset packed with whole documents; see `Dataset.packed`.

    >>> import tempfile
    >>> from pathlib import Path
    >>> from polytok import corpus
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "a.txt").write_text("to be or not\\nto be\\n")
    >>> _ = corpus.tokenize(folder / "a.txt", "default", folder / "tokens", lines=True, workers=1)
    >>> window = corpus.open(folder / "tokens").packed(8)[0]
    >>> window.document_ids.tolist(), window.positions.tolist(), window.cu_seqlens.tolist()
    ([0, 0, 0, 0, 1, 1, -1, -1], [0, 1, 2, 3, 0, 1, 0, 1], [0, 4, 6, 8])
    """

    def __init__(self, dataset: Dataset, length: int, packing: Packing, pad: int | str | None) -> None:
        """Stores the options. Raises `ArgumentError` for a wrong option, and `PieceError` for an unknown ``pad``."""
        self.dataset = dataset
        self.length = number("length", operator.index(length), least=1, most=2**31 - 1)
        self.packing: Packing = one_of("packing", packing, get_args(Packing))
        self.pad = pad
        self._lock = Lock()
        self._cached_plan: _Plan | None = None
        self._cached_pad_id = None if pad is None else _resolve_pad(pad, dataset)

    @property
    def _plan(self) -> _Plan:
        with self._lock:
            if self._cached_plan is None:
                self._cached_plan = _plan_windows(self.dataset, self.length, self.packing)
            return self._cached_plan

    @property
    def _pad_id(self) -> int:
        if self._cached_pad_id is None:
            self._cached_pad_id = _resolve_pad(self.pad, self.dataset)
        return self._cached_pad_id

    def __len__(self) -> int:
        return len(self._plan.starts) - 1

    @property
    def fill(self) -> float:
        """The share of tokens that are not padding."""
        return self.dataset.tokens / (len(self) * self.length) if len(self) else 1.0

    def __getitem__(self, index: int | slice) -> PackedWindow:
        """Returns window ``index``, or for a slice several windows as a batch, as `take` does.

        Raises `IndexError` for a window that does not exist.
        """
        if isinstance(index, slice):
            return self.take(range(*index.indices(len(self))))
        if not -len(self) <= index < len(self):
            raise IndexError(f"window {index} is out of range: there are {len(self)} windows")
        plan = self._plan
        start, end = plan.starts[index % len(self)], plan.starts[index % len(self) + 1]
        parts = list(zip(plan.documents[start:end].tolist(), plan.offsets[start:end].tolist(), strict=True))
        texts = [self.dataset[document][offset : offset + self.length] for document, offset in parts]
        lengths = [len(text) for text in texts]
        if (padding := self.length - sum(lengths)) > 0:
            texts.append(np.full(padding, self._pad_id, dtype=self.dataset.dtype))
            lengths.append(padding)
            parts.append((-1, 0))
        return PackedWindow(
            np.concatenate(texts),
            np.concatenate([np.arange(length) for length in lengths]),
            np.repeat(np.array([document for document, _ in parts], dtype=np.int64), lengths),
            np.cumsum([0, *lengths], dtype=np.int32),
        )

    @checked()
    def take(self, indices: Iterable[int]) -> PackedWindow:
        """Returns the windows with these indices, in this order, as a batch of shape (windows, length).

        ``cu_seqlens`` has the bounds of all documents in the batch, flattened to one dimension.
        """
        windows = [self[operator.index(index)] for index in indices]
        if len(windows) * self.length > np.iinfo(np.int32).max:
            raise ArgumentError(f"{len(windows)} windows have too many tokens for cu_seqlens: take fewer windows")
        bounds = [window.cu_seqlens[1:] + place * self.length for place, window in enumerate(windows)]
        shape = (len(windows), self.length)
        arrays = (np.reshape([window[field] for window in windows], shape) for field in range(3))
        ids, positions, document_ids = arrays
        return PackedWindow(
            ids.astype(self.dataset.dtype),
            positions.astype(np.int64),
            document_ids.astype(np.int64),
            np.concatenate([np.zeros(1, dtype=np.int32), *bounds]).astype(np.int32),
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return (PackedWindows, (self.dataset, self.length, self.packing, self.pad))

    def __repr__(self) -> str:
        return f"<windows of {self.length} tokens, packed {self.packing} with documents of {self.dataset!r}>"


def _resolve_pad(pad: int | str | None, dataset: Dataset) -> int:
    """Returns the id of the padding: by default the tokenizer's pad, else its eos."""
    tokenizer = dataset.tokenizer
    if isinstance(pad, str):
        return tokenizer.piece_to_id(pad)
    if pad is not None:
        return number("pad", pad, least=0, most=tokenizer.vocab_size - 1)
    default_id = tokenizer.eos_id if tokenizer.pad_id is None else tokenizer.pad_id
    if default_id is None:
        raise ArgumentError("the tokenizer has neither a pad nor an eos: give pad= a piece or an id")
    return default_id


def _plan_windows(dataset: Dataset, length: int, packing: Packing) -> _Plan:
    pack = _best_fit if packing == "best-fit" else _in_order
    plans = [
        _plan_block(first_document, document_lengths, length, pack)
        for first_document, document_lengths in _blocks_of_lengths(dataset)
    ]
    part_counts = np.concatenate([np.zeros(1, dtype=np.int64), *(np.diff(plan.starts) for plan in plans)])
    return _Plan(
        np.cumsum(part_counts),
        np.concatenate([np.zeros(0, dtype=np.int64), *(plan.documents for plan in plans)]),
        np.concatenate([np.zeros(0, dtype=np.int64), *(plan.offsets for plan in plans)]),
    )


def _blocks_of_lengths(dataset: Dataset) -> Iterator[tuple[int, IntArray]]:
    """Yields blocks of documents: the index of the first document, and the number of tokens of each."""
    pending: list[IntArray] = []
    first_document = count = 0
    for shard_number, shard in enumerate(dataset.shards):
        for first in range(0, shard.documents, _BLOCK_DOCUMENTS):
            last = min(first + _BLOCK_DOCUMENTS, shard.documents)
            pending.append(np.diff(dataset.shard(shard_number).offsets(first, last)))
            count += last - first
            if count >= _BLOCK_DOCUMENTS:
                yield first_document, np.concatenate(pending)
                first_document, pending, count = first_document + count, [], 0
    if pending:
        yield first_document, np.concatenate(pending)


def _plan_block(first_document: int, document_lengths: IntArray, length: int, pack: Any) -> _Plan:
    """Returns the windows of a block of documents, ordered by the first document in each."""
    part_counts = -(-document_lengths // length)
    documents = np.repeat(np.arange(len(document_lengths)), part_counts)
    part_numbers = np.arange(len(documents)) - np.repeat(np.cumsum(part_counts) - part_counts, part_counts)
    offsets = part_numbers * length
    part_lengths = np.minimum(document_lengths[documents] - offsets, length)
    windows = pack(part_lengths, length)
    # Parts are in the order of documents, so the first part of a window in this order has its first document.
    order = np.argsort(windows, kind="stable")
    is_first = np.ones(len(order), dtype=bool)
    is_first[1:] = windows[order][1:] != windows[order][:-1]
    first_parts = np.zeros(int(windows.max(initial=-1)) + 1, dtype=np.int64)
    first_parts[windows[order][is_first]] = order[is_first]
    order = np.lexsort((np.arange(len(windows)), first_parts[windows]))
    sorted_firsts = first_parts[windows][order]
    starts = np.flatnonzero(np.concatenate(([True], sorted_firsts[1:] != sorted_firsts[:-1])))[: len(order)]
    return _Plan(np.append(starts, len(order)), first_document + documents[order], offsets[order])


def _in_order(part_lengths: IntArray, length: int) -> IntArray:
    """Returns the window of each part. A new window begins when the next part does not fit."""
    ends = np.cumsum(part_lengths).tolist()
    counts, first, filled = [], 0, 0
    while first < len(ends):
        last = bisect_right(ends, filled + length, lo=first)
        counts.append(last - first)
        first, filled = last, ends[last - 1]
    return np.repeat(np.arange(len(counts)), counts)


def _best_fit(part_lengths: IntArray, length: int) -> IntArray:
    """Returns the window of each part: the longest part first, each into the fullest window that has room for it.

    Parts of equal length are assigned together, in as few steps as there are different amounts of room.
    """
    windows = np.empty(len(part_lengths), dtype=np.int64)
    order = np.argsort(-part_lengths, kind="stable")
    borders = np.flatnonzero(np.diff(part_lengths[order])) + 1
    rooms = _Rooms(length)
    for parts in np.split(order, borders) if len(order) else ():
        size = int(part_lengths[parts[0]])
        while len(parts):
            room, room_windows = rooms.pop_fullest(size, len(parts))
            parts_per_window = room // size
            assigned = np.repeat(room_windows, parts_per_window)[: len(parts)]
            windows[parts[: len(assigned)]] = assigned
            used = -(-len(assigned) // parts_per_window)
            remaining_parts = len(assigned) - (used - 1) * parts_per_window
            rooms.add(room - parts_per_window * size, room_windows[: used - 1])
            rooms.add(room - remaining_parts * size, room_windows[used - 1 : used])
            rooms.add(room, room_windows[used:])
            parts = parts[len(assigned) :]
    return windows


class _Rooms:
    """The windows that are not full, by the number of tokens that they have room for."""

    def __init__(self, length: int) -> None:
        self._length = length
        self._count = 0
        self._sizes: list[int] = []
        self._windows: defaultdict[int, list[IntArray]] = defaultdict(list)

    def pop_fullest(self, size: int, count: int) -> tuple[int, IntArray]:
        """Removes the windows with the least room for a part of ``size`` tokens; returns the room and the windows.

        If no window has room, returns enough new windows for ``count`` parts.
        """
        place = bisect_left(self._sizes, size)
        if place == len(self._sizes):
            new_count = -(-count // (self._length // size))
            self._count += new_count
            return self._length, np.arange(self._count - new_count, self._count)
        room = self._sizes.pop(place)
        return room, np.concatenate(self._windows.pop(room))

    def add(self, room: int, windows: IntArray) -> None:
        """Adds windows with room for ``room`` tokens."""
        if room and len(windows):
            if room not in self._windows:
                insort(self._sizes, room)
            self._windows[room].append(windows)
