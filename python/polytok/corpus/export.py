"""Writes a dataset's documents to one file or one pair of files, for programs that cannot read a folder of shards."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import numpy as np

from ..checked import checked
from ..checks import one_of
from ..errors import ArgumentError
from ..files import created_folder
from ..progress import ReportProgress, progress_function
from .blocks import blocks, columns
from .journal import MANIFEST_NAME
from .manifest import Manifest, load, local_path
from .options import Output
from .verify import check_files
from .write import WRITERS, ShardFile, ShardWriter


@checked()
def export(
    dataset: str | os.PathLike[str],
    out: str | os.PathLike[str],
    *,
    to: Output = "megatron",
    dtype: Literal["uint16", "uint32", "int32"] | None = None,
    progress: bool | ReportProgress = False,
) -> tuple[ShardFile, ...]:
    """Writes all documents of the dataset in the folder ``dataset``, in order, and returns the files.

    ``out`` is the path of the files without a suffix. ``to`` is the format of the files:

    * ``megatron``: the files ``.bin`` and ``.idx``;
    * ``flat``: ``.bin``, the concatenated ids, and ``.offsets``, the offsets of documents (int64, little-endian);
    * ``npy``: ``.npy``, the concatenated ids, and ``.offsets``;
    * ``parquet``, ``arrow``: one file.

    Each existing file is replaced completely or not at all. Memory use does not depend on the size of the dataset.
    Without ``dtype``, ids have the dtype of the dataset, except that ids of 32 bits have the dtype uint32 if the format
    supports it, and int32 otherwise. ``progress`` is True for a bar on standard
    error, or a function that is called with the stage, the count of tokens written, and the total count of tokens.

    Raises `ArgumentError` for a dtype that cannot hold the ids, a target in the folder of a dataset, and a URL;
    `FileError` for files that cannot be read or written; and `FormatError` for a shard with a wrong checksum.
    """
    one_of("to", to, tuple(WRITERS))
    dataset_folder = local_path(dataset)
    manifest = load(dataset_folder)
    writer = WRITERS[to]
    stored_dtype = np.dtype(dtype) if dtype else writer.stored_dtype(manifest.unsigned)
    path_and_stem = _path_and_stem(dataset_folder, local_path(out), writer)
    schema = columns(dataset_folder, manifest) if writer.can_hold_columns else None
    with (
        progress_function(progress) as report_progress,
        created_folder(path_and_stem[0]),
        writer(*path_and_stem, stored_dtype, schema) as files,
    ):
        copy_documents(dataset_folder, manifest, files, report_progress)
        return files.finish()


def export_paths(out: str | os.PathLike[str], to: str) -> list[Path]:
    """Returns the paths of the files that `export` writes."""
    target, suffixes = local_path(out), WRITERS[to].suffixes
    return [target.parent / (_stem(target, suffixes) + suffix) for suffix in suffixes]


def _stem(target: Path, suffixes: Sequence[str]) -> str:
    """Returns the file name without the suffix of the writer's files."""
    return target.stem if target.suffix in suffixes else target.name


def _path_and_stem(dataset_folder: Path, target: Path, writer: type[ShardWriter]) -> tuple[Path, str]:
    """Splits ``target`` into its folder and its file name without the suffix of the writer's files."""
    name = _stem(target, writer.suffixes)
    if not name:
        raise ArgumentError(f"{target} is not the name of a file: name a file")
    folder = target.parent.resolve()
    if folder.is_relative_to(dataset_folder.resolve()) or (folder / MANIFEST_NAME).exists():
        raise ArgumentError(
            f"{target} is in the folder of a dataset, whose shards could be replaced: name another folder"
        )
    return target.parent, name


def copy_documents(folder: Path, manifest: Manifest, out: ShardWriter, progress: ReportProgress | None) -> None:
    """Appends all documents to the writer ``out``.

    The checksum of each shard is checked first, so that damage is not copied to a file with a valid checksum.
    """
    tokens_written, all_tokens = 0, manifest.totals.tokens
    for shard in manifest.shards:
        check_files(folder, shard)
        for block in blocks(folder, manifest, shard):
            out.write(block.ids, block.offsets, block.columns if out.holds_columns else None)
            tokens_written += int(block.offsets[-1] - block.offsets[0])
            if progress is not None:
                progress("writing", tokens_written, all_tokens)
