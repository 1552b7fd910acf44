"""Generates training text of any size: first the corpus and installed source code, then random text that imitates both.

The random text is from an n-gram model without tables. The model copies the text from a random position on and, after
about a dozen bytes, jumps to another position that follows the same `CONTEXT` bytes. The random text therefore has
words, lines and characters of the corpus and, like real text, ever more words that are not in the corpus.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ..cases import DATA
from ..texts import source

CONTEXT = 6
MEAN_STEP = 12
SEED = 20_250_901
WALKERS = 1024
STEPS = 1400
LONGEST_STEP = 8 * MEAN_STEP
MODELLED_BYTES = 32 << 20
"""The number of bytes of text that the model uses."""

MEGABYTE = 1_000_000

IntArray = npt.NDArray[np.int64]


def corpus_text() -> bytes:
    """Returns the corpus and source code on this machine, mixed in small shares so that all parts are similar."""
    names = sorted(path.name for path in (DATA / "corpus").iterdir())
    sources = [(DATA / "corpus" / name).read_bytes() for name in names] + [
        source("python library"),
        source("cargo registry"),
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


def write(path: Path, megabytes: int) -> Path:
    """Writes a file of ``megabytes`` MB, with the same bytes on every call. An existing file is reused."""
    size = megabytes * MEGABYTE
    if path.exists() and path.stat().st_size == size:
        return path
    temporary = path.with_suffix(".part")
    with temporary.open("wb") as file:
        for chunk in chunks():
            remaining_bytes = size - file.tell()
            if len(chunk) >= remaining_bytes:
                file.write(pad_with_line_feeds(chunk[:remaining_bytes]))
                break
            file.write(chunk)
    os.replace(temporary, path)
    return path


def chunks() -> Iterator[bytes]:
    """Yields an endless text in chunks."""
    text = corpus_text()
    yield text
    model = NgramModel(remove_broken_characters(text[:MODELLED_BYTES]))
    random = np.random.default_rng(SEED)
    while True:
        yield model.walk(random)


def pad_with_line_feeds(chunk: bytes) -> bytes:
    """Replaces an incomplete character at the end with line feeds."""
    complete_text = remove_broken_characters(chunk)
    return complete_text + b"\n" * (len(chunk) - len(complete_text))


class NgramModel:
    """The n-gram model of a text: for each position of a character, all positions that follow the same bytes."""

    def __init__(self, text: bytes) -> None:
        data = np.frombuffer(text, dtype=np.uint8)
        starts = np.flatnonzero((data & 0xC0) != 0x80)
        starts = starts[(starts >= CONTEXT) & (starts < len(data) - LONGEST_STEP)]
        keys = np.zeros(len(starts), dtype=np.uint64)
        for before in range(1, CONTEXT + 1):
            keys = (keys << np.uint64(8)) | data[starts - before]
        by_key = np.argsort(keys, kind="stable")
        is_first = np.diff(keys[by_key], prepend=keys[by_key[0]] + np.uint64(1)) != 0
        firsts = np.flatnonzero(is_first)
        group = np.empty(len(starts), dtype=np.int32)
        group[by_key] = np.cumsum(is_first) - 1
        self.data = data
        self.starts = starts.astype(np.int32)
        self.starts_by_key = self.starts[by_key]
        self.first = firsts.astype(np.int32)[group]
        self.count = np.diff(firsts, append=len(starts)).astype(np.int32)[group]
        self.ordinal = np.searchsorted(starts, np.arange(len(data))).clip(max=len(starts) - 1).astype(np.int32)

    def walk(self, random: np.random.Generator) -> bytes:
        """Returns about 16 MB of random text, the concatenation of the texts of all walkers."""
        begins = np.empty((STEPS, WALKERS), dtype=np.int64)
        ends = np.empty((STEPS, WALKERS), dtype=np.int64)
        positions = self.starts[random.integers(len(self.starts), size=WALKERS)].astype(np.int64)
        for step in range(STEPS):
            reach = positions + np.minimum(random.geometric(1 / MEAN_STEP, size=WALKERS), LONGEST_STEP)
            there = self.ordinal[reach.clip(max=len(self.data) - 1)]  # the next character's start
            begins[step], ends[step] = positions, np.maximum(self.starts[there], positions)
            positions = self.starts_by_key[self.first[there] + random.integers(self.count[there])].astype(np.int64)
        return self._text(begins.T.ravel(), ends.T.ravel())

    def _text(self, begins: IntArray, ends: IntArray) -> bytes:
        lengths = ends - begins
        before = np.cumsum(lengths) - lengths
        text: npt.NDArray[np.uint8] = self.data[np.arange(int(lengths.sum())) + np.repeat(begins - before, lengths)]
        return text.tobytes()
