"""Checks a dataset against its manifest: sums, sizes, checksums, bounds of documents, ids of the vocabulary."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ..errors import FileError, FormatError, PolytokError
from ..loading import load as load_tokenizer
from ..progress import Report
from .blocks import blocks
from .journal import MANIFEST, TOKENIZER
from .manifest import Manifest, ShardEntry, TokenizerName, load, local, total
from .mapped import map_shard
from .write import ShardFile, checksum
from .write.megatron import HEADER


class Damage(NamedTuple):
    """A problem, and the file of the folder that has it."""

    file: str
    what: str


def verify(folder: str | os.PathLike[str], *, progress: Report | None = None) -> tuple[Damage, ...]:
    """Read a whole dataset and return its problems; none if it is intact.

    ``progress`` receives the stage, the bytes read so far, and their total. Raises `FileError` or `FormatError` if the
    manifest itself cannot be read, `ArgumentError` for a URL.
    """
    root = local(folder)
    manifest = load(root)
    found = [*_of_sources(manifest), *_of_tokenizer(root, manifest.tokenizer)]
    size, done = sum(file.bytes for shard in manifest.shards for file in shard.files), 0
    for shard in manifest.shards:
        if progress is not None:
            progress("verifying", done, size)
        found += _of_files(root, shard) or _of_documents(root, manifest, shard)
        done += sum(file.bytes for file in shard.files)
    return tuple(found)


def _of_sources(manifest: Manifest) -> Iterator[Damage]:
    if (sums := total(manifest.sources)) != manifest.totals:
        yield Damage(MANIFEST, f"the sums over the inputs are {sums}, but the totals are {manifest.totals}")


def _of_tokenizer(folder: Path, used: TokenizerName) -> Iterator[Damage]:
    try:
        tokenizer = load_tokenizer(folder / TOKENIZER)
    except (PolytokError, OSError) as error:
        yield Damage(TOKENIZER, str(error))
        return
    if tokenizer.fingerprint != used.fingerprint or tokenizer.vocab_size != used.vocab_size:
        yield Damage(TOKENIZER, f"another tokenizer than the one of the ids, {used.name} {used.fingerprint}")


def _of_files(folder: Path, shard: ShardEntry) -> list[Damage]:
    found = []
    for file in shard.files:
        path = folder / file.name
        try:
            if what := _change(path, file):
                found.append(Damage(file.name, what))
        except OSError as error:
            found.append(Damage(file.name, f"cannot be read: {error.strerror}"))
    return found


def check_files(folder: Path, shard: ShardEntry) -> None:
    """Raise `FormatError` if a file of a shard differs from the manifest, `FileError` if it cannot be read."""
    for file in shard.files:
        path = folder / file.name
        try:
            what = _change(path, file)
        except OSError as error:
            raise FileError(error.errno, f"cannot read the shard: {error.strerror}", str(path)) from error
        if what:
            raise FormatError(f"{path}: not as the manifest has it: {what}; polytok corpus verify tells more")


def _change(path: Path, file: ShardFile) -> str | None:
    """How a file differs from the one that was written."""
    if (size := path.stat().st_size) != file.bytes:
        return f"{size} bytes instead of {file.bytes}"
    return None if checksum(path) == file.checksum else "the checksum is another: the bytes were changed"


def _of_documents(folder: Path, manifest: Manifest, shard: ShardEntry) -> list[Damage]:
    """Problems although the checksums are right: the manifest was made from files that had them."""
    documents = tokens = 0
    largest = -1
    try:
        if manifest.kind == "megatron":
            _check_lengths(folder, manifest, shard)
        for block in blocks(folder, manifest, shard):
            documents += len(block.offsets) - 1
            tokens += int(block.offsets[-1] - block.offsets[0])
            ids = block.ids[block.offsets[0] : block.offsets[-1]]
            largest = max(largest, int(ids.view(f"u{ids.itemsize}").max(initial=0)))
    except PolytokError as error:
        return [Damage(shard.files[0].name, str(error))]
    if (documents, tokens) != (shard.documents, shard.tokens):
        said = f"{shard.documents} documents and {shard.tokens} tokens"
        return [Damage(shard.files[0].name, f"{documents} documents and {tokens} tokens, but the manifest has {said}")]
    if largest >= manifest.tokenizer.vocab_size:
        return [Damage(shard.files[0].name, f"id {largest} in a vocabulary of {manifest.tokenizer.vocab_size}")]
    return []


def _check_lengths(folder: Path, manifest: Manifest, shard: ShardEntry) -> None:
    """What Megatron reads from an index besides the places of documents: their lengths, and bounds that count up."""
    path = folder / shard.files[1].name
    count = shard.documents
    offsets = map_shard(folder, manifest, shard).offsets(0, count)
    with open(path, "rb") as file:
        file.seek(HEADER.size)
        lengths = np.fromfile(file, dtype="<i4", count=count)
        file.seek(HEADER.size + 12 * count)
        borders = np.fromfile(file, dtype="<i8", count=count + 1)
    if not np.array_equal(np.diff(offsets), lengths) or not np.array_equal(borders, np.arange(count + 1)):
        raise FormatError(f"{path}: the lengths, places and borders of documents do not agree")
