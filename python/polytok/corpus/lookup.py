"""Finds documents by their index in a dataset of any kind, with the input that each document comes from."""

from __future__ import annotations

import os
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ..checked import checked
from ..checks import number
from .blocks import TABLE_KINDS, rows_of_table
from .manifest import Manifest, ShardEntry, load, local_path
from .mapped import MappedShard, map_shard
from .permutation import permute
from .shuffle import row_before_shuffle
from .table_rows import TableRows, translate_errors


@dataclass(frozen=True, slots=True)
class StoredDocument:
    """A document of a dataset.

    ``source`` is the name of the input file, or None if the dataset does not say which input it is. ``columns`` has the
    values of the columns that are stored with the document.
    """

    index: int
    ids: npt.NDArray[Any]
    source: str | None = None
    columns: Mapping[str, Any] = field(default_factory=dict)


@checked()
def read_documents(dataset: str | os.PathLike[str], indices: Iterable[int]) -> Iterator[StoredDocument]:
    """Yields the documents of a dataset with these indices; a negative index counts from the end.

    The shards can have any kind. Raises `IndexError` for a document that does not exist, `FileError` and `FormatError`
    for files that cannot be read, and `ArgumentError` for a URL.

    >>> import tempfile
    >>> from polytok import corpus
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "a.txt").write_text("one\\ntwo\\n")
    ...     _ = corpus.tokenize(f"{folder}/a.txt", "default", f"{folder}/out", lines=True, workers=1, to="arrow")
    ...     [(document.index, len(document.ids)) for document in corpus.read_documents(f"{folder}/out", [-1])]
    [(1, 1)]
    """
    folder = local_path(dataset)
    manifest = load(folder)
    lookup = _Lookup(folder, manifest)
    for index in indices:
        yield lookup.document(index)


@checked()
def sample(dataset: str | os.PathLike[str], count: int, *, seed: int = 0) -> list[StoredDocument]:
    """Returns ``count`` different documents of a dataset, chosen at random by ``seed``, in the order of the dataset.

    If the dataset has fewer documents, all are returned. Raises the errors of `read_documents`.

    >>> import tempfile
    >>> from polytok import corpus
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "a.txt").write_text("one\\ntwo\\nthree\\n")
    ...     _ = corpus.tokenize(f"{folder}/a.txt", "default", f"{folder}/out", lines=True, workers=1)
    ...     tokenizer = corpus.open(f"{folder}/out").tokenizer
    ...     [tokenizer.decode(document.ids) for document in corpus.sample(f"{folder}/out", 2, seed=1)]
    ['one', 'three']
    """
    number("sample", count, least=0)
    number("seed", seed, least=0, most=2**64 - 1)
    document_count = load(local_path(dataset)).totals.documents
    indices = permute(range(min(count, document_count)), document_count, seed)
    return list(read_documents(dataset, sorted(indices.tolist())))


def source_name(manifest: Manifest, shard: ShardEntry, row: int) -> str | None:
    """Returns the name of the input of a shard's document ``row``; None if the manifest does not say which it is."""
    if shard.shuffle is not None:
        row = row_before_shuffle(row, shard.documents, *shard.shuffle)
    for source, document_count in shard.sources:
        if row < document_count:
            return manifest.sources[source].name
        row -= document_count
    return None


class _Lookup:
    """The shards of a dataset, opened one at a time."""

    def __init__(self, folder: Path, manifest: Manifest) -> None:
        self._folder, self._manifest = folder, manifest
        self._first_documents = [0, *accumulate(shard.documents for shard in manifest.shards)]
        self._shard_number = -1
        self._shard: MappedShard | TableRows | None = None
        self._table: TableRows | None = None

    def document(self, index: int) -> StoredDocument:
        count = self._first_documents[-1]
        if not -count <= index < count:
            raise IndexError(f"document {index} is out of range: the dataset has {count} documents")
        index %= count
        shard_number = bisect_right(self._first_documents, index) - 1
        row = index - self._first_documents[shard_number]
        ids, columns = self._read_row(shard_number, row)
        source = columns.get("source") if self._manifest.documents else None
        source = source or source_name(self._manifest, self._manifest.shards[shard_number], row)
        return StoredDocument(index, ids, source, columns)

    def _read_row(self, shard_number: int, row: int) -> tuple[npt.NDArray[Any], Mapping[str, Any]]:
        if shard_number != self._shard_number:
            self._open_shard(self._manifest.shards[shard_number])
            self._shard_number = shard_number
        if isinstance(self._shard, MappedShard):
            start, end = self._shard.span(row)
            return self._shard.ids[start:end], {} if self._table is None else self._table.row(row).to_pylist()[0]
        assert self._shard is not None
        with translate_errors(self._folder / self._manifest.shards[shard_number].files[0].name):
            rows = rows_of_table(self._shard.row(row).combine_chunks(), np.dtype(self._manifest.dtype))
            columns = {} if rows.columns is None else rows.columns.to_pylist()[0]
        return rows.ids[rows.offsets[0] : rows.offsets[-1]], columns

    def _open_shard(self, shard: ShardEntry) -> None:
        if self._manifest.kind in TABLE_KINDS:
            self._shard = TableRows(self._folder / shard.files[0].name)
            return
        self._shard = map_shard(self._folder, self._manifest, shard)
        self._table = TableRows(self._folder / shard.files[-1].name) if self._manifest.documents else None
