"""Detects the format of a file: by its first bytes if they identify it, else by its name."""

from __future__ import annotations

from ..errors import FormatError
from .choices import Format
from .opened import Damaged, is_compressed

PARQUET = b"PAR1"
ARROW_FILE = b"ARROW1"
FEATHER_1 = b"FEA1"

FIRST = 16
"""The number of first bytes of a file that are enough to identify it."""

_COMPRESSED = (".gz", ".zst", ".zstd", ".bz2", ".xz")
_SUFFIXES: dict[Format, tuple[str, ...]] = {
    "jsonl": (".jsonl", ".ndjson", ".jsonlines"),
    "parquet": (".parquet",),
    "arrow": (".arrow", ".arrows", ".feather", ".ipc"),
}


def format_by_name(name: str) -> Format:
    """The format that a file's name suggests.

    >>> format_by_name("a/b.JSONL.zst"), format_by_name("s3://a/b.parquet"), format_by_name("notes.txt")
    ('jsonl', 'parquet', 'text')
    """
    name = name.lower()
    for suffix in _COMPRESSED:
        name = name.removesuffix(suffix)
    for format, suffixes in _SUFFIXES.items():
        if name.endswith(suffixes):
            return format
    return "text"


def format_of(name: str, first: bytes, given: Format | None) -> Format:
    """The format of a file with these first bytes. Raises `FormatError` if that is not the given one or unreadable."""
    told = _by_first(first)
    if first.startswith(FEATHER_1) and given in (None, "arrow"):
        raise FormatError(f"{name} is Feather of version 1, which is not read: write it anew with version 2")
    format = given or told or format_by_name(name)
    if format == "parquet" and told != "parquet":
        packed = "; it is compressed as a whole: decompress it" if is_compressed(first) else ""
        raise Damaged(f"{name} does not begin as a Parquet file does{packed}")
    return format


def _by_first(first: bytes) -> Format | None:
    if first.startswith(PARQUET):
        return "parquet"
    return "arrow" if first.startswith(ARROW_FILE) else None
