"""Writes input files with the same documents in each format.

Documents are about four kilobytes of the text of bench/training/texts.py: the corpus, installed source code, and random
text from them. Texts that look like special tokens are changed, because some engines recognise special tokens in text.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path

from ..training import texts

FILES = 8
MAX_LINES = 64
"""The maximum number of lines of a document."""
DOCUMENT_BYTES = 4096
"""The approximate number of bytes of a document."""
SEPARATOR = "\n\x1e\n"


def documents() -> Iterator[str]:
    """Yields an endless stream of documents."""
    for chunk in texts.chunks():
        document: list[str] = []
        size = 0
        text = texts.without_broken_characters(chunk).decode().replace("<|", "< |").replace("\x1e", "")
        for line in text.splitlines(keepends=True):
            document.append(line)
            size += len(line)
            if size >= DOCUMENT_BYTES or len(document) == MAX_LINES:
                yield "".join(document)
                document, size = [], 0


def documents_of_size(megabytes: int) -> Iterator[str]:
    """Yields documents of this number of megabytes of UTF-8 in total."""
    remaining_bytes = megabytes * texts.MEGABYTE
    for document in documents():
        yield document
        remaining_bytes -= len(document.encode())
        if remaining_bytes <= 0:
            return


def files(folder: Path, format: str, megabytes: int) -> list[Path]:
    """Returns files with documents of this number of megabytes in total.

    The documents are the same on every call. Existing files are reused.
    """
    suffix = {"text": "txt"}.get(format, format)
    paths = [folder / f"polytok-corpus-{megabytes}-{number}.{suffix}" for number in range(FILES)]
    if not all(path.exists() for path in paths):
        folder.mkdir(parents=True, exist_ok=True)
        remaining_documents = documents_of_size(megabytes)
        share = -(-megabytes * texts.MEGABYTE // FILES)
        for path in paths:
            temporary = path.with_suffix(".part")
            WRITERS[format](temporary, _share(remaining_documents, share))
            os.replace(temporary, path)
    return paths


def _share(remaining_documents: Iterator[str], size: int) -> Iterator[str]:
    for document in remaining_documents:
        yield document
        size -= len(document.encode())
        if size <= 0:
            return


def _text(path: Path, documents: Iterator[str]) -> None:
    with path.open("wb") as file:
        for document in documents:
            file.write(document.encode() + SEPARATOR.encode())


def _lines(documents: Iterator[str]) -> Iterator[bytes]:
    for number, document in enumerate(documents):
        record = {"id": number, "text": document, "meta": {"source": "bench", "score": number / 7}}
        yield json.dumps(record, ensure_ascii=False).encode() + b"\n"


def _json_lines(path: Path, documents: Iterator[str]) -> None:
    with path.open("wb") as file:
        file.writelines(_lines(documents))


def _compressed(path: Path, documents: Iterator[str]) -> None:
    import zstandard

    with path.open("wb") as file, zstandard.ZstdCompressor(3).stream_writer(file) as out:
        for line in _lines(documents):
            out.write(line)


def _parquet(path: Path, documents: Iterator[str]) -> None:
    import pyarrow
    from pyarrow import parquet

    schema = pyarrow.schema({"id": pyarrow.int64(), "text": pyarrow.string()})
    with parquet.ParquetWriter(path, schema, compression="zstd") as file:
        first_row = 0
        while group := list(islice(documents, 4096)):
            file.write_table(pyarrow.table({"id": range(first_row, first_row + len(group)), "text": group}, schema))
            first_row += len(group)


WRITERS: dict[str, Callable[[Path, Iterator[str]], None]] = {
    "text": _text,
    "jsonl": _json_lines,
    "jsonl.zst": _compressed,
    "parquet": _parquet,
}
