"""Vocabularies by name: tiktoken's, from their publisher, and ``hf:owner/name``, a repository of the hub.

Only this module uses the network, and only if such a name is requested. The sha256 of each of tiktoken's files is
known: a file is checked before it is cached, and again when it is read from the cache, so that a broken or changed file
is never used. huggingface_hub fetches and caches repositories, by its own rules.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from . import formats
from .errors import ArgumentError, FetchError, FileError
from .files import replacing, system_path
from .formats import gpt2_pair
from .formats.base import ReadOptions
from .formats.folder import ONE_FILE, PAIR, read_folder
from .formats.tiktoken_known import GPT2, KNOWN
from .spec import Line, Spec

HUB_FILES = (
    *(*ONE_FILE, *PAIR, "*.tiktoken"),
    *("tokenizer_config.json", "special_tokens_map.json", "added_tokens.json", "config.json"),
)
"""The files to fetch from a repository: tokenizer files, no weights."""

_ENCODER_SHA256 = "196139668be63f3b5d6574427317ae82f612a97c5d1cdaf36ed2256dbf636783"
_HUB_NAME = re.compile(r"hf:(?P<repository>[^@]+)(?:@(?P<revision>.+))?")
_COPY = "with a copy of the repository's tokenizer files: polytok.load('/path/to/folder')"


@dataclass(frozen=True, slots=True)
class Published:
    """A file of a publisher."""

    address: str
    sha256: str

    @property
    def name(self) -> str:
        """Its name in the cache: its own name, and enough of its hash to distinguish files of the same name."""
        return f"{self.sha256[:16]}-{self.address.rpartition('/')[2]}"


FILES: Mapping[str, tuple[Published, ...]] = {
    GPT2.name: (
        Published(GPT2.address or "", GPT2.sha256),
        Published((GPT2.address or "").replace(gpt2_pair.MERGES, gpt2_pair.ENCODER), _ENCODER_SHA256),
    ),
    **{known.name: (Published(known.address, known.sha256),) for known in KNOWN if known.address},
}
"""The files of every name; ``gpt2`` has two."""


def is_name(source: str) -> bool:
    """Whether a source is a name, and not a path. A file with such a name is given as ``./`` and the name."""
    return source in FILES or source.startswith("hf:")


def read(
    name: str,
    *,
    pattern: str | None = None,
    special_tokens: Mapping[str, int] | None = None,
    line: Line | None = None,
    cache_dir: str | os.PathLike[str] | None = None,
) -> Spec:
    """Load the vocabulary of a name, from the cache or its publisher."""
    if name.startswith("hf:"):
        folder = hub_folder(name, cache_dir)
        return read_folder(folder, name=name, pattern=pattern, special_tokens=special_tokens, line=line)
    if line is not None:
        raise ArgumentError(f"line= means nothing to {name}")
    first, *others = [fetched(file, name, cache_dir) for file in FILES[name]]
    if others:
        return gpt2_pair.read(first, others[0], ReadOptions(pattern=pattern, special_tokens=special_tokens))
    return formats.read(first, format="tiktoken", pattern=pattern, special_tokens=special_tokens, name=name)


def cache_folder(cache_dir: str | os.PathLike[str] | None = None) -> Path:
    """The cache folder: the given one, ``POLYTOK_CACHE_DIR``, or the system's place for caches."""
    chosen = cache_dir or os.environ.get("POLYTOK_CACHE_DIR")
    if chosen:
        return system_path(chosen, "use the folder of the cache")
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "polytok"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / "polytok" / "Cache"
    base = os.environ.get("XDG_CACHE_HOME", "")
    return (Path(base) if os.path.isabs(base) else Path.home() / ".cache") / "polytok"


# tiktoken's files


def fetched(file: Published, name: str, cache_dir: str | os.PathLike[str] | None) -> bytes:
    """The file's bytes, from the cache or its address."""
    path = cache_folder(cache_dir) / file.name
    try:
        data = path.read_bytes()
    except OSError:
        data = b""
    if sha256(data).hexdigest() == file.sha256:
        return data
    data = _downloaded(file, name)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(path) as kept:
            kept.write(data)
    except OSError as error:
        what = f"cannot keep what was fetched: {error.strerror}; say where with cache_dir= or POLYTOK_CACHE_DIR"
        raise FileError(error.errno, what, str(path)) from error
    return data


def _downloaded(file: Published, name: str) -> bytes:
    from .fetch import body  # imported here, because urllib takes long to import

    try:
        data = body(file.address)
    except OSError as error:
        raise FetchError(f"{file.address} cannot be fetched: {error or type(error).__name__}; {_hint(name)}") from error
    digest = sha256(data).hexdigest()
    if digest != file.sha256:
        raise FetchError(
            f"what was fetched from {file.address} is not the file that {name!r} stands for ({len(data)} bytes of "
            f"sha256 {digest}, not {file.sha256}); nothing was kept; try again, or {_hint(name)}"
        )
    return data


def _hint(name: str) -> str:
    option = f", name={name!r}" if name in ("p50k_edit", "o200k_harmony") else ""
    return f"with a copy of the file: polytok.load('/path/to/{FILES[name][0].address.rpartition('/')[2]}'{option})"


# The hub


def hub_folder(name: str, cache_dir: str | os.PathLike[str] | None = None) -> Path:
    """The folder of a repository's tokenizer files, fetched by huggingface_hub or from its cache."""
    match = _HUB_NAME.fullmatch(name)
    if match is None:
        raise ArgumentError(f"{name!r} is not hf:owner/name or hf:owner/name@revision")
    try:
        import huggingface_hub
        from huggingface_hub.errors import HFValidationError
        from huggingface_hub.utils import tqdm  # type: ignore[attr-defined]
    except ImportError as error:
        raise FetchError(
            f"{name!r} needs the package huggingface_hub: pip install 'polytok[hub]'; or {_COPY}"
        ) from error

    class Silent(tqdm):
        """A hidden progress bar: a library never prints."""

        def __init__(self, *args: Any, **options: Any) -> None:
            super().__init__(*args, **{**options, "disable": True})  # type: ignore[no-untyped-call]

    try:
        folder = huggingface_hub.snapshot_download(
            match["repository"],
            revision=match["revision"],
            cache_dir=None if cache_dir is None else Path(cache_dir),
            allow_patterns=list(HUB_FILES),
            tqdm_class=Silent,
        )
    except HFValidationError as error:
        raise ArgumentError(f"{name!r}: {error}") from error
    except Exception as error:  # its own errors and those of its HTTP client, which changes between versions
        raise FetchError(f"{name!r} cannot be fetched: {error}; {_COPY}") from error
    return Path(folder)
