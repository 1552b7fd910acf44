"""Detects the format of a file by its first bytes, or by its name if the first bytes do not identify the format."""

from __future__ import annotations

from ..errors import FormatError
from .choices import Format
from .streams import COMPRESSED_SUFFIXES, DamageError, is_compressed

PARQUET_MAGIC = b"PAR1"
ARROW_FILE_MAGIC = b"ARROW1"
FEATHER_1_MAGIC = b"FEA1"

FIRST_BYTE_COUNT = 16
"""The number of first bytes of a file that are enough to detect its format."""

_SUFFIXES: dict[Format, tuple[str, ...]] = {
    "jsonl": (".jsonl", ".ndjson", ".jsonlines"),
    "parquet": (".parquet",),
    "arrow": (".arrow", ".arrows", ".feather", ".ipc"),
}


def format_by_name(name: str) -> Format:
    """Returns the format that a file's name suggests, ignoring the suffix of a compression.

    >>> format_by_name("a/b.JSONL.zst"), format_by_name("s3://a/b.parquet"), format_by_name("notes.txt")
    ('jsonl', 'parquet', 'text')
    """
    name = name.lower()
    for suffix in COMPRESSED_SUFFIXES:
        name = name.removesuffix(suffix)
    for format, suffixes in _SUFFIXES.items():
        if name.endswith(suffixes):
            return format
    return "text"


def format_of(name: str, first_bytes: bytes, requested: Format | None) -> Format:
    """Returns the format of a file that starts with ``first_bytes``: ``requested``, or the detected format if None.

    Raises `FormatError` for a format that cannot be read, and `DamageError` for Parquet without Parquet's first bytes.
    """
    detected_format = _format_by_first_bytes(first_bytes)
    if first_bytes.startswith(FEATHER_1_MAGIC) and requested in (None, "arrow"):
        raise FormatError(f"{name} is a Feather file of version 1, which is not supported: write it with version 2")
    format = requested or detected_format or format_by_name(name)
    if format == "parquet" and detected_format != "parquet":
        hint = "; the file is compressed as a whole: decompress it" if is_compressed(first_bytes) else ""
        raise DamageError(f"{name} does not begin as a Parquet file does{hint}")
    return format


def _format_by_first_bytes(first_bytes: bytes) -> Format | None:
    if first_bytes.startswith(PARQUET_MAGIC):
        return "parquet"
    return "arrow" if first_bytes.startswith(ARROW_FILE_MAGIC) else None
