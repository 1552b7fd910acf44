"""Merges several datasets into one, and converts a dataset to another format."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..checked import checked
from ..checks import iterable, one_of
from ..errors import ArgumentError, FileError, FormatError
from ..files import created_folder, write_error
from ..keywords import keyword
from ..progress import ReportProgress, progress_function
from .blocks import columns
from .export import copy_documents
from .journal import TOKENIZER_NAME
from .manifest import Manifest, ShardEntry, check_same_tokenizer, load, local_path
from .options import Output
from .write import WRITERS, OutputFile, ShardFile

if TYPE_CHECKING:
    from ..arrow import pyarrow

_COPY_BYTES = 1 << 22


@checked(datasets=lambda name, value: iterable(name, value, "folders"))
def merge(
    datasets: Sequence[str | os.PathLike[str]],
    out: str | os.PathLike[str],
    *,
    to: Output | None = None,
    link: bool = False,
    progress: bool | ReportProgress = False,
) -> Manifest:
    """Merges several datasets in the given order to one dataset in the new folder ``out``, and returns its manifest.

    Shards are copied under new numbers, and their checksums are checked. With ``link``, shards are hard-linked instead
    of copied; all folders must be on the same file system, and checksums are not checked. If ``to`` differs from the
    format of the datasets, the shards are checked and rewritten; so merging a single dataset converts it to another
    format. The new folder appears completely or not at all. ``progress`` is True for a bar on standard error, or a
    function that is called with the stage, the number of merged shards, and the number of all shards.

    Raises `ArgumentError` if the datasets differ in tokenizer, dtype, format or columns, if ``out`` already exists, and
    for URLs; `FileError` if a file cannot be read or written; and `FormatError` if a shard is damaged.
    """
    target = local_path(out)
    inputs = [(root, load(root)) for root in map(local_path, datasets)]
    _check_arguments(inputs, target, to, link)
    with (
        created_folder(target.parent),
        _draft_folder(target) as draft_folder,
        progress_function(progress) as report_progress,
    ):
        return _fill_folder(inputs, draft_folder, to or inputs[0][1].kind, link, report_progress)


@contextmanager
def _draft_folder(target: Path) -> Iterator[Path]:
    """Yields a new folder, which is renamed to ``target`` at the end, and removed on any error."""
    draft_folder = target.with_name(f".{target.name}.{secrets.token_hex(4)}")
    try:
        draft_folder.mkdir()
        yield draft_folder
        os.replace(draft_folder, target)
    except BaseException as error:
        shutil.rmtree(draft_folder, ignore_errors=True)
        if isinstance(error, OSError) and not isinstance(error, FileError):
            raise write_error(error, Path(error.filename or target)) from error
        raise


def _fill_folder(
    inputs: Sequence[tuple[Path, Manifest]], out: Path, kind: str, link: bool, progress: ReportProgress | None
) -> Manifest:
    """Writes all files of the merged dataset to the folder ``out``, the manifest last. Returns the manifest."""
    folder, first_manifest = inputs[0]
    merged_manifest = replace(
        first_manifest,
        kind=kind,
        dtype=_merged_dtype(first_manifest, kind),
        options=_merged_options([manifest for _, manifest in inputs]),
        sources=tuple(source for _, manifest in inputs for source in manifest.sources),
        shards=tuple(_write_shards(inputs, out, kind, link, progress)),
    )
    shutil.copyfile(folder / TOKENIZER_NAME, out / TOKENIZER_NAME)
    merged_manifest.save(out)
    return merged_manifest


def _check_arguments(inputs: Sequence[tuple[Path, Manifest]], out: Path, to: str | None, link: bool) -> None:
    if not inputs:
        raise ArgumentError("no datasets to merge: name at least one")
    if out.exists():
        raise ArgumentError(f"{out} exists already: name a new folder")
    one_of("to", to, (*WRITERS, None))
    _check_compatible(inputs, to or inputs[0][1].kind)
    expected = inputs[0][1]
    if link and to not in (None, expected.kind):
        raise ArgumentError(f"{keyword('link', True)} cannot convert {expected.kind} shards to {to}: remove link or to")


def _check_compatible(inputs: Sequence[tuple[Path, Manifest]], kind: str) -> None:
    (first_folder, expected), *other_inputs = inputs
    for folder, manifest in other_inputs:
        check_same_tokenizer(first_folder, expected.tokenizer, folder, manifest.tokenizer)
        if expected.documents != manifest.documents:
            with_table, without_table = (first_folder, folder) if expected.documents else (folder, first_folder)
            raise ArgumentError(
                f"{with_table} has a documents table, but {without_table} has none: tokenize the inputs of one of them "
                f"again, with or without {keyword('documents', True)}"
            )
        for property_name, first_value, value in (
            ("dtypes", expected.dtype, manifest.dtype),
            ("formats", expected.kind, manifest.kind),
        ):
            if first_value != value:
                raise ArgumentError(
                    f"{first_folder} and {folder} have different {property_name}: {first_value} and {value}"
                )
    # A dataset without shards has no columns and is compatible with all datasets.
    schemas = [(folder, columns(folder, manifest)) for folder, manifest in inputs if manifest.shards]
    for folder, schema in schemas if WRITERS[kind].can_hold_columns or expected.documents else ():
        if schema != schemas[0][1]:
            column_lists = " and ".join(_column_names_text(schema) for schema in (schemas[0][1], schema))
            raise ArgumentError(f"{schemas[0][0]} and {folder} have different columns: {column_lists}")


def _column_names_text(schema: pyarrow.Schema | None) -> str:
    return ", ".join(f"{field.name}: {field.type}" for field in schema or ()) or "none"


def _merged_dtype(manifest: Manifest, kind: str) -> str:
    if kind == manifest.kind:
        return manifest.dtype
    name: str = WRITERS[kind].stored_dtype(manifest.unsigned).name
    return name


def _merged_options(manifests: Sequence[Manifest]) -> Mapping[str, Any]:
    """Returns the options of the datasets if they are all equal, else a list of all options."""
    first_options, *other_options = (manifest.options for manifest in manifests)
    return (
        first_options
        if all(options == first_options for options in other_options)
        else {"merged": [first_options, *other_options]}
    )


def _write_shards(
    inputs: Sequence[tuple[Path, Manifest]], out: Path, kind: str, link: bool, progress: ReportProgress | None
) -> Iterator[ShardEntry]:
    for number, (folder, manifest, shard) in enumerate(all_shards := _renumber_sources(inputs)):
        if progress is not None:
            progress("merging shards", number, len(all_shards))
        shard_manifest = replace(manifest, shards=(shard,))
        stem = f"{number:05d}"
        if kind != manifest.kind:
            files = _convert_shard(folder, shard_manifest, out, kind, stem)
        else:
            names = [f"{stem}{suffix}" for suffix in WRITERS[kind].file_suffixes(manifest.documents)]
            transfer_file = _link_file if link else _copy_file
            files = tuple(
                transfer_file(folder, file, out / name) for file, name in zip(shard.files, names, strict=True)
            )
        yield replace(shard, stem=stem, files=files)


def _renumber_sources(inputs: Sequence[tuple[Path, Manifest]]) -> list[tuple[Path, Manifest, ShardEntry]]:
    """Returns the shards of all datasets, with the indices that their inputs have in the merged manifest."""
    shards, first_source = [], 0
    for folder, manifest in inputs:
        for shard in manifest.shards:
            sources = tuple(source._replace(source=first_source + source.source) for source in shard.sources)
            shards.append((folder, manifest, replace(shard, sources=sources)))
        first_source += len(manifest.sources)
    return shards


def _convert_shard(folder: Path, manifest: Manifest, out: Path, kind: str, stem: str) -> tuple[ShardFile, ...]:
    writer = WRITERS[kind]
    schema = columns(folder, manifest) if writer.can_hold_columns or manifest.documents else None
    dtype = np.dtype(_merged_dtype(manifest, kind))
    with writer(out, stem, dtype, schema, has_documents_table=manifest.documents) as file:
        copy_documents(folder, manifest, file, None)
        return file.finish()


def _link_file(folder: Path, file: ShardFile, target: Path) -> ShardFile:
    os.link(folder / file.name, target)
    return file._replace(name=target.name)


def _copy_file(folder: Path, file: ShardFile, target: Path) -> ShardFile:
    out = OutputFile(target)
    try:
        with open(folder / file.name, "rb") as source:
            while block := source.read(_COPY_BYTES):
                out.write(block)
        copied_file = out.finish()
        if copied_file != file._replace(name=target.name):
            raise FormatError(
                f"{folder / file.name}: the file differs from the manifest; polytok corpus verify lists all damage"
            )
        out.keep()
    except BaseException:
        out.discard()
        raise
    return copied_file
