"""Generates training text of any size: first the corpus and the installed source code, then random text that imitates
them.

The random text comes from an n-gram model that stores positions instead of probabilities. The model copies about a
dozen bytes of the text from a random position, jumps to another position after the same `CONTEXT_BYTES` bytes, and
continues there. The random text therefore has the characters and most words of the corpus, and, like real text, more
and more new words.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ..cases import DATA
from ..texts import read_source

CONTEXT_BYTES = 6
MEAN_STEP_BYTES = 12
SEED = 20_250_901
WALKER_COUNT = 1024
STEP_COUNT = 1400
MAX_STEP_BYTES = 8 * MEAN_STEP_BYTES
MODELLED_BYTES = 32 << 20
"""The number of bytes of text from which the model is built."""

MEGABYTE = 1_000_000

IntArray = npt.NDArray[np.int64]


def corpus_text() -> bytes:
    """Returns the corpus and source code on this machine, mixed in small shares so that all parts are similar."""
    names = sorted(path.name for path in (DATA / "corpus").iterdir())
    sources = [(DATA / "corpus" / name).read_bytes() for name in names] + [
        read_source("python library"),
        read_source("cargo registry"),
    ]
    shares = 64
    parts = [
        data[len(data) * turn // shares : len(data) * (turn + 1) // shares]
        for turn in range(shares)
        for data in sources
    ]
    return remove_broken_characters(b"".join(part + b"\n" for part in parts))


def remove_broken_characters(data: bytes) -> bytes:
    """Removes incomplete characters."""
    return data.decode(errors="ignore").encode()


def write_text_file(path: Path, megabytes: int) -> Path:
    """Writes a file of ``megabytes`` MB, with the same bytes on every call. An existing file is reused."""
    size = megabytes * MEGABYTE
    if path.exists() and path.stat().st_size == size:
        return path
    temporary_path = path.with_suffix(".part")
    with temporary_path.open("wb") as file:
        for chunk in generate_chunks():
            remaining_bytes = size - file.tell()
            if len(chunk) >= remaining_bytes:
                file.write(pad_with_line_feeds(chunk[:remaining_bytes]))
                break
            file.write(chunk)
    os.replace(temporary_path, path)
    return path


def generate_chunks() -> Iterator[bytes]:
    """Yields an endless text in chunks."""
    text = corpus_text()
    yield text
    model = NgramModel(remove_broken_characters(text[:MODELLED_BYTES]))
    generator = np.random.default_rng(SEED)
    while True:
        yield model.walk(generator)


def pad_with_line_feeds(chunk: bytes) -> bytes:
    """Replaces an incomplete character at the end with line feeds."""
    complete_text = remove_broken_characters(chunk)
    return complete_text + b"\n" * (len(chunk) - len(complete_text))


class NgramModel:
    """The n-gram model of a text: for each position of a character, all positions that follow the same bytes."""

    def __init__(self, text: bytes) -> None:
        data = np.frombuffer(text, dtype=np.uint8)
        starts = np.flatnonzero((data & 0xC0) != 0x80)
        starts = starts[(starts >= CONTEXT_BYTES) & (starts < len(data) - MAX_STEP_BYTES)]
        keys = np.zeros(len(starts), dtype=np.uint64)
        for distance in range(1, CONTEXT_BYTES + 1):
            keys = (keys << np.uint64(8)) | data[starts - distance]
        key_order = np.argsort(keys, kind="stable")
        is_group_start = np.diff(keys[key_order], prepend=keys[key_order[0]] + np.uint64(1)) != 0
        group_starts = np.flatnonzero(is_group_start)
        group = np.empty(len(starts), dtype=np.int32)
        group[key_order] = np.cumsum(is_group_start) - 1
        self.data = data
        self.starts = starts.astype(np.int32)
        self.starts_by_key = self.starts[key_order]
        self.first_successor = group_starts.astype(np.int32)[group]
        self.successor_count = np.diff(group_starts, append=len(starts)).astype(np.int32)[group]
        self.start_index = np.searchsorted(starts, np.arange(len(data))).clip(max=len(starts) - 1).astype(np.int32)

    def walk(self, generator: np.random.Generator) -> bytes:
        """Returns about 16 MB of random text, which joins the texts of all walks through the model."""
        start_positions = np.empty((STEP_COUNT, WALKER_COUNT), dtype=np.int64)
        end_positions = np.empty((STEP_COUNT, WALKER_COUNT), dtype=np.int64)
        positions = self.starts[generator.integers(len(self.starts), size=WALKER_COUNT)].astype(np.int64)
        for step in range(STEP_COUNT):
            target_positions = positions + np.minimum(
                generator.geometric(1 / MEAN_STEP_BYTES, size=WALKER_COUNT), MAX_STEP_BYTES
            )
            next_start_indices = self.start_index[
                target_positions.clip(max=len(self.data) - 1)
            ]  # the next character's start
            start_positions[step], end_positions[step] = (
                positions,
                np.maximum(self.starts[next_start_indices], positions),
            )
            positions = self.starts_by_key[
                self.first_successor[next_start_indices] + generator.integers(self.successor_count[next_start_indices])
            ].astype(np.int64)
        return self._text(start_positions.T.ravel(), end_positions.T.ravel())

    def _text(self, start_positions: IntArray, end_positions: IntArray) -> bytes:
        lengths = end_positions - start_positions
        previous_lengths = np.cumsum(lengths) - lengths
        text: npt.NDArray[np.uint8] = self.data[
            np.arange(int(lengths.sum())) + np.repeat(start_positions - previous_lengths, lengths)
        ]
        return text.tobytes()
