"""The file formats, which convert files to Specs and Specs to files. Each format is a module; `all_formats` lists them.

The format of a file follows from its magic and structure, never from its name or size. A format writes only Specs that
it can express directly; `polytok.conversion.write` first converts a Spec to such a Spec.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from importlib import import_module
from typing import Any

from ..checks import one_of
from ..errors import ArgumentError, FormatError
from ..keywords import keyword, marked_message
from ..records import replace
from ..spec import SentencePieceVersion, Spec
from . import other_files, ptok
from .base import Format, Pattern, ReadOptions, SpecialTokens, Written

__all__ = ["Format", "ReadOptions", "Written", "all_formats", "detect", "named", "read"]

_BASE64 = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/="
_FIRST_BYTES: Mapping[str, bytes | None] = {
    "ptok": ptok.MAGIC[:1],
    "sentencepiece": None,
    "llama2c": None,
    "rwkv": b"0123456789",
    "minbpe": b"m",
    "tiktoken": _BASE64,
    "tekken": b"{",
    "huggingface": b"{",
    "wordpiece": None,
    "bpe_files": b"{",
    "gguf": b"G",
}
"""For each format, the bytes with which its files can begin after white space; None means any byte.

The module of a format is imported only for files that can have the format, because importing all formats takes longer
than loading most files.
"""
_WHITE_SPACE = re.compile(rb"\s*")


def all_formats() -> tuple[Format, ...]:
    """Returns all formats."""
    return tuple(map(_module, _FIRST_BYTES))


def named(name: str, option: str) -> Format:
    """Returns the format with this name. Raises `ArgumentError`, which names the option, if no format has the name."""
    return _module(one_of(option, name, tuple(_FIRST_BYTES)))


def _module(name: str) -> Format:
    module: Any = import_module(f"{__name__}.{name}")
    return module  # type: ignore[no-any-return]


def detect(data: bytes) -> Format:
    """Returns the only format that accepts the bytes; raises FormatError if no format does, or several formats do.

    Bytes that begin with the magic of ``.ptok`` files are not checked for any other format.
    """
    if ptok.refusal(data) is None:
        return ptok
    matching_formats = [candidate for candidate in _possible_formats(data) if candidate.refusal(data) is None]
    if not data:
        raise FormatError("the file is empty: download or copy it again")
    if not matching_formats:
        if kind := other_files.unusable_json(data):
            raise FormatError(kind)
        refusals = [(candidate.name, str(candidate.refusal(data))) for candidate in all_formats()]
        if likeness := other_files.truncated_binary(refusals, len(data)):
            raise FormatError(likeness)
        reasons = "".join(f"\n  {name}: {reason}" for name, reason in refusals)
        raise FormatError(f"no format recognizes these {len(data)} bytes:{reasons}")
    if len(matching_formats) > 1:
        choice = " or ".join(keyword("format", candidate.name) for candidate in matching_formats)
        raise FormatError(f"the bytes fit more than one format; choose with {choice}")
    return matching_formats[0]


def _possible_formats(data: bytes) -> list[Format]:
    """Returns the formats whose files can begin with the first byte after white space."""
    white_space = _WHITE_SPACE.match(data)
    start = white_space.end() if white_space else 0
    first_byte = data[start : start + 1]
    return [_module(name) for name, bytes in _FIRST_BYTES.items() if bytes is None or first_byte in bytes]


def _with_chat_templates(spec: Spec, siblings: Mapping[str, bytes]) -> Spec:
    """Adds the chat templates of a folder to the extra data of a tokenizer whose own file cannot hold them."""
    if spec.origin.format not in _FORMATS_WITHOUT_TEMPLATES or "tokenizer_config.json" not in siblings:
        return spec
    from .huggingface.config import chat_settings  # importing it takes longer than reading many files

    settings = chat_settings(siblings)
    return replace(spec, extra={**spec.extra, "chat": settings}) if settings else spec


_FORMATS_WITHOUT_TEMPLATES = ("sentencepiece", "tiktoken", "tekken")


def read(
    data: bytes,
    *,
    format: str | None = None,
    pattern: Pattern | None = None,
    special_tokens: SpecialTokens | None = None,
    sentencepiece_version: SentencePieceVersion | None = None,
    name: str | None = None,
    siblings: Mapping[str, bytes] | None = None,
    pre_tokenizer: str | None = None,
) -> Spec:
    """Reads a tokenizer file.

    ``format`` names the format; None detects it from the bytes. ``pattern`` and ``special_tokens`` are for files that
    do not contain them (tiktoken); special tokens without ids get the ids after the largest id of the file.
    ``sentencepiece_version`` is the SentencePiece release to follow, ``name`` the vocabulary's name. ``pre_tokenizer``
    names the pre-tokenizer of a GGUF file whose own pre-tokenizer is unknown. ``siblings`` are the files in the same
    folder, by name; formats read from these files the data that the tokenizer's file does not contain.

    Raises FormatError if the bytes are not a valid file, and ArgumentError for an option that the format does not use.
    """
    if sentencepiece_version not in (None, "0.2.1", "0.2.3"):
        raise ArgumentError(f"{keyword('sentencepiece_version', sentencepiece_version)} is not '0.2.1' or '0.2.3'")
    if kind := other_files.substitute(data):
        raise FormatError(kind)
    file_format = detect(data) if format is None else named(format, "format")
    options = ReadOptions(
        pattern=pattern,
        special_tokens=special_tokens,
        sentencepiece_version=sentencepiece_version,
        name=name,
        siblings={} if siblings is None else siblings,
        pre_tokenizer=pre_tokenizer,
    )
    for option in ("pattern", "special_tokens", "sentencepiece_version", "pre_tokenizer"):
        if getattr(options, option) is not None and option not in file_format.options:
            raise ArgumentError(f"{keyword(f'{option}=')} has no effect on a {file_format.name} file; leave it out")
    try:
        return _with_chat_templates(file_format.read(data, options), options.siblings)
    except FormatError as error:
        message = marked_message(error)
        raise FormatError(f"{file_format.name}: {message}{other_files.advice(message, data)}") from error
