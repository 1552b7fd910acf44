"""Reads vocabularies by name: tiktoken's, from their publisher, and ``hf:owner/name``, a repository of the hub.

This module uses the network only to load vocabularies with these names. The sha256 of each of tiktoken's files is
known: a file is checked before it is cached and when it is read from the cache, so that a broken or changed file is
never used. Files in the caches of the packages tiktoken and openai-harmony are found too, and checked in the same way.
huggingface_hub fetches and caches repositories by its own rules.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha1, sha256
from importlib import import_module
from pathlib import Path
from typing import Any

from . import formats
from .errors import ArgumentError, FetchError, FileError
from .extras import import_extra
from .files import open_replacement, open_without_waiting, system_path
from .formats import gpt2_pair
from .formats.base import Pattern, ReadOptions, SpecialTokens
from .formats.folder import VOCAB_AND_MERGES_FILES, WHOLE_TOKENIZER_FILES, read_folder
from .formats.tiktoken_known import GPT2, KNOWN
from .keywords import keyword, load_call
from .spec import SentencePieceVersion, Spec

HUB_FILES = (
    *(*WHOLE_TOKENIZER_FILES, *VOCAB_AND_MERGES_FILES, "*.tiktoken"),
    *("tokenizer_config.json", "special_tokens_map.json", "added_tokens.json", "config.json"),
    *("chat_template.jinja", "chat_template.json", "additional_chat_templates/*.jinja"),
)
"""The names of the files to fetch from a repository: only tokenizer files, no weights."""

_MAX_CACHED_BYTES = 2**26
_ENCODER_SHA256 = "196139668be63f3b5d6574427317ae82f612a97c5d1cdaf36ed2256dbf636783"
_HUB_NAME = re.compile(r"hf:(?P<repository>[^@]+)(?:@(?P<revision>.+))?")
_HUB_COPY_HINT = "use a copy of the repository's tokenizer files: " + load_call("/path/to/folder")


@dataclass(frozen=True, slots=True)
class PublishedFile:
    """A file on a publisher's server: its URL and its sha256."""

    address: str
    sha256: str

    @property
    def name(self) -> str:
        """The file's name in the cache: the start of its sha256, which makes it unique, and its published name."""
        return f"{self.sha256[:16]}-{self.address.rpartition('/')[2]}"

    @property
    def key(self) -> str:
        """The file's name in the caches of the packages tiktoken and openai-harmony: the sha1 of its address."""
        return sha1(self.address.encode()).hexdigest()


FILES: Mapping[str, tuple[PublishedFile, ...]] = {
    GPT2.name: (
        PublishedFile(GPT2.address or "", GPT2.sha256),
        PublishedFile((GPT2.address or "").replace(gpt2_pair.MERGES_FILE, gpt2_pair.ENCODER_FILE), _ENCODER_SHA256),
    ),
    **{
        known_file.name: (PublishedFile(known_file.address, known_file.sha256),)
        for known_file in KNOWN
        if known_file.address
    },
}
"""The files of each name; ``gpt2`` has two files."""


def is_name(source: str) -> bool:
    """Reports whether a source is a name and not a path. A path that equals a name must be written with ``./`` in
    front."""
    return source in FILES or source.startswith("hf:")


def read(
    name: str,
    *,
    pattern: Pattern | None = None,
    special_tokens: SpecialTokens | None = None,
    sentencepiece_version: SentencePieceVersion | None = None,
    cache_dir: str | os.PathLike[str] | None = None,
) -> Spec:
    """Loads the vocabulary of a name, from the cache or from its publisher."""
    if name.startswith("hf:"):
        folder = hub_folder(name, cache_dir)
        return read_folder(
            folder,
            name=name,
            pattern=pattern,
            special_tokens=special_tokens,
            sentencepiece_version=sentencepiece_version,
        )
    if sentencepiece_version is not None:
        raise ArgumentError(f"{keyword('sentencepiece_version=')} has no effect on {name}; leave it out")
    first_content, *other_contents = [read_or_fetch(file, name, cache_dir) for file in FILES[name]]
    if other_contents:
        return gpt2_pair.read(
            first_content, other_contents[0], ReadOptions(pattern=pattern, special_tokens=special_tokens)
        )
    return formats.read(first_content, format="tiktoken", pattern=pattern, special_tokens=special_tokens, name=name)


def cache_folder(cache_dir: str | os.PathLike[str] | None = None) -> Path:
    """Returns the cache folder: ``cache_dir``, else ``POLYTOK_CACHE_DIR``, else the system's folder for caches."""
    requested_folder = cache_dir or os.environ.get("POLYTOK_CACHE_DIR")
    if requested_folder:
        return Path(system_path(requested_folder, "use the folder of the cache"))
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "polytok"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / "polytok" / "Cache"
    cache_home = os.environ.get("XDG_CACHE_HOME", "")
    return (Path(cache_home) if os.path.isabs(cache_home) else Path.home() / ".cache") / "polytok"


# tiktoken's files


def read_or_fetch(file: PublishedFile, name: str, cache_dir: str | os.PathLike[str] | None) -> bytes:
    """Returns the file's bytes from a cache, or fetches and caches them."""
    for data in _kept_contents(file, cache_dir):
        return data
    data = _download(file, name)
    _store(cache_folder(cache_dir) / file.name, data)
    return data


def cached_paths(file: PublishedFile, cache_dir: str | os.PathLike[str] | None = None) -> list[Path]:
    """Returns the paths where a file is looked for, in order: polytok's cache, and then, unless ``cache_dir`` is given,
    the caches of the packages tiktoken and openai-harmony, which are only read.

    The folder TIKTOKEN_ENCODINGS_BASE of openai-harmony has plain names.
    """
    paths = [cache_folder(cache_dir) / file.name]
    if cache_dir is not None:
        return [*paths, Path(cache_dir) / file.key]
    folders = (tiktoken_folder(), _other_folder(os.environ.get("TIKTOKEN_RS_CACHE_DIR"), "tiktoken-rs-cache"))
    paths += [folder / file.key for folder in folders if folder is not None]
    if encodings_folder := os.environ.get("TIKTOKEN_ENCODINGS_BASE"):
        paths.append(Path(encodings_folder) / file.address.rpartition("/")[2])
    return paths


def tiktoken_folder() -> Path | None:
    """Returns the cache folder of the package tiktoken; None if an empty variable turns the cache off."""
    return _other_folder(os.environ.get("TIKTOKEN_CACHE_DIR", os.environ.get("DATA_GYM_CACHE_DIR")), "data-gym-cache")


def _other_folder(requested_folder: str | None, default_name: str) -> Path | None:
    from tempfile import gettempdir  # slow to import

    if requested_folder is None:
        return Path(gettempdir()) / default_name
    return Path(requested_folder) if requested_folder else None


def fetch_for_tiktoken(file: PublishedFile, name: str, folder: Path) -> bool:
    """Puts a file into a folder under the name that the package tiktoken gives it. Returns False if it exists."""
    path = folder / file.key
    if _is_content_of(file, _read_cached(path)):
        return False
    _store(path, next(_kept_contents(file), None) or _download(file, name))
    return True


def _kept_contents(file: PublishedFile, cache_dir: str | os.PathLike[str] | None = None) -> Iterator[bytes]:
    """Yields the right content of a file, from each cache that has it."""
    for path in cached_paths(file, cache_dir):
        data = _read_cached(path)
        if _is_content_of(file, data):
            yield data


def _is_content_of(file: PublishedFile, data: bytes) -> bool:
    return sha256(data).hexdigest() == file.sha256


def _read_cached(path: Path) -> bytes:
    """Returns the start of a file, which is the whole of every published file; empty if the file cannot be read.

    Some caches are in the system's folder for temporary files, where other users can put a pipe or a huge file.
    """
    try:
        with open(path, "rb", opener=open_without_waiting) as file:
            return file.read(_MAX_CACHED_BYTES) or b""
    except OSError:
        return b""


def _store(path: Path, data: bytes) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with open_replacement(path) as cache_file:
            cache_file.write(data)
    except OSError as error:
        message = (
            f"cannot cache the fetched file: {error.strerror}; set {keyword('cache_dir=')} or POLYTOK_CACHE_DIR to "
            "another folder"
        )
        raise FileError(error.errno, message, str(path)) from error


def _download(file: PublishedFile, name: str) -> bytes:
    from .fetch import fetch_content  # imported only here, because fetch.py imports urllib, which is slow

    try:
        data = fetch_content(file.address)
    except OSError as error:
        raise FetchError(
            f"{file.address} cannot be fetched: {str(error) or type(error).__name__}; {_copy_hint(name)}"
        ) from error
    digest = sha256(data).hexdigest()
    if digest != file.sha256:
        raise FetchError(
            f"the content fetched from {file.address} is not the file of {name!r} ({len(data)} bytes of sha256 "
            f"{digest}, "
            f"not {file.sha256}); it was not cached; try again, or {_copy_hint(name)}"
        )
    return data


def _copy_hint(name: str) -> str:
    options = {"name": name} if name in ("p50k_edit", "o200k_harmony") else {}
    return f"use a copy of the file: {load_call('/path/to/' + FILES[name][0].address.rpartition('/')[2], **options)}"


# The hub


def hub_folder(name: str, cache_dir: str | os.PathLike[str] | None = None) -> Path:
    """Returns a folder with a repository's tokenizer files, which huggingface_hub fetches or has in its cache."""
    match = _HUB_NAME.fullmatch(name)
    if match is None:
        raise ArgumentError(f"{name!r} is not hf:owner/name or hf:owner/name@revision")
    advice = f"; or {_HUB_COPY_HINT}"
    hub = import_extra("huggingface_hub", "hub", repr(name), error_class=FetchError, advice=advice)

    class SilentProgress(import_module("huggingface_hub.utils").tqdm):  # type: ignore[misc]
        """A progress bar that shows nothing, because a library does not print."""

        def __init__(self, *args: Any, **options: Any) -> None:
            super().__init__(*args, **{**options, "disable": True})

    try:
        folder = hub.snapshot_download(
            match["repository"],
            revision=match["revision"],
            cache_dir=None if cache_dir is None else Path(cache_dir),
            allow_patterns=list(HUB_FILES),
            tqdm_class=SilentProgress,
        )
    except import_module("huggingface_hub.errors").HFValidationError as error:
        raise ArgumentError(f"{name!r}: {error}") from error
    except Exception as error:  # the error types of the hub and of its HTTP client differ between versions
        raise FetchError(f"{name!r} cannot be fetched: {error}; {_HUB_COPY_HINT}") from error
    return Path(folder)
