"""Writes input files with the same documents in each format.

Each document is about four kilobytes of the text that bench/training/texts.py generates: the corpus, installed source
code, and random text that imitates both. Texts that look like special tokens are changed, because some engines
recognize special tokens in text.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path

from ..training import texts

FILE_COUNT = 8
MAX_LINES = 64
"""The maximum number of lines of a document."""
DOCUMENT_BYTES = 4096
"""The approximate number of bytes of a document."""
SEPARATOR = "\n\x1e\n"


def generate_documents() -> Iterator[str]:
    """Yields an endless stream of documents."""
    for chunk in texts.generate_chunks():
        document: list[str] = []
        size = 0
        text = texts.remove_broken_characters(chunk).decode().replace("<|", "< |").replace("\x1e", "")
        for line in text.splitlines(keepends=True):
            document.append(line)
            size += len(line)
            if size >= DOCUMENT_BYTES or len(document) == MAX_LINES:
                yield "".join(document)
                document, size = [], 0


def documents_of_size(megabytes: int) -> Iterator[str]:
    """Yields documents that together have ``megabytes`` MB of UTF-8."""
    remaining_bytes = megabytes * texts.MEGABYTE
    for document in generate_documents():
        yield document
        remaining_bytes -= len(document.encode())
        if remaining_bytes <= 0:
            return


def write_files(folder: Path, format: str, megabytes: int) -> list[Path]:
    """Returns files with documents that together have ``megabytes`` MB.

    The documents are the same on every call. Existing files are reused.
    """
    suffix = {"text": "txt"}.get(format, format)
    paths = [folder / f"polytok-corpus-{megabytes}-{number}.{suffix}" for number in range(FILE_COUNT)]
    if not all(path.exists() for path in paths):
        folder.mkdir(parents=True, exist_ok=True)
        remaining_documents = documents_of_size(megabytes)
        bytes_per_file = -(-megabytes * texts.MEGABYTE // FILE_COUNT)
        for path in paths:
            temporary_path = path.with_suffix(".part")
            WRITERS[format](temporary_path, _take_documents(remaining_documents, bytes_per_file))
            os.replace(temporary_path, path)
    return paths


def _take_documents(remaining_documents: Iterator[str], size: int) -> Iterator[str]:
    for document in remaining_documents:
        yield document
        size -= len(document.encode())
        if size <= 0:
            return


def _write_text(path: Path, documents: Iterator[str]) -> None:
    with path.open("wb") as file:
        for document in documents:
            file.write(document.encode() + SEPARATOR.encode())


def _json_records(documents: Iterator[str]) -> Iterator[bytes]:
    for number, document in enumerate(documents):
        record = {"id": number, "text": document, "meta": {"source": "bench", "score": number / 7}}
        yield json.dumps(record, ensure_ascii=False).encode() + b"\n"


def _write_json_lines(path: Path, documents: Iterator[str]) -> None:
    with path.open("wb") as file:
        file.writelines(_json_records(documents))


def _write_compressed(path: Path, documents: Iterator[str]) -> None:
    if sys.version_info >= (3, 14):
        from compression import zstd
    else:
        from backports import zstd

    with zstd.open(path, "wb", level=3) as file:
        file.writelines(_json_records(documents))


def _write_parquet(path: Path, documents: Iterator[str]) -> None:
    import pyarrow
    from pyarrow import parquet

    schema = pyarrow.schema({"id": pyarrow.int64(), "text": pyarrow.string()})
    with parquet.ParquetWriter(path, schema, compression="zstd") as file:
        first_row = 0
        while group := list(islice(documents, 4096)):
            file.write_table(pyarrow.table({"id": range(first_row, first_row + len(group)), "text": group}, schema))
            first_row += len(group)


WRITERS: dict[str, Callable[[Path, Iterator[str]], None]] = {
    "text": _write_text,
    "jsonl": _write_json_lines,
    "jsonl.zst": _write_compressed,
    "parquet": _write_parquet,
}
