"""`load`: turns a path, bytes, a folder or a name into a `Tokenizer`."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import IO, Any

from . import formats, named
from .errors import ArgumentError
from .files import Siblings, read, system_path
from .formats import gpt2_pair, ptok
from .formats.base import ReadOptions
from .formats.folder import read_folder
from .spec import Line, Spec
from .tokenizer import Tokenizer


def load(
    source: str | os.PathLike[str] | bytes | IO[bytes],
    *,
    format: str | None = None,
    pattern: str | None = None,
    special_tokens: Mapping[str, int] | None = None,
    line: Line | None = None,
    name: str | None = None,
    pre_tokenizer: str | None = None,
    cache_dir: str | os.PathLike[str] | None = None,
) -> Tokenizer:
    """Load a tokenizer from a path, bytes, a binary file object, or a name.

    Names are ``"default"``, the vocabulary that comes with polytok; tiktoken's (``"cl100k_base"``, ``"o200k_base"``,
    ``"gpt2"``, ...); and ``"hf:owner/name"`` or ``"hf:owner/name@revision"``, a repository of the Hugging Face hub.
    Only the last two kinds use the network; each file is fetched once and cached in ``cache_dir``, by default the
    system's place for caches. To load a file with such a name, put ``"./"`` before the name.

    The bytes determine the format, never the file's name; ``format`` names it if it is ambiguous. ``pattern`` and
    ``special_tokens`` are for files that do not hold them (tiktoken's rank files). ``name`` selects the vocabulary if
    one file serves two (``"o200k_harmony"``). ``line`` is the SentencePiece release to follow if releases differ,
    "0.2.3" by default, or "0.2.1". ``pre_tokenizer`` names one of llama.cpp's pre-tokenizers, for a GGUF file whose own
    is unknown. Of a GGUF file only the metadata is read, not the gigabytes of tensors that follow.

    Raises `FileError` if the file cannot be read, `FetchError` if it cannot be fetched, and `FormatError` if its bytes
    are in no known format or are damaged.

    >>> import polytok
    >>> polytok.load("default").decode(polytok.load("default").encode("héllo"))
    'héllo'
    """
    options = {
        "format": format,
        "pattern": pattern,
        "special_tokens": special_tokens,
        "line": line,
        "name": name,
        "pre_tokenizer": pre_tokenizer,
    }
    said: dict[str, Any] = {option: value for option, value in options.items() if value is not None}
    if isinstance(source, str) and (source == "default" or named.is_name(source)):
        return Tokenizer(_named_spec(source, said, cache_dir))
    if cache_dir is not None:
        raise ArgumentError("cache_dir= is for names, for which something is fetched")
    if isinstance(source, (str, os.PathLike)):
        path = system_path(source, "read the tokenizer file")
        if path.exists() and not path.is_file() and not path.is_dir():  # A pipe can be read only once.
            return Tokenizer(formats.read(read(path), **said))
        may_be_native = said.keys() <= {"format"} and format in (None, ptok.name) and not path.is_dir()
        if may_be_native and (file := ptok.opened(path)) is not None:
            return Tokenizer._of_file(file)
        return Tokenizer(_spec_of_path(path, said))
    return Tokenizer(formats.read(_bytes_of(source), **said))


def _named_spec(source: str, said: dict[str, Any], cache_dir: str | os.PathLike[str] | None) -> Spec:
    if source == "default":
        if said or cache_dir is not None:
            raise ArgumentError('"default" takes no options')
        return default_spec()
    _refuse(said, ("format", "name", "pre_tokenizer"), f"{source!r}, which is a name")
    return named.read(source, cache_dir=cache_dir, **said)


def _refuse(said: Collection[str], options: Iterable[str], what: str) -> None:
    for option in options:
        if option in said:
            raise ArgumentError(f"{option}= means nothing to {what}")


def _spec_of_path(path: Path, said: dict[str, Any]) -> Spec:
    from .formats import gguf_file  # which imports numpy

    pair = gpt2_pair.beside(path)
    if pair and said.get("format", "tiktoken") == "tiktoken":
        _refuse(said, ("line", "pre_tokenizer"), "GPT-2's files")
        options = {option: value for option, value in said.items() if option != "format"}
        return gpt2_pair.read(read(pair[0]), read(pair[1]), ReadOptions(**options))
    if path.is_dir():
        _refuse(said, ("format", "pre_tokenizer"), "a folder, whose files tell")
        return read_folder(path, **said)
    spec = formats.read(gguf_file.begin_of(path) or read(path), siblings=Siblings(path.parent), **said)
    return spec if spec.origin.name else replace(spec, origin=replace(spec.origin, name=path.stem))


def _bytes_of(source: bytes | IO[bytes]) -> bytes:
    if isinstance(source, (bytes, bytearray, memoryview)):
        return bytes(source)
    if not hasattr(source, "read"):
        raise TypeError(f"source must be a path, bytes or a binary file object, not {type(source).__name__}")
    data = source.read()
    if not isinstance(data, bytes):
        raise TypeError("the file object gives text; open it in binary mode")
    return data


def default_spec() -> Spec:
    """The vocabulary that comes with polytok: byte-complete BPE of 32,768 entries, lossless, multilingual."""
    from . import data

    spec = formats.read(
        data.default_ranks(),
        format="tiktoken",
        pattern=data.DEFAULT_PATTERN,
        special_tokens=data.DEFAULT_SPECIAL_TOKENS,
    )
    return replace(spec, origin=replace(spec.origin, name="default"))
