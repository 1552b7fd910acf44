"""Loads a tokenizer from a path, bytes, a folder or a name: `load`."""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Collection, Iterable
from typing import IO, Any, TypeAlias

from . import _core, formats
from .checked import checked
from .checks import shown
from .errors import ArgumentError, FileError, FormatError
from .file_names import settings_file_of
from .files import Siblings, read, similar_file, system_path
from .formats import ptok
from .formats.base import ReadOptions, SpecialTokens
from .formats.folder import read_folder
from .keywords import keyword, marked_message
from .patterns import PatternName
from .records import replace
from .spec import SentencePieceVersion, Spec, Vocab
from .suggestions import did_you_mean
from .tokenizer import Tokenizer
from .values import FormatName

AnyTokenizer: TypeAlias = Tokenizer | str | os.PathLike[str] | bytes | IO[bytes]
"""A tokenizer, or what `load` accepts."""

_REPOSITORY = re.compile(r"[\w.-]+/[\w.-]+")


@checked()
def load(
    model: str | os.PathLike[str] | bytes | IO[bytes],
    *,
    format: FormatName | None = None,
    pattern: PatternName | str | None = None,
    special_tokens: SpecialTokens | None = None,
    sentencepiece_version: SentencePieceVersion | None = None,
    name: str | None = None,
    pre_tokenizer: str | None = None,
    cache_dir: str | os.PathLike[str] | None = None,
) -> Tokenizer:
    """Loads a tokenizer from a path, bytes, a binary file object, or a name.

    ``model`` can be one of these names: ``"default"``, the vocabulary that comes with polytok; tiktoken's
    (``"cl100k_base"``, ``"o200k_base"``, ``"gpt2"``, ...); the models that tiktoken 0.14 knows (``"gpt-4o"``), which
    stand for tiktoken's names; and ``"hf:owner/name"`` or ``"hf:owner/name@revision"``, a repository of the Hugging
    Face hub. Only these names, except ``"default"``, use the network. Each file is fetched once and cached in
    ``cache_dir``, by default the system's folder for caches. To load a file whose path equals one of these names, write
    ``"./"`` before the path; a file has priority over a model's name.

    The format is detected from the bytes, never from the file's name; ``format`` names it if several formats fit.
    ``pattern`` and ``special_tokens`` are for files that do not contain them (tiktoken's rank files): ``pattern`` is a
    regular expression, or a name as in training (``"gpt2"``, ``"cl100k"``, ``"o200k"``, ...), and special tokens
    without ids (a list of texts) get the ids after the largest id of the file. ``name`` selects the vocabulary if one
    file has two (``"o200k_harmony"``). ``sentencepiece_version`` is the SentencePiece release to follow if releases
    differ: "0.2.3" (the default) or "0.2.1". ``pre_tokenizer`` names one of llama.cpp's pre-tokenizers, for a GGUF file
    whose own pre-tokenizer is unknown. Only the metadata of a GGUF file is read, not the gigabytes of tensors after it.

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
        "sentencepiece_version": sentencepiece_version,
        "name": name,
        "pre_tokenizer": pre_tokenizer,
    }
    given_options: dict[str, Any] = {option: value for option, value in options.items() if value is not None}
    if pattern is not None and model != "default":  # which accepts no options
        from . import patterns  # importing them takes longer than loading a .ptok

        given_options["pattern"] = patterns.resolve(pattern)
    if isinstance(model, str) and (model == "default" or is_name(model)):
        return Tokenizer(_spec_of_name(model, given_options, cache_dir))
    if cache_dir is not None:
        raise ArgumentError(
            f"{keyword('cache_dir=')} has an effect only on names, whose files are fetched; leave it out"
        )
    if isinstance(model, str):
        if not model:
            raise ArgumentError(f"{keyword('model=')} is empty: name a tokenizer file, a folder, or 'default'")
        _refuse_content(model)
    if isinstance(model, (str, os.PathLike)):
        path = system_path(model, "read the tokenizer file")
        if isinstance(model, str) and not os.path.exists(path):
            _refuse_unknown_name(model)
        try:
            return _load_path(path, given_options)
        except FormatError as error:
            raise FormatError(f"{path}: {marked_message(error)}") from error
    return Tokenizer(formats.read(_read_bytes(model), **given_options))


def as_tokenizer(tokenizer: AnyTokenizer) -> Tokenizer:
    """Returns the tokenizer; loads it first if it is what `load` accepts.

    >>> as_tokenizer("default").vocab_size
    32768
    """
    return tokenizer if isinstance(tokenizer, Tokenizer) else load(tokenizer)


def _load_path(path: str, given_options: dict[str, Any]) -> Tokenizer:
    is_folder = os.path.isdir(path)
    if os.path.exists(path) and not os.path.isfile(path) and not is_folder:  # pipes can be read only once
        return Tokenizer(formats.read(read(path), **given_options))
    can_be_native = given_options.keys() <= {"format"} and given_options.get("format", ptok.name) == ptok.name
    if can_be_native and not is_folder and (file := ptok.open_mapped(path)) is not None:
        return Tokenizer._from_file(file)
    return Tokenizer(_spec_of_path(path, given_options))


def is_name(source: str) -> bool:
    """Reports whether a source is a name of tiktoken's, of a repository, or of a model if no file has this name.

    The names are imported only for a source that looks like a name, because importing them takes longer than loading a
    ``.ptok``.
    """
    if source.isidentifier() or source.startswith("hf:"):
        from . import named

        if named.is_name(source):
            return True
    if os.path.exists(source):
        return False
    from .model_names import vocabulary_of_model

    return vocabulary_of_model(source) is not None


def _refuse_content(source: str) -> None:
    """Raises `ArgumentError` for the text of a file in place of its path."""
    is_content = "\n" in source or source[:1] in ("{", "[")
    if is_content and not os.path.exists(source):
        raise ArgumentError(
            f"{keyword('model=')} is the content of a file ({source[:20]!r}...), not a path: pass bytes, "
            "load(text.encode())"
        )


def _refuse_unknown_name(source: str) -> None:
    """Raises `FileError` with a suggestion for a source that is neither a file nor a name, and is not in a folder."""
    if _REPOSITORY.fullmatch(source) and not os.path.isdir(os.path.dirname(source)) and not _has_file_suffix(source):
        advice = f"; for a repository of the Hugging Face hub, write 'hf:{source}'"
    elif os.path.dirname(source):
        return
    else:
        advice = f"{similar_file(source) or suggested_name(source) or ';'} `polytok info --names` lists the names"
    raise FileError(errno.ENOENT, f"no such file, and no vocabulary has this name{advice}", source)


def suggested_name(source: str) -> str:
    """Returns the end of an error about an unknown name: the name that was probably meant, if any.

    >>> suggested_name("defualt")
    "; did you mean 'default'?"
    """
    from . import model_names, named

    names = ("default", *named.FILES, *model_names.VOCABULARY_OF_MODEL)
    return did_you_mean(model_names.misspelled_model(source.lower()) or source.lower(), names)


def _has_file_suffix(source: str) -> bool:
    from pathlib import Path

    from .file_names import formats_named

    return bool(formats_named(Path(source)))


def _spec_of_name(source: str, given_options: dict[str, Any], cache_dir: str | os.PathLike[str] | None) -> Spec:
    if source == "default":
        if given_options or cache_dir is not None:
            raise ArgumentError('"default" accepts no options')
        return default_spec()
    from . import named
    from .model_names import vocabulary_of_model

    _refuse_options(given_options, ("format", "name", "pre_tokenizer"), f"{source!r}, which is a name")
    return named.read(vocabulary_of_model(source) or source, cache_dir=cache_dir, **given_options)


def _refuse_options(given_options: Collection[str], options: Iterable[str], source_name: str) -> None:
    for option in options:
        if option in given_options:
            raise ArgumentError(f"{keyword(f'{option}=')} has no effect on {source_name}; leave it out")


def _spec_of_path(path: str, given_options: dict[str, Any]) -> Spec:
    from .formats import gguf_file, gpt2_pair  # importing these takes longer than loading a .ptok

    pair = gpt2_pair.find_pair(path)
    if pair and given_options.get("format", "tiktoken") == "tiktoken":
        _refuse_options(given_options, ("sentencepiece_version", "pre_tokenizer"), "GPT-2's files")
        options = {option: value for option, value in given_options.items() if option != "format"}
        return gpt2_pair.read(read(pair[0]), read(pair[1]), ReadOptions(**options))
    if os.path.isdir(path):
        from pathlib import Path

        _refuse_options(given_options, ("format", "pre_tokenizer"), "a folder, whose files determine it")
        return read_folder(Path(path), **given_options)
    folder, file_name = os.path.split(path)
    data = gguf_file.read_metadata(path) or read(path)
    spec = _read_with_settings(data, folder or os.curdir, file_name, given_options)
    name = os.path.splitext(file_name)[0]
    return spec if spec.origin.name else replace(spec, origin=replace(spec.origin, name=name))


def _read_with_settings(data: bytes, folder: str, file_name: str, given_options: dict[str, Any]) -> Spec:
    """Reads a file with the other files of its folder: for ``other.json``, the settings are in ``other_config.json``,
    as those for ``tokenizer.json`` are in ``tokenizer_config.json``."""
    settings_name = settings_file_of(file_name)
    settings = None if settings_name == _SETTINGS_FILES[0] else _own_settings(os.path.join(folder, settings_name))
    if settings is None:
        siblings = Siblings(folder, hidden=_files_of_other_tokenizers(file_name, data))
        return formats.read(data, siblings=siblings, **given_options)
    siblings = Siblings(folder, hidden=_SETTINGS_FILES, contents={_SETTINGS_FILES[0]: settings})
    try:
        return formats.read(data, siblings=siblings, **given_options)
    except FormatError as error:
        raise FormatError(str(error).replace(_SETTINGS_FILES[0], settings_name)) from error


def _own_settings(path: str) -> bytes | None:
    """Returns the content of a file with settings; None if it is missing or holds something else."""
    if not os.path.isfile(path):
        return None
    import json

    from .formats.huggingface.config import is_settings

    data = read(path, "the settings of the tokenizer")
    try:
        return data if is_settings(json.loads(data)) else None
    except (ValueError, RecursionError):
        return None


def _files_of_other_tokenizers(file_name: str, data: bytes) -> tuple[str, ...]:
    """Returns the names of files in the folder that describe another tokenizer file than the one with this name.

    The settings with their usual names belong to files with their usual names, not to a file such as ``other.json``.
    """
    can_have_settings = file_name.endswith((".json", ".txt")) or data[:1] == b"{"
    is_other_file = can_have_settings and file_name not in _FILES_WITH_SETTINGS
    return _SETTINGS_FILES if is_other_file else ()


_SETTINGS_FILES = ("tokenizer_config.json", "special_tokens_map.json")
_FILES_WITH_SETTINGS = ("tokenizer.json", "vocab.json", "vocab.txt")


def _read_bytes(source: bytes | IO[bytes]) -> bytes:
    if isinstance(source, (bytes, bytearray, memoryview)):
        return bytes(source)
    if not hasattr(source, "read"):
        raise TypeError(f"model={shown(source)} is not a path, a name, bytes or a binary file object")
    data = source.read()
    if not isinstance(data, bytes):
        raise TypeError("the file object returns text; open the file in binary mode")
    return data


def default_spec() -> Spec:
    """Returns the vocabulary that comes with polytok: lossless, multilingual BPE over bytes with 32,768 entries."""
    from . import data
    from .formats import tiktoken

    vocab = Vocab(*_core.pairs_read(data.default_pairs()))
    options = formats.ReadOptions(
        pattern=data.DEFAULT_PATTERN, special_tokens=data.DEFAULT_SPECIAL_TOKENS, name=data.DEFAULT_NAME
    )
    return tiktoken.spec_of(vocab, options, scheme=None, vocab_name=None)
