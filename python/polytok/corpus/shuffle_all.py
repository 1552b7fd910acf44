"""Shuffles all documents of a job, in two passes that need little memory.

Each document has a random key, which depends only on the seed, the number of its task and its index in the task. The
order of the dataset is the order of the keys, so each document occurs exactly once, and each order is equally likely as
far as the keys are random. The n shards divide the range of keys into n equal parts.

In the first pass, a task sorts its documents by key in *runs* of limited size. For each run, it writes one segment per
shard: the documents whose keys are in the part of the shard. In the second pass, a task reads the segments of its shard
from all files, and sorts them. Memory holds one run, or one shard.

A file of runs has the segments, then the positions of the segments in the file, and then the number of runs. A segment
has the number of documents and of tokens, the keys, the lengths, the ids, and the columns as an Arrow stream. Numbers
are little-endian and of 8 bytes, ids have the dtype of the job.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from ..reading.tables import require_pyarrow
from .rows import Rows, concatenate_rows, join_small_portions, reorder_rows, slice_rows
from .shuffle import random_keys
from .write import RUNS_SUFFIX, OutputFile, ShardFile

_MAX_RUN_BYTES = 64 << 20

KeyArray = npt.NDArray[np.uint64]


def shard_count(input_bytes: int, task_count: int, shard_size: int) -> int:
    """Returns the number of shards of a job that shuffles all documents."""
    return max(task_count, -(-input_bytes // shard_size))


def write_runs(
    portions: Iterable[Rows], path: Path, dtype: np.dtype[Any], seed: int, task: int, shards: int
) -> tuple[ShardFile, ...]:
    """Writes the documents of a task to the file ``path``, as the first pass. Raises `FileError`."""
    file = OutputFile(path)
    try:
        writer = _RunWriter(file, dtype, shards)
        first_row = 0
        for rows in _join_to_runs(join_small_portions(portions)):
            row_count = len(rows.offsets) - 1
            writer.write_run(rows, random_keys(row_count, seed, task, first_row))
            first_row += row_count
        writer.write_directory()
        finished_file = file.finish(is_forced=False)
        file.keep()
    except BaseException:
        file.discard()
        raise
    return (finished_file,)


def _join_to_runs(portions: Iterable[Rows]) -> Iterator[Rows]:
    pending_rows: list[Rows] = []
    size = 0
    for rows in portions:
        pending_rows.append(rows)
        size += rows.tokens * rows.ids.itemsize + 8 * len(rows.offsets)
        size += 0 if rows.columns is None else rows.columns.nbytes
        if size >= _MAX_RUN_BYTES:
            yield concatenate_rows(pending_rows)
            pending_rows, size = [], 0
    if pending_rows:
        yield concatenate_rows(pending_rows)


class _RunWriter:
    def __init__(self, file: OutputFile, dtype: np.dtype[Any], shards: int) -> None:
        self._file, self._dtype = file, dtype
        # Shard i has the keys from ceil(i * 2**64 / shards) on.
        self._first_keys = np.array([-(-(index << 64) // shards) for index in range(1, shards)], dtype=np.uint64)
        self._positions: list[npt.NDArray[np.int64]] = []

    def write_run(self, rows: Rows, keys: KeyArray) -> None:
        order = np.argsort(keys, kind="stable").astype(np.int64)
        sorted_keys = keys[order]
        sorted_rows = concatenate_rows(list(reorder_rows(rows, order)))
        borders = [0, *np.searchsorted(sorted_keys, self._first_keys).tolist(), len(keys)]
        positions = np.empty(len(borders), dtype="<i8")
        for shard, start in enumerate(borders[:-1]):
            positions[shard] = self._file.tell()
            if start < borders[shard + 1]:
                rows_of_shard = slice_rows(sorted_rows, start, borders[shard + 1])
                self._write_segment(rows_of_shard, sorted_keys[start : borders[shard + 1]])
        positions[-1] = self._file.tell()
        self._positions.append(positions)

    def _write_segment(self, rows: Rows, keys: KeyArray) -> None:
        self._file.write(np.array([len(keys), rows.tokens], dtype="<i8"))
        self._file.write(keys.astype("<u8"))
        self._file.write(rows.lengths.astype("<i8"))
        ids = rows.ids[rows.offsets[0] : rows.offsets[-1]]
        self._file.write(np.ascontiguousarray(ids, dtype=self._dtype.newbyteorder("<")))
        if rows.columns is not None:
            with require_pyarrow().ipc.new_stream(self._file, rows.columns.schema) as stream:
                stream.write_table(rows.columns)

    def write_directory(self) -> None:
        for positions in self._positions:
            self._file.write(positions)
        self._file.write(np.array([len(self._positions)], dtype="<i8"))


def read_shard(
    files: Iterable[AbstractContextManager[IO[bytes]]], dtype: np.dtype[Any], shard: int, shards: int
) -> Iterator[Rows]:
    """Yields the documents of a shard in their final order, as the second pass. ``files`` opens the files of runs."""
    segments: list[tuple[KeyArray, Rows]] = []
    for opened_file in files:
        with opened_file as file:
            segments += _read_segments(file, dtype, shard, shards)
    if not segments:
        return
    keys = np.concatenate([segment_keys for segment_keys, _ in segments])
    rows = concatenate_rows([segment_rows for _, segment_rows in segments])
    yield from reorder_rows(rows, np.argsort(keys, kind="stable").astype(np.int64))


def _read_segments(file: IO[bytes], dtype: np.dtype[Any], shard: int, shards: int) -> Iterator[tuple[KeyArray, Rows]]:
    directory_end = file.seek(-8, 2)
    (run_count,) = np.frombuffer(file.read(8), dtype="<i8").tolist()
    for run in range(run_count):
        file.seek(directory_end - 8 * (shards + 1) * (run_count - run) + 8 * shard)
        start, end = np.frombuffer(file.read(16), dtype="<i8").tolist()
        if start < end:
            file.seek(start)
            yield _parse_segment(file.read(end - start), dtype)


def _parse_segment(data: bytes, dtype: np.dtype[Any]) -> tuple[KeyArray, Rows]:
    document_count, token_count = np.frombuffer(data, dtype="<i8", count=2).tolist()
    keys = np.frombuffer(data, dtype="<u8", count=document_count, offset=16)
    lengths = np.frombuffer(data, dtype="<i8", count=document_count, offset=16 + 8 * document_count)
    ids_start = 16 + 16 * document_count
    ids = np.frombuffer(data, dtype=dtype.newbyteorder("<"), count=token_count, offset=ids_start)
    columns_start = ids_start + token_count * dtype.itemsize
    columns = None
    if columns_start < len(data):
        pyarrow = require_pyarrow()
        columns = pyarrow.ipc.open_stream(pyarrow.py_buffer(data)[columns_start:]).read_all()
    return keys, Rows(ids, np.concatenate(([0], np.cumsum(lengths))), columns)


def runs_name(stem: str) -> str:
    """Returns the name of the file of runs of the task with this stem."""
    return f"{stem}{RUNS_SUFFIX}"
