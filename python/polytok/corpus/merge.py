"""Merges several datasets into one, and converts a dataset from one kind to another."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import ArgumentError, FileError, FormatError
from ..files import not_written
from ..progress import Report
from .blocks import columns
from .export import copy
from .journal import TOKENIZER
from .manifest import Manifest, ShardEntry, load, local
from .write import WRITERS, OutputFile, ShardFile

if TYPE_CHECKING:
    import pyarrow

_BLOCK = 1 << 22


def merge(
    folders: Sequence[str | os.PathLike[str]],
    out: str | os.PathLike[str],
    *,
    kind: str | None = None,
    link: bool = False,
    progress: Report | None = None,
) -> Manifest:
    """Merge the documents of several datasets, in the order given, into one dataset, and return its manifest.

    Shards are copied unchanged under new numbers, and their checksums are checked. With ``link`` they get a second name
    instead of a copy; this needs the same file system and checks nothing. With another ``kind`` they are checked and
    rewritten, which is how one dataset is converted to another kind. The new folder appears completely or not at all.

    Raises `ArgumentError` if the datasets differ in tokenizer, dtype, kind or columns, if ``out`` already exists, and
    for URLs; `FileError` and `FormatError` for files that cannot be read or written, or are damaged.
    """
    target = local(out)
    inputs = [(root, load(root)) for root in map(local, folders)]
    _check(inputs, target, kind, link)
    draft = target.with_name(f".{target.name}.{secrets.token_hex(4)}")
    try:
        draft.mkdir()
        merged = _merged(inputs, draft, kind or inputs[0][1].kind, link, progress)
        os.replace(draft, target)
    except BaseException as error:
        shutil.rmtree(draft, ignore_errors=True)
        if isinstance(error, OSError) and not isinstance(error, FileError):
            raise not_written(error, Path(error.filename or target)) from error
        raise
    return merged


def _merged(
    inputs: Sequence[tuple[Path, Manifest]], out: Path, kind: str, link: bool, progress: Report | None
) -> Manifest:
    """Fill a new folder; the manifest is written last."""
    folder, first = inputs[0]
    merged = replace(
        first,
        kind=kind,
        dtype=_dtype(first, kind),
        options=_options([manifest for _, manifest in inputs]),
        sources=tuple(source for _, manifest in inputs for source in manifest.sources),
        shards=tuple(_shards(inputs, out, kind, link, progress)),
    )
    shutil.copyfile(folder / TOKENIZER, out / TOKENIZER)
    merged.save(out)
    return merged


def _check(inputs: Sequence[tuple[Path, Manifest]], out: Path, kind: str | None, link: bool) -> None:
    if not inputs:
        raise ArgumentError("nothing to merge: name a dataset")
    if out.exists() or not out.parent.is_dir():
        raise ArgumentError(f"{out} is there already, or is in no folder: name a new folder in one that there is")
    if kind is not None and kind not in WRITERS:
        raise ArgumentError(f"kind={kind!r} is none of {', '.join(WRITERS)}")
    _check_alike(inputs, kind or inputs[0][1].kind)
    expected = inputs[0][1]
    if link and kind not in (None, expected.kind):
        raise ArgumentError(f"shards of {expected.kind} become {kind} by being written anew: leave link out")


def _check_alike(inputs: Sequence[tuple[Path, Manifest]], kind: str) -> None:
    (one, expected), *rest = inputs
    for other, manifest in rest:
        for what, here, there in (
            ("tokenizers", expected.tokenizer, manifest.tokenizer),
            ("dtypes", expected.dtype, manifest.dtype),
            ("kinds", expected.kind, manifest.kind),
        ):
            if here != there:
                raise ArgumentError(f"{one} and {other} are of two {what}: {here} and {there}")
    # A dataset without a shard has no columns and is compatible with all.
    filled = [(folder, columns(folder, manifest)) for folder, manifest in inputs if manifest.shards]
    for folder, found in filled if WRITERS[kind].takes_columns else ():
        if found != filled[0][1]:
            shown = " and ".join(_shown(schema) for schema in (filled[0][1], found))
            raise ArgumentError(f"{filled[0][0]} and {folder} have other columns: {shown}")


def _shown(schema: pyarrow.Schema | None) -> str:
    return ", ".join(f"{field.name}: {field.type}" for field in schema or ()) or "none"


def _dtype(manifest: Manifest, kind: str) -> str:
    if kind == manifest.kind:
        return manifest.dtype
    name: str = WRITERS[kind].stored(manifest.unsigned).name
    return name


def _options(manifests: Sequence[Manifest]) -> Mapping[str, Any]:
    """The options of the inputs if they are all the same, else the options of each input."""
    first, *rest = (manifest.options for manifest in manifests)
    return first if all(options == first for options in rest) else {"merged": [first, *rest]}


def _shards(
    inputs: Sequence[tuple[Path, Manifest]], out: Path, kind: str, link: bool, progress: Report | None
) -> Iterator[ShardEntry]:
    pieces = [(folder, manifest, shard) for folder, manifest in inputs for shard in manifest.shards]
    for number, (folder, manifest, shard) in enumerate(pieces):
        if progress is not None:
            progress("merging shards", number, len(pieces))
        alone = replace(manifest, shards=(shard,))
        stem = f"{number:05d}"
        if kind != manifest.kind:
            files = _rewritten(folder, alone, out, kind, stem)
        else:
            names = [f"{stem}{suffix}" for suffix in WRITERS[kind].suffixes]
            copied = _linked if link else _copied
            files = tuple(copied(folder, file, out / name) for file, name in zip(shard.files, names, strict=True))
        yield replace(shard, stem=stem, files=files)


def _rewritten(folder: Path, manifest: Manifest, out: Path, kind: str, stem: str) -> tuple[ShardFile, ...]:
    writer = WRITERS[kind]
    taken = columns(folder, manifest) if writer.takes_columns else None
    with writer(out, stem, np.dtype(_dtype(manifest, kind)), taken) as file:
        copy(folder, manifest, file, None)
        return file.finish()


def _linked(folder: Path, file: ShardFile, target: Path) -> ShardFile:
    os.link(folder / file.name, target)
    return file._replace(name=target.name)


def _copied(folder: Path, file: ShardFile, target: Path) -> ShardFile:
    out = OutputFile(target)
    try:
        with open(folder / file.name, "rb") as source:
            while block := source.read(_BLOCK):
                out.write(block)
        copied = out.finish()
        if copied != file._replace(name=target.name):
            raise FormatError(f"{folder / file.name}: not as the manifest has it: polytok corpus verify tells more")
        out.keep()
    except BaseException:
        out.discard()
        raise
    return copied
