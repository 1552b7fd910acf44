"""Compares a dataset with its manifest: totals, sizes and checksums of files, offsets of documents, and ids."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ..checked import checked
from ..errors import FileError, FormatError, PolytokError
from ..loading import load as load_tokenizer
from ..progress import ReportProgress, progress_function
from .blocks import blocks
from .journal import MANIFEST_NAME, TOKENIZER_NAME
from .manifest import Manifest, ShardEntry, TokenizerIdentity, load, local_path, total
from .mapped import map_shard
from .write import ShardFile, checksum
from .write.megatron import INDEX_HEADER


class Damage(NamedTuple):
    """The name of a damaged file of the folder, and a description of the damage."""

    file: str
    what: str


@checked()
def verify(dataset: str | os.PathLike[str], *, progress: bool | ReportProgress = False) -> tuple[Damage, ...]:
    """Reads all files of a dataset and returns the damage, or an empty tuple if the dataset is intact.

    ``progress`` is True for a bar on standard error, or a function that is called with the stage, the count of bytes
    read so far, and the count of all bytes. Raises `FileError` or `FormatError` if the manifest cannot be read,
    `ArgumentError` for a URL.
    """
    dataset_folder = local_path(dataset)
    manifest = load(dataset_folder)
    all_damage = [*_find_count_damage(manifest), *_find_tokenizer_damage(dataset_folder, manifest.tokenizer)]
    with progress_function(progress) as report_progress:
        all_damage += _find_shard_damage(dataset_folder, manifest, report_progress)
    return tuple(all_damage)


def _find_shard_damage(folder: Path, manifest: Manifest, report_progress: ReportProgress | None) -> Iterator[Damage]:
    all_bytes, bytes_read = sum(file.bytes for shard in manifest.shards for file in shard.files), 0
    for shard in manifest.shards:
        if report_progress is not None:
            report_progress("verifying", bytes_read, all_bytes)
        yield from _find_file_damage(folder, shard) or _find_document_damage(folder, manifest, shard)
        bytes_read += sum(file.bytes for file in shard.files)


def _find_count_damage(manifest: Manifest) -> Iterator[Damage]:
    if (sums := total(manifest.sources)) != manifest.totals:
        yield Damage(MANIFEST_NAME, f"the sums over the inputs are {sums}, but the totals are {manifest.totals}")


def _find_tokenizer_damage(folder: Path, expected: TokenizerIdentity) -> Iterator[Damage]:
    try:
        tokenizer = load_tokenizer(folder / TOKENIZER_NAME)
    except (PolytokError, OSError) as error:
        yield Damage(TOKENIZER_NAME, str(error))
        return
    if tokenizer.fingerprint != expected.fingerprint or tokenizer.vocab_size != expected.vocab_size:
        yield Damage(TOKENIZER_NAME, f"this is not the tokenizer of the ids, {expected.name} {expected.fingerprint}")


def _find_file_damage(folder: Path, shard: ShardEntry) -> list[Damage]:
    all_damage = []
    for file in shard.files:
        path = folder / file.name
        try:
            if difference := _describe_difference(path, file):
                all_damage.append(Damage(file.name, difference))
        except OSError as error:
            all_damage.append(Damage(file.name, f"cannot be read: {error.strerror}"))
    return all_damage


def check_files(folder: Path, shard: ShardEntry) -> None:
    """Raises `FormatError` if a file of a shard differs from the manifest, `FileError` if it cannot be read."""
    for file in shard.files:
        path = folder / file.name
        try:
            difference = _describe_difference(path, file)
        except OSError as error:
            raise FileError(error.errno, f"cannot read the shard: {error.strerror}", str(path)) from error
        if difference:
            raise FormatError(
                f"{path}: the file differs from the manifest: {difference}; polytok corpus verify lists all damage"
            )


def _describe_difference(path: Path, file: ShardFile) -> str | None:
    """Describes the difference between a file and its entry in the manifest; None if they agree."""
    if (size := path.stat().st_size) != file.bytes:
        return f"{size} bytes instead of {file.bytes}"
    return None if checksum(path) == file.checksum else "the checksum differs: bytes were changed"


def _find_document_damage(folder: Path, manifest: Manifest, shard: ShardEntry) -> list[Damage]:
    """Returns the damage in the offsets and ids of a shard with correct checksums.

    Such damage was already in the files when the manifest was written.
    """
    documents = tokens = 0
    largest_id = -1
    try:
        if manifest.kind == "megatron":
            _check_lengths(folder, manifest, shard)
        for block in blocks(folder, manifest, shard):
            documents += len(block.offsets) - 1
            tokens += int(block.offsets[-1] - block.offsets[0])
            ids = block.ids[block.offsets[0] : block.offsets[-1]]
            largest_id = max(largest_id, int(ids.view(f"u{ids.itemsize}").max(initial=0)))
    except PolytokError as error:
        return [Damage(shard.files[0].name, str(error))]
    if (documents, tokens) != (shard.documents, shard.tokens):
        expected = f"{shard.documents} documents and {shard.tokens} tokens"
        return [
            Damage(shard.files[0].name, f"{documents} documents and {tokens} tokens, but the manifest has {expected}")
        ]
    if largest_id >= manifest.tokenizer.vocab_size:
        return [
            Damage(
                shard.files[0].name,
                f"id {largest_id} is not in the vocabulary, which has {manifest.tokenizer.vocab_size} ids",
            )
        ]
    return []


def _check_lengths(folder: Path, manifest: Manifest, shard: ShardEntry) -> None:
    """Checks two arrays of Megatron's index: the lengths of sequences, and the first sequences of documents.

    Raises `FormatError` if these arrays do not agree with the positions.
    """
    path = folder / shard.files[1].name
    count = shard.documents
    offsets = map_shard(folder, manifest, shard).offsets(0, count)
    with open(path, "rb") as file:
        file.seek(INDEX_HEADER.size)
        lengths = np.fromfile(file, dtype="<i4", count=count)
        file.seek(INDEX_HEADER.size + 12 * count)
        document_numbers = np.fromfile(file, dtype="<i8", count=count + 1)
    if not np.array_equal(np.diff(offsets), lengths) or not np.array_equal(document_numbers, np.arange(count + 1)):
        raise FormatError(f"{path}: the lengths, positions and numbers of documents do not agree")
