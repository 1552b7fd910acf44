"""The file formats, which convert files to Specs and Specs to files. Each format is a module; `all_formats` lists them.

The format of a file follows from its magic and structure, never from its name or size. A format writes only Specs that
it can express directly; `polytok.conversion.write` first converts a Spec to such a Spec.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from ..errors import ArgumentError, FormatError
from ..spec import Line, Spec
from . import ptok
from .base import Format, ReadOptions, Written

__all__ = ["Format", "ReadOptions", "Written", "all_formats", "detect", "named", "read"]


@cache
def all_formats() -> tuple[Format, ...]:
    """Returns all formats.

    The modules are imported on the first call, because importing them takes longer than loading a ``.ptok``.
    """
    from . import bpe_files, gguf, huggingface, llama2c, minbpe, rwkv, sentencepiece, tekken, tiktoken, wordpiece

    return (
        *(ptok, sentencepiece, llama2c, rwkv, minbpe, tiktoken, tekken, huggingface, wordpiece),
        *(bpe_files, gguf),
    )


def named(name: str) -> Format:
    """Returns the format with this name; raises ArgumentError if no format has the name."""
    if name == ptok.name:
        return ptok
    for candidate in all_formats():
        if candidate.name == name:
            return candidate
    names = ", ".join(candidate.name for candidate in all_formats())
    raise ArgumentError(f"there is no format named {name!r}; the formats are {names}")


def detect(data: bytes) -> Format:
    """Returns the only format that accepts the bytes; raises FormatError if no format does, or several formats do.

    Bytes that begin with the magic of ``.ptok`` files are not checked for any other format.
    """
    if ptok.refusal(data) is None:
        return ptok
    refusals = {candidate.name: candidate.refusal(data) for candidate in all_formats()}
    matching_names = [name for name, refusal in refusals.items() if refusal is None]
    if not matching_names:
        reasons = "".join(f"\n  {name}: {refusal}" for name, refusal in refusals.items())
        raise FormatError(f"no format recognises these {len(data)} bytes:{reasons}")
    if len(matching_names) > 1:
        choice = " or ".join(f"format={name!r}" for name in matching_names)
        raise FormatError(f"the bytes fit more than one format; choose with {choice}")
    return named(matching_names[0])


def read(
    data: bytes,
    *,
    format: str | None = None,
    pattern: str | None = None,
    special_tokens: Mapping[str, int] | None = None,
    line: Line | None = None,
    name: str | None = None,
    siblings: Mapping[str, bytes] | None = None,
    pre_tokenizer: str | None = None,
) -> Spec:
    """Reads a tokenizer file.

    ``format`` names the format; None detects it from the bytes. ``pattern`` and ``special_tokens`` are for files that
    do not contain them (tiktoken). ``line`` is the SentencePiece release to follow, ``name`` the vocabulary's name.
    ``pre_tokenizer`` names the pre-tokenizer of a GGUF file whose own pre-tokenizer is unknown. ``siblings`` are the
    files in the same folder, by name; formats read from these files the data that the tokenizer's file does not
    contain.

    Raises FormatError if the bytes are not a valid file, and ArgumentError for an option that the format does not use.
    """
    if line not in (None, "0.2.1", "0.2.3"):
        raise ArgumentError(f"line is {line!r}, not '0.2.1' or '0.2.3'")
    file_format = detect(data) if format is None else named(format)
    options = ReadOptions(
        pattern=pattern,
        special_tokens=special_tokens,
        line=line,
        name=name,
        siblings={} if siblings is None else siblings,
        pre_tokenizer=pre_tokenizer,
    )
    for option in ("pattern", "special_tokens", "line", "pre_tokenizer"):
        if getattr(options, option) is not None and option not in file_format.options:
            raise ArgumentError(f"{option}= has no effect on a {file_format.name} file; leave it out")
    try:
        return file_format.read(data, options)
    except FormatError as error:
        raise FormatError(f"{file_format.name}: {error}") from error
