"""Opens a dataset folder: returns documents by index and windows of tokens, mapped from the files."""

from __future__ import annotations

import os
from bisect import bisect_right
from collections.abc import Sequence
from functools import lru_cache
from hashlib import blake2b
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, overload

import numpy as np
import numpy.typing as npt

from ..checked import checked
from ..checks import whole_number
from ..errors import ArgumentError, FormatError
from ..keywords import keyword
from ..loading import AnyTokenizer, as_tokenizer
from ..loading import load as load_tokenizer
from ..values import Batch
from .blocks import TABLE_KINDS
from .journal import TOKENIZER_NAME
from .lookup import source_name
from .manifest import Manifest, ShardEntry, load, local_path
from .mapped import MappedShard, map_shard
from .origin import DocumentSource, parse_origin
from .packing import PackedWindows, Packing
from .table_rows import TableRows
from .windows import Windows

if TYPE_CHECKING:
    from ..tokenizer import Tokenizer

# A mapped shard keeps its files open, and a process can open only about a thousand files.
_MAX_MAPPED_SHARDS = 128

_MAX_OPEN_TABLES = 16  # each keeps one row group in memory


class TokenLocation(NamedTuple):
    """The place of a token: the index of its document, the index of the token in the document, and the document's
    source, which is None if the dataset does not have it."""

    document: int
    offset: int
    source: DocumentSource | None


class Dataset(Sequence[npt.NDArray[Any]]):
    """The documents of a dataset folder, in the order of the inputs, as arrays of ids mapped from the files.

    Ids are read from the disk when they are first used. Many threads can use a dataset together. A pickled dataset
    holds only the path of its folder.

    >>> import tempfile
    >>> from polytok import corpus
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "a.txt").write_text("to be or not to be")
    >>> _ = corpus.tokenize(folder / "a.txt", "default", folder / "tokens", workers=1)
    >>> dataset = Dataset(folder / "tokens")
    >>> len(dataset), dataset.tokens, dataset.decode(0)
    (1, 6, 'to be or not to be')
    >>> dataset.windows(4)[0].tolist() == dataset[0][:4].tolist()
    True
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        """Reads the manifest of ``folder``.

        Raises `FileError` if the manifest is missing, `FormatError` if it is damaged, and `ArgumentError` for a URL and
        for datasets of Parquet or Arrow files, which other packages read.
        """
        self.folder = local_path(folder).absolute()
        self.manifest: Manifest = load(self.folder)
        if self.manifest.kind in TABLE_KINDS:
            raise ArgumentError(
                f"{self.folder} has {self.manifest.kind} files: read them with pyarrow, polars, DuckDB or datasets, or "
                "convert the dataset to files that can be mapped: polytok corpus merge DIR --to megatron -o NEWDIR"
            )
        shards = self.manifest.shards
        self._first_documents = [0, *accumulate(shard.documents for shard in shards)]
        self._first_tokens = [0, *accumulate(shard.tokens for shard in shards)]
        self._shard = lru_cache(_MAX_MAPPED_SHARDS)(self._map_shard)
        self._documents_table = lru_cache(_MAX_OPEN_TABLES)(self._open_documents_table)
        self._tokenizer: Tokenizer | None = None

    @property
    def documents(self) -> int:
        """The number of documents."""
        return self._first_documents[-1]

    @property
    def tokens(self) -> int:
        """The number of tokens in all documents."""
        return self._first_tokens[-1]

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of the ids: uint16, uint32, or int32 for a large vocabulary in Megatron's format."""
        return np.dtype(self.manifest.dtype)

    @property
    def shards(self) -> tuple[ShardEntry, ...]:
        """The manifest's entries for the shards, with the files and the counts of documents and tokens."""
        return self.manifest.shards

    @checked()
    def shard(self, number: int) -> MappedShard:
        """Returns shard ``number`` with its files memory-mapped. Raises `IndexError` if the index ``number`` is out of
        range."""
        return self._shard(range(len(self.shards))[number])

    def _map_shard(self, number: int) -> MappedShard:
        return map_shard(self.folder, self.manifest, self.shards[number])

    def __len__(self) -> int:
        return self.documents

    @overload
    def __getitem__(self, index: int) -> npt.NDArray[Any]: ...
    @overload
    def __getitem__(self, index: slice) -> Batch: ...
    def __getitem__(self, index: int | slice) -> npt.NDArray[Any] | Batch:
        """Returns the ids of one document without a copy, or for a slice the ids of several documents, copied.

        The array of one document has shape (tokens,) and the dtype of the dataset. Raises `IndexError` if the document
        does not exist, and `FileError` or `FormatError` if a shard cannot be read.
        """
        if isinstance(index, slice):
            return self._batch([self[row] for row in range(*index.indices(len(self)))])
        row = range(len(self))[index] if -len(self) <= index < len(self) else -1
        if row < 0:
            raise IndexError(f"document {index} is out of range: the dataset has {len(self)} documents")
        number = bisect_right(self._first_documents, row) - 1
        shard = self._shard(number)
        start, end = shard.span(row - self._first_documents[number])
        if not 0 <= start <= end <= len(shard.ids):
            raise FormatError(
                f"{self.folder}: document {row} has invalid offsets; polytok corpus verify lists all damage"
            )
        return shard.ids[start:end]

    def _batch(self, rows: list[npt.NDArray[Any]]) -> Batch:
        offsets = np.cumsum([0, *map(len, rows)], dtype=np.int64)
        return Batch(np.concatenate(rows) if rows else np.empty(0, dtype=self.dtype), offsets)

    @checked()
    def source_of(self, document: int) -> DocumentSource:
        """Returns the input file that a document comes from.

        If the dataset has a documents table (``documents=True``), also returns the position of the document's record in
        the file, and its columns. Raises `IndexError` if the document does not exist, and `ArgumentError` if the
        dataset does not say where its documents come from.
        """
        number, row = self._place_of(document)
        if self.manifest.documents:
            return parse_origin(self._documents_table(number).row(row).to_pylist()[0])
        if (name := source_name(self.manifest, self.shards[number], row)) is None:
            raise ArgumentError(
                f"{self.folder} does not say where its documents come from: tokenize with {keyword('documents', True)}"
            )
        return DocumentSource(name)

    @checked()
    def locate(self, position: int) -> TokenLocation:
        """Returns the document that contains the token at ``position`` in the concatenation of all documents.

        A position of `ids` and the first token of window i, which is ``i * stride``, are such positions. The source of
        the document is None if the dataset was shuffled with ``shuffle="all"`` and has no documents table: then its
        documents come from all inputs, and the manifest does not say which document comes from which input. Raises
        `IndexError` if there is no such token.

        >>> import tempfile
        >>> from polytok import corpus
        >>> folder = Path(tempfile.mkdtemp())
        >>> _ = (folder / "a.txt").write_text("to be or not\\nto be\\n")
        >>> options = {"lines": True, "documents": True, "workers": 1}
        >>> _ = corpus.tokenize(folder / "a.txt", "default", folder / "tokens", **options)
        >>> location = corpus.open(folder / "tokens").locate(5)
        >>> location.document, location.offset, Path(location.source.file).name, location.source.position
        (1, 1, 'a.txt', 13)
        """
        if not 0 <= position < self.tokens:
            raise IndexError(f"token {position} is out of range: the dataset has {self.tokens} tokens")
        number = bisect_right(self._first_tokens, position) - 1
        shard, shard_position = self._shard(number), position - self._first_tokens[number]
        row = shard.row_at(shard_position)
        document = self._first_documents[number] + row
        is_known = self.manifest.documents or self.shards[number].sources
        return TokenLocation(
            document, shard_position - shard.span(row)[0], self.source_of(document) if is_known else None
        )

    def _place_of(self, document: int) -> tuple[int, int]:
        """Returns the shard of a document, and the index of the document in the shard."""
        if not -len(self) <= document < len(self):
            raise IndexError(f"document {document} is out of range: the dataset has {len(self)} documents")
        number = bisect_right(self._first_documents, document % len(self)) - 1
        return number, document % len(self) - self._first_documents[number]

    def _open_documents_table(self, number: int) -> TableRows:
        return TableRows(self.folder / self.shards[number].files[-1].name)

    def ids(self, start: int, stop: int) -> npt.NDArray[Any]:
        """Returns the ids ``start`` to ``stop`` of the concatenation of all documents, of shape (stop - start,).

        The ids are copied only if the range crosses the end of a shard. A range past the end is shortened, like a slice
        of a list.
        """
        try:
            start, stop, _ = slice(start, stop).indices(self.tokens)
        except TypeError:
            whole_number("start", start)
            whole_number("stop", stop)
            raise
        parts = []
        number = bisect_right(self._first_tokens, start) - 1
        while start < stop:
            shard_start, shard_end = self._first_tokens[number], self._first_tokens[number + 1]
            if start < shard_end:
                parts.append(self._shard(number).ids[start - shard_start : stop - shard_start])
                start = shard_end
            number += 1
        return parts[0] if len(parts) == 1 else np.concatenate([np.empty(0, dtype=self.dtype), *parts])

    @checked()
    def windows(self, length: int, stride: int | None = None) -> Windows:
        """Returns the windows of ``length`` consecutive tokens; each begins ``stride`` tokens after the previous one.

        Windows cross documents and shards. ``stride`` is ``length`` by default. Tokens at the end that do not fill a
        window are dropped. For a model that predicts the next token, each window of ``windows(context + 1, context)``
        holds the input and the target: the target is the input shifted by one token.
        """
        return Windows(self, length, length if stride is None else stride)

    @checked()
    def packed(self, length: int, *, packing: Packing = "best-fit", pad: int | str | None = None) -> PackedWindows:
        """Returns windows of ``length`` tokens that are filled with whole documents.

        Each token occurs in one window. A document longer than a window is divided into parts of ``length`` tokens and
        a remainder. The windows are in the order of their first documents.

        * ``packing="best-fit"``: the longest part first, each into the fullest window that has room for it. So there
          is little padding.
        * ``packing="in-order"``: documents keep their order, and a new window begins when the next one does not fit.

        ``pad`` is the piece or id that fills the end of a window, by default the tokenizer's pad, else its eos.
        """
        return PackedWindows(self, length, packing, pad)

    @checked()
    def check(self, tokenizer: AnyTokenizer) -> None:
        """Raises `ArgumentError` if the fingerprints of ``tokenizer`` and of the dataset's tokenizer differ."""
        tokenizer, expected = as_tokenizer(tokenizer), self.manifest.tokenizer
        if tokenizer.fingerprint != expected.fingerprint:
            raise ArgumentError(
                f"{self.folder} has ids of {expected.name}, fingerprint {expected.fingerprint}; this tokenizer is "
                f"another one, {tokenizer!r}, fingerprint {tokenizer.fingerprint}"
            )

    @property
    def tokenizer(self) -> Tokenizer:
        """The tokenizer of the ids, loaded from its copy in the folder.

        Raises `FileError` if the copy cannot be read, and `ArgumentError` if it is a different tokenizer.
        """
        if self._tokenizer is None:
            tokenizer = load_tokenizer(self.folder / TOKENIZER_NAME)
            self.check(tokenizer)
            self._tokenizer = tokenizer
        return self._tokenizer

    @checked()
    def decode(self, index: int) -> str:
        """Returns the text of document ``index``."""
        return self.tokenizer.decode(self[index])

    @property
    def stamp(self) -> bytes:
        """A hash of the manifest, which has the checksums of all shards; another dataset in the folder has another.

        Pickles contain it, because ``datasets.Dataset.from_generator`` recognizes by the pickles of its arguments
        whether it has made the same dataset before.
        """
        return blake2b(self.manifest.data(), digest_size=16).digest()

    def __reduce__(self) -> tuple[Any, ...]:
        return (_unpickle, (self.folder, self.stamp))

    def __repr__(self) -> str:
        return f"<polytok.corpus.Dataset {self.folder}, {self.documents} documents, {self.tokens} tokens>"


def _unpickle(folder: Path, _stamp: bytes) -> Dataset:
    return Dataset(folder)


@checked()
def open(dataset: str | os.PathLike[str]) -> Dataset:
    """Opens the dataset in the folder ``dataset``. Raises the same errors as `Dataset`."""
    return Dataset(dataset)
