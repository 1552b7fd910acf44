"""The manifest of a dataset folder: the shards with their checksums, the inputs, and the tokenizer of the ids.

``dataset.json`` is written last, so a folder with this file is complete. The file holds no times and no local paths of
the output, so the same job writes the same bytes. A manifest can come from an untrusted source, so the reader checks
every field, rejects file names that lead out of the folder, and compares the totals with the sums over the shards.
"""

from __future__ import annotations

import hashlib
import json
import os
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..errors import ArgumentError, FileError, FormatError
from ..files import open_replacement
from .journal import MANIFEST_NAME, PLAN_NAME
from .write import WRITERS, ShardFile

_MANIFEST_VERSION = 1

MAX_MANIFEST_BYTES = 1 << 30
_MAX_COUNT = 2**63 - 1


@dataclass(frozen=True)
class TokenizerIdentity:
    """The fingerprint, name and vocabulary size of the tokenizer of the ids; see `polytok.fingerprint`.

    The fingerprint alone decides whether two tokenizers are the same. The name is information for people.
    """

    fingerprint: str
    name: str
    vocab_size: int

    def __str__(self) -> str:
        return f"{self.name} ({self.vocab_size:,} ids, fingerprint {self.fingerprint})"


def check_same_tokenizer(
    first_folder: Path, first: TokenizerIdentity, other_folder: Path, other: TokenizerIdentity
) -> None:
    """Raises `ArgumentError` if the ids of two datasets have different tokenizers."""
    if first.fingerprint != other.fingerprint:
        raise ArgumentError(
            f"{first_folder} and {other_folder} have different tokenizers, so an id means another text in each: "
            f"{first}, and {other}. Tokenize the inputs of one of them again with the tokenizer.ptok in the folder of "
            "the other"
        )


@dataclass(frozen=True)
class DocumentCounts:
    """The counts of the written documents, of the tokens in the documents, and of the bytes of the texts.

    ``skipped`` maps reasons to the number of documents that were skipped for that reason. ``changed`` maps reasons to
    the number of documents whose text was changed before it was written. ``damaged`` is the number of places where
    inputs are damaged.
    """

    documents: int = 0
    tokens: int = 0
    text_bytes: int = 0
    skipped: Mapping[str, int] = field(default_factory=dict)
    changed: Mapping[str, int] = field(default_factory=dict)
    damaged: int = 0

    def plus(self, other: DocumentCounts) -> DocumentCounts:
        """Adds the counts in ``other`` to these counts, field by field, and returns the sums."""
        return DocumentCounts(
            self.documents + other.documents,
            self.tokens + other.tokens,
            self.text_bytes + other.text_bytes,
            _add_counts(self.skipped, other.skipped),
            _add_counts(self.changed, other.changed),
            self.damaged + other.damaged,
        )


class ShardSource(NamedTuple):
    """The index of an input in the manifest, and the number of its documents in a shard."""

    source: int
    documents: int


class WindowShuffle(NamedTuple):
    """The values that determine the order of documents in a shard that was shuffled in windows; see shuffle.py."""

    window: int
    seed: int
    task: int


@dataclass(frozen=True)
class ShardEntry(DocumentCounts):
    """A shard: the counts of its documents, and its files. ``stem`` is the name of the files without their suffixes.

    ``sources`` lists the inputs of the documents in the order before the shuffle; it is empty if the manifest does not
    say which documents come from which input. ``shuffle`` is None if the documents were not shuffled in windows.
    """

    stem: str = ""
    files: tuple[ShardFile, ...] = ()
    sources: tuple[ShardSource, ...] = ()
    shuffle: WindowShuffle | None = None


@dataclass(frozen=True)
class SourceEntry(DocumentCounts):
    """An input: the counts of its documents, its name, and its size on the disk in bytes."""

    name: str = ""
    bytes: int = 0


@dataclass(frozen=True)
class Manifest:
    """The description of a dataset.

    ``kind`` names the format of the shards, ``dtype`` the dtype of the ids in them. ``options`` has the options of the
    job as a JSON value. ``documents`` is true if the dataset has a documents table; see origin.py.
    """

    kind: str
    dtype: str
    tokenizer: TokenizerIdentity
    options: Mapping[str, Any]
    sources: tuple[SourceEntry, ...]
    shards: tuple[ShardEntry, ...]
    documents: bool = False

    @property
    def unsigned(self) -> np.dtype[Any]:
        """The unsigned dtype for the ids: uint32 replaces int32, which only Megatron's format needs."""
        return np.dtype("uint32" if self.dtype == "int32" else self.dtype)

    @property
    def totals(self) -> DocumentCounts:
        """The sums of the counts of all shards."""
        return total(self.shards)

    def data(self) -> bytes:
        """Returns the content of ``dataset.json``."""
        value = {"version": _MANIFEST_VERSION, **asdict(self), "totals": asdict(self.totals)}
        for shard in value["shards"]:
            for name in ("files", "sources"):
                shard[name] = [item._asdict() for item in shard[name]]
            shard["shuffle"] = shard["shuffle"] and shard["shuffle"]._asdict()
        return json.dumps(value, indent=1, sort_keys=True).encode() + b"\n"

    def save(self, folder: Path) -> None:
        """Writes ``dataset.json`` completely or not at all. Raises `FileError` if it cannot be written."""
        with open_replacement(folder / MANIFEST_NAME) as file:
            file.write(self.data())


def _add_counts(counts: Mapping[str, int], other_counts: Mapping[str, int]) -> dict[str, int]:
    return {name: counts.get(name, 0) + other_counts.get(name, 0) for name in sorted({*counts, *other_counts})}


def total(all_counts: Iterable[DocumentCounts]) -> DocumentCounts:
    """Adds up counts, field by field."""
    sums = DocumentCounts()
    for counts in all_counts:
        sums = sums.plus(counts)
    return sums


def local_path(location: str | os.PathLike[str]) -> Path:
    """Returns the path of a local folder or file. Raises `ArgumentError` for a URL other than ``file://``.

    >>> local_path("file:///data/tokens").as_posix()
    '/data/tokens'
    """
    name = os.fspath(location).removeprefix("file://")
    if "://" in name:
        raise ArgumentError(
            f"{name} is a URL, but datasets are local files: copy the dataset to this machine, or mount its folder"
        )
    return Path(name)


def manifest_hash(folder: Path) -> str:
    """Returns a hash of the manifest in ``folder``, which changes if any file of the dataset changes."""
    return hashlib.sha256(load(folder).data()).hexdigest()


def load(folder: Path) -> Manifest:
    """Reads ``dataset.json`` in ``folder``.

    Raises `FileError` if the file is missing, and `FormatError` if it is damaged or of a later version.
    """
    path = folder / MANIFEST_NAME
    try:
        if path.stat().st_size > MAX_MANIFEST_BYTES:
            raise FormatError(
                f"{path}: the file is too large for a manifest, which has at most {MAX_MANIFEST_BYTES} bytes"
            )
        data = path.read_bytes()
    except FileNotFoundError as error:
        raise FileError(error.errno, _missing_manifest_text(folder), str(folder)) from error
    except OSError as error:
        raise FileError(error.errno, f"cannot read the manifest: {error.strerror}", str(path)) from error
    try:
        return _parse_manifest(_CheckedFields(json.loads(data), "the manifest"))
    except FormatError as error:
        raise FormatError(f"{path}: {error}") from error
    except (ValueError, RecursionError) as error:
        raise FormatError(f"{path}: not JSON: {error}") from error


def _missing_manifest_text(folder: Path) -> str:
    if (folder / PLAN_NAME).exists():
        return (
            "the job in this folder is not finished, so it has no dataset yet: run the command that began the job "
            "again to continue it; this command and how much is done are shown by `polytok corpus info "
            f"{shlex.quote(str(folder))}`"
        )
    if folder.is_dir():
        return (
            f"this folder is not a dataset, because it has no {MANIFEST_NAME}: name a folder that tokenize has written"
        )
    return "this folder does not exist: name a folder that tokenize has written"


class _CheckedFields:
    """A JSON object whose fields are checked when they are read; error messages name the wrong field."""

    def __init__(self, value: object, place: str) -> None:
        if not isinstance(value, dict):
            raise FormatError(f"{place} is not an object")
        self._value: dict[str, Any] = value
        self._where = place

    def _field(self, name: str, expected_type: type, type_name: str) -> Any:
        value = self._value.get(name)
        if type(value) is not expected_type:
            raise FormatError(f"{name!r} of {self._where} is not {type_name}, but {value!r:.40}")
        return value

    def text(self, name: str) -> str:
        """Returns a field that is a string."""
        value: str = self._field(name, str, "a string")
        return value

    def count(self, name: str, most: int = _MAX_COUNT) -> int:
        """Returns a field that is a whole number from 0 to ``most``."""
        value: int = self._field(name, int, "a whole number")
        if not 0 <= value <= most:
            raise FormatError(f"{name!r} of {self._where} is {value}, which is not from 0 to {most}")
        return value

    def flag(self, name: str) -> bool:
        """Returns a field that is true or false."""
        value: bool = self._field(name, bool, "true or false")
        return value

    def mapping(self, name: str) -> dict[str, Any]:
        """Returns a field that is an object, as a dict whose values are not checked."""
        value: dict[str, Any] = self._field(name, dict, "an object")
        return value

    def object(self, name: str) -> _CheckedFields:
        """Returns a field that is an object, as `_CheckedFields`."""
        return _CheckedFields(self.mapping(name), f"{name!r} of {self._where}")

    def has(self, name: str) -> bool:
        """Reports whether the object has a field."""
        return name in self._value

    def optional_object(self, name: str) -> _CheckedFields | None:
        """Returns a field that is an object or null."""
        return None if self._value.get(name) is None else self.object(name)

    def list(self, name: str) -> list[_CheckedFields]:
        """Returns a field that is a list of objects, as a list of `_CheckedFields`."""
        values = self._field(name, list, "a list")
        return [_CheckedFields(value, f"{name}[{number}]") for number, value in enumerate(values)]

    def counts(self, name: str) -> dict[str, int]:
        """Returns a field that is an object of whole numbers."""
        fields = self.object(name)
        return {key: fields.count(key) for key in fields._value}

    def file_name(self, name: str) -> str:
        """Returns a field that is the name of a file in the folder; rejects hidden files and paths elsewhere."""
        value = self.text(name)
        if not value or value[0] == "." or any(char in value for char in "/\\:\0"):
            raise FormatError(
                f"{name!r} of {self._where} is {value!r:.60}, which is not the name of a file in the folder"
            )
        return value


def _parse_manifest(fields: _CheckedFields) -> Manifest:
    version = fields.count("version")
    if version != _MANIFEST_VERSION:
        raise FormatError(
            f"the manifest has version {version}, but this polytok reads version {_MANIFEST_VERSION}: update polytok"
        )
    kind, dtype, name = fields.text("kind"), fields.text("dtype"), fields.object("tokenizer")
    if kind not in WRITERS:
        raise FormatError(f"unknown kind {kind!r:.40}: the kinds are {', '.join(WRITERS)}")
    if dtype not in WRITERS[kind].dtypes:
        raise FormatError(f"{kind} cannot hold ids of type {dtype!r:.40}")
    documents = fields.has("documents") and fields.flag("documents")
    manifest = Manifest(
        kind,
        dtype,
        TokenizerIdentity(name.text("fingerprint"), name.text("name"), name.count("vocab_size")),
        fields.mapping("options"),
        tuple(map(_parse_source, fields.list("sources"))),
        tuple(_parse_shard(shard, WRITERS[kind].file_suffixes(documents)) for shard in fields.list("shards")),
        documents,
    )
    _check_totals(manifest, fields.object("totals"))
    _check_sources(manifest)
    return manifest


def _parse_counts(fields: _CheckedFields) -> dict[str, Any]:
    counts = {name: fields.count(name) for name in ("documents", "tokens", "text_bytes")}
    # Manifests of earlier builds do not have this field.
    counts["damaged"] = fields.count("damaged") if fields.has("damaged") else 0
    return {**counts, "skipped": fields.counts("skipped"), "changed": fields.counts("changed")}


def _parse_source(fields: _CheckedFields) -> SourceEntry:
    return SourceEntry(**_parse_counts(fields), name=fields.text("name"), bytes=fields.count("bytes"))


def _parse_shard(fields: _CheckedFields, suffixes: Sequence[str]) -> ShardEntry:
    stem = fields.file_name("stem")
    files = tuple(
        ShardFile(file.file_name("name"), file.count("bytes"), file.text("checksum")) for file in fields.list("files")
    )
    expected = [f"{stem}{suffix}" for suffix in suffixes]
    if [file.name for file in files] != expected:
        raise FormatError(f"the files of shard {stem} are not {' and '.join(expected)}")
    # Manifests of earlier builds do not have this list.
    items = fields.list("sources") if fields.has("sources") else []
    sources = tuple(ShardSource(item.count("source"), item.count("documents")) for item in items)
    shuffle = fields.optional_object("shuffle")
    return ShardEntry(
        **_parse_counts(fields),
        stem=stem,
        files=files,
        sources=sources,
        shuffle=None if shuffle is None else _parse_shuffle(shuffle),
    )


def _parse_shuffle(fields: _CheckedFields) -> WindowShuffle:
    shuffle = WindowShuffle(fields.count("window"), fields.count("seed", 2**64 - 1), fields.count("task"))
    if shuffle.window < 1:
        raise FormatError("a shuffle has windows of 0 documents")
    return shuffle


def _check_sources(manifest: Manifest) -> None:
    """Checks that the lists of inputs of shards agree with the manifest."""
    for shard in manifest.shards:
        if any(source.source >= len(manifest.sources) for source in shard.sources):
            raise FormatError(f"shard {shard.stem} has an input that the manifest does not have")
        if shard.sources and sum(source.documents for source in shard.sources) != shard.documents:
            raise FormatError(f"the documents of the inputs of shard {shard.stem} do not add up")


def _check_totals(manifest: Manifest, fields: _CheckedFields) -> None:
    if (totals := DocumentCounts(**_parse_counts(fields))) != (sums := manifest.totals):
        raise FormatError(f"the totals are {totals}, but the sums over the shards are {sums}")
    stems = [shard.stem for shard in manifest.shards]
    if len(set(stems)) != len(stems):
        raise FormatError("two shards have the same name")
