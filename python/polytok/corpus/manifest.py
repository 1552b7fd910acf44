"""The manifest of a dataset folder: its shards, their checksums, and the tokenizer that produced them.

``dataset.json`` is written last, so a folder that has one is complete. It holds no time and no path, so the same job
gives the same bytes. A manifest can come from anyone, so reading checks every field, rejects names that lead out of the
folder, and compares the sums.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import ArgumentError, FileError, FormatError
from ..files import replacing
from .journal import MANIFEST
from .write import WRITERS, ShardFile

VERSION = 1

_LARGEST = 1 << 30
_MOST = 2**63 - 1


@dataclass(frozen=True)
class TokenizerName:
    """The tokenizer that produced the ids: its fingerprint (see `polytok.fingerprint`), its name and its size."""

    fingerprint: str
    name: str
    vocab_size: int


@dataclass(frozen=True)
class Counted:
    """What happened to the texts: the documents and tokens written, and the bytes of their texts.

    ``skipped`` counts the documents that were skipped, ``changed`` those that were written changed, both by reason.
    """

    documents: int = 0
    tokens: int = 0
    text_bytes: int = 0
    skipped: Mapping[str, int] = field(default_factory=dict)
    changed: Mapping[str, int] = field(default_factory=dict)

    def plus(self, other: Counted) -> Counted:
        """The sums."""
        return Counted(
            self.documents + other.documents,
            self.tokens + other.tokens,
            self.text_bytes + other.text_bytes,
            _sums(self.skipped, other.skipped),
            _sums(self.changed, other.changed),
        )


@dataclass(frozen=True)
class ShardEntry(Counted):
    """A shard: ``stem`` is its name without the suffixes of its files."""

    stem: str = ""
    files: tuple[ShardFile, ...] = ()


@dataclass(frozen=True)
class SourceEntry(Counted):
    """An input, and what happened to its documents."""

    name: str = ""
    bytes: int = 0


@dataclass(frozen=True)
class Manifest:
    """A dataset: ``kind`` names the writer of its shards, ``dtype`` is that of the ids in them.

    ``options`` are those of the job, as a JSON value. The totals are the sums over the shards.
    """

    kind: str
    dtype: str
    tokenizer: TokenizerName
    options: Mapping[str, Any]
    sources: tuple[SourceEntry, ...]
    shards: tuple[ShardEntry, ...]

    @property
    def unsigned(self) -> np.dtype[Any]:
        """The dtype of ids for outputs with a choice: int32 is only for Megatron's files, which have no uint32."""
        return np.dtype("uint32" if self.dtype == "int32" else self.dtype)

    @property
    def totals(self) -> Counted:
        """The sums over all shards."""
        return total(self.shards)

    def data(self) -> bytes:
        """The bytes of ``dataset.json``."""
        plain = {"version": VERSION, **asdict(self), "totals": asdict(self.totals)}
        for shard in plain["shards"]:
            shard["files"] = [dict(zip(ShardFile._fields, file, strict=True)) for file in shard["files"]]
        return json.dumps(plain, indent=1, sort_keys=True).encode() + b"\n"

    def save(self, folder: Path) -> None:
        """Write ``dataset.json``, completely or not at all. Raises `FileError`."""
        with replacing(folder / MANIFEST) as file:
            file.write(self.data())


def _sums(one: Mapping[str, int], other: Mapping[str, int]) -> dict[str, int]:
    return {name: one.get(name, 0) + other.get(name, 0) for name in sorted({*one, *other})}


def total(counted: Iterable[Counted]) -> Counted:
    """The sums."""
    found = Counted()
    for each in counted:
        found = found.plus(each)
    return found


def local(place: str | os.PathLike[str]) -> Path:
    """A folder or file of this machine. Raises `ArgumentError` for a URL, which would give a wrong path.

    >>> local("file:///data/tokens").as_posix()
    '/data/tokens'
    """
    name = os.fspath(place).removeprefix("file://")
    if "://" in name:
        raise ArgumentError(f"{name} is a URL, and datasets are read and written as files: copy it here, or mount it")
    return Path(name)


def load(folder: Path) -> Manifest:
    """Read ``dataset.json``.

    Raises `FileError` if the folder has none, and `FormatError` if it is damaged or of a later version.
    """
    path = folder / MANIFEST
    try:
        if path.stat().st_size > _LARGEST:
            raise FormatError(f"{path}: larger than {_LARGEST} bytes, which no manifest is")
        data = path.read_bytes()
    except OSError as error:
        what = "no finished dataset" if isinstance(error, FileNotFoundError) else "cannot read the manifest"
        raise FileError(error.errno, f"{what}: {error.strerror}", str(path)) from error
    try:
        return _manifest(_Fields(json.loads(data), "the manifest"))
    except FormatError as error:
        raise FormatError(f"{path}: {error}") from error
    except (ValueError, RecursionError) as error:
        raise FormatError(f"{path}: not JSON: {error}") from error


class _Fields:
    """A JSON object whose fields are read and checked one by one; error messages name the wrong field."""

    def __init__(self, value: object, where: str) -> None:
        if not isinstance(value, dict):
            raise FormatError(f"{where} is no object")
        self._value: dict[str, Any] = value
        self._where = where

    def _take(self, name: str, type_: type, article: str) -> Any:
        found = self._value.get(name)
        if type(found) is not type_:
            raise FormatError(f"{name!r} of {self._where} is not {article}, but {found!r:.40}")
        return found

    def text(self, name: str) -> str:
        """A string."""
        found: str = self._take(name, str, "a string")
        return found

    def count(self, name: str) -> int:
        """A number that can count something."""
        found: int = self._take(name, int, "a whole number")
        if not 0 <= found <= _MOST:
            raise FormatError(f"{name!r} of {self._where} is {found}, which counts nothing")
        return found

    def mapping(self, name: str) -> dict[str, Any]:
        """An object, unchanged."""
        found: dict[str, Any] = self._take(name, dict, "an object")
        return found

    def object(self, name: str) -> _Fields:
        """An object to read fields from."""
        return _Fields(self.mapping(name), f"{name!r} of {self._where}")

    def list(self, name: str) -> list[_Fields]:
        """Objects to read fields from."""
        found = self._take(name, list, "a list")
        return [_Fields(value, f"{name}[{number}]") for number, value in enumerate(found)]

    def counts(self, name: str) -> dict[str, int]:
        """An object of numbers."""
        inner = self.object(name)
        return {key: inner.count(key) for key in inner._value}

    def file_name(self, name: str) -> str:
        """The name of a file in the folder; a name that leads elsewhere is rejected."""
        found = self.text(name)
        if not found or found[0] == "." or any(char in found for char in "/\\:\0"):
            raise FormatError(f"{name!r} of {self._where} is {found!r:.60}, which is no name of a file in the folder")
        return found


def _manifest(read: _Fields) -> Manifest:
    version = read.count("version")
    if version != VERSION:
        raise FormatError(f"version {version}; this polytok reads version {VERSION}: a newer one is needed")
    kind, dtype, name = read.text("kind"), read.text("dtype"), read.object("tokenizer")
    if kind not in WRITERS:
        raise FormatError(f"the kind {kind!r:.40} is not known: there are {', '.join(WRITERS)}")
    if dtype not in WRITERS[kind].dtypes:
        raise FormatError(f"{kind} has no ids of {dtype!r:.40}")
    manifest = Manifest(
        kind,
        dtype,
        TokenizerName(name.text("fingerprint"), name.text("name"), name.count("vocab_size")),
        read.mapping("options"),
        tuple(map(_source, read.list("sources"))),
        tuple(_shard(one, kind) for one in read.list("shards")),
    )
    _check_sums(manifest, read.object("totals"))
    return manifest


def _counted(read: _Fields) -> dict[str, Any]:
    counts = {name: read.count(name) for name in ("documents", "tokens", "text_bytes")}
    return {**counts, "skipped": read.counts("skipped"), "changed": read.counts("changed")}


def _source(read: _Fields) -> SourceEntry:
    return SourceEntry(**_counted(read), name=read.text("name"), bytes=read.count("bytes"))


def _shard(read: _Fields, kind: str) -> ShardEntry:
    stem = read.file_name("stem")
    files = tuple(
        ShardFile(file.file_name("name"), file.count("bytes"), file.text("checksum")) for file in read.list("files")
    )
    expected = [f"{stem}{suffix}" for suffix in WRITERS[kind].suffixes]
    if [file.name for file in files] != expected:
        raise FormatError(f"the files of shard {stem} are not {' and '.join(expected)}")
    return ShardEntry(**_counted(read), stem=stem, files=files)


def _check_sums(manifest: Manifest, read: _Fields) -> None:
    if (said := Counted(**_counted(read))) != (summed := manifest.totals):
        raise FormatError(f"the totals are {said}, but the shards have {summed}")
    stems = [shard.stem for shard in manifest.shards]
    if len(set(stems)) != len(stems):
        raise FormatError("two shards have the same name")
