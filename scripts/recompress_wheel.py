"""Compresses the files of a wheel again, by zopfli, which takes a minute and saves 4 %.

    python scripts/recompress_wheel.py polytok-0.1.0-cp310-abi3-linux_x86_64.whl

The names, the contents and their order stay the same, and any program for zip files reads the result.
"""

from __future__ import annotations

import sys
import zipfile
from pathlib import Path
from unittest import mock

import zopfli.zlib


class ZopfliCompressor:
    """What zipfile expects of a compressor: it collects a file, and compresses it at the end."""

    def __init__(self, compress_type: int, compresslevel: int | None = None) -> None:
        self._parts: list[bytes] = []

    def compress(self, part: bytes) -> bytes:
        self._parts.append(bytes(part))
        return b""

    def flush(self) -> bytes:
        """Returns the deflated file: zlib's format without its header and its checksum."""
        compressed: bytes = zopfli.zlib.compress(b"".join(self._parts))
        return compressed[2:-4]


def recompress(wheel: Path) -> None:
    """Replaces a wheel by a smaller one with the same files."""
    smaller = wheel.with_suffix(".smaller")
    # zipfile has no public way to give it a compressor.
    with (
        zipfile.ZipFile(wheel) as source,
        mock.patch.object(zipfile, "_get_compressor", ZopfliCompressor),
        zipfile.ZipFile(smaller, "w") as target,
    ):
        for entry in source.infolist():
            target.writestr(entry, source.read(entry), zipfile.ZIP_DEFLATED)
    if files_of(wheel) != files_of(smaller):
        raise SystemExit(f"{wheel}: the files differ after compression")
    smaller.replace(wheel)


def files_of(wheel: Path) -> list[tuple[str, int, tuple[int, ...], bytes]]:
    """Returns the name, the mode, the time and the content of each file."""
    with zipfile.ZipFile(wheel) as archive:
        return [
            (entry.filename, entry.external_attr, entry.date_time, archive.read(entry)) for entry in archive.infolist()
        ]


if __name__ == "__main__":
    recompress(Path(sys.argv[1]))
