"""Writes a dataset's documents as one file, or one pair of files, for programs that cannot read a folder of shards."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

from ..errors import ArgumentError
from ..progress import Report
from .blocks import blocks, columns
from .journal import MANIFEST
from .manifest import Manifest, load, local
from .verify import check_files
from .write import WRITERS, ShardFile, ShardWriter


def export(
    folder: str | os.PathLike[str],
    target: str | os.PathLike[str],
    kind: str = "megatron",
    *,
    dtype: str | None = None,
    progress: Report | None = None,
) -> tuple[ShardFile, ...]:
    """Write all documents of a dataset, in order, to ``target`` with the suffixes of the kind, and return the files.

    ``megatron``: ``.bin`` and ``.idx``; ``flat``: ``.bin``, one stream of ids, and ``.offsets``, the bounds of
    documents (int64, little-endian); ``npy``: ``.npy`` and ``.offsets``; ``parquet``, ``arrow``: one file. Existing
    files of these names are replaced, each of them completely or not at all. Memory use does not depend on the size of
    the dataset.

    The dtype is that of the dataset, except that uint32 replaces int32, or int32 uint32, if the kind requires it.
    Raises `ArgumentError` for a dtype that cannot hold the ids, a target in the folder of a dataset, and a URL;
    `FileError` for files that cannot be read or written; and `FormatError` for a damaged shard: checksums are checked.
    """
    root = local(folder)
    manifest = load(root)
    writer = _writer(kind)
    stored = writer.stored(np.dtype(dtype) if dtype else manifest.unsigned)
    place = _place(root, local(target), writer)
    with writer(*place, stored, columns(root, manifest) if writer.takes_columns else None) as out:
        copy(root, manifest, out, progress)
        return out.finish()


def _writer(kind: str) -> type[ShardWriter]:
    if kind not in WRITERS:
        raise ArgumentError(f"kind={kind!r} is none of {', '.join(WRITERS)}")
    return WRITERS[kind]


def _place(dataset: Path, target: Path, writer: type[ShardWriter]) -> tuple[Path, str]:
    """The folder, and the name without its suffix. The caller can give the name with or without one."""
    name = target.stem if target.suffix in writer.suffixes else target.name
    if not target.parent.is_dir() or not name:
        raise ArgumentError(f"{target}: there is no folder {target.parent}, or no name in it")
    folder = target.parent.resolve()
    if folder.is_relative_to(dataset.resolve()) or (folder / MANIFEST).exists():
        raise ArgumentError(f"{target}: the folder is that of a dataset, whose shards could be lost: name another")
    return target.parent, name


def copy(folder: Path, manifest: Manifest, out: ShardWriter, progress: Report | None) -> None:
    """Append all documents to a writer. Shards are checked first, so that damage does not get a valid checksum."""
    done, of = 0, manifest.totals.tokens
    for shard in manifest.shards:
        check_files(folder, shard)
        for block in blocks(folder, manifest, shard):
            out.write(block.ids, block.offsets, block.columns if out.takes_columns else None)
            done += int(block.offsets[-1] - block.offsets[0])
            if progress is not None:
                progress("writing", done, of)
