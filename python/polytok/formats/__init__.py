"""Files to Specs, and Specs to files. One module per format; `all_formats` is the table that names them.

A file's format is told by its magic and structure, never by its name or size. A format writes Specs of its own dialect;
`polytok.conversion.write` takes any Spec.
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
    """All of them, imported when they are first needed: that takes longer than to load a file of our own."""
    from . import bpe_files, gguf, huggingface, llama2c, minbpe, rwkv, sentencepiece, tekken, tiktoken, wordpiece

    return (
        *(ptok, sentencepiece, llama2c, rwkv, minbpe, tiktoken, tekken, huggingface, wordpiece),
        *(bpe_files, gguf),
    )


def named(name: str) -> Format:
    """The format of this name."""
    if name == ptok.name:
        return ptok
    for candidate in all_formats():
        if candidate.name == name:
            return candidate
    known = ", ".join(candidate.name for candidate in all_formats())
    raise ArgumentError(f"there is no format named {name!r}; the formats are {known}")


def detect(data: bytes) -> Format:
    """The one format that the bytes are of. What begins as our own does is no other."""
    if ptok.refusal(data) is None:
        return ptok
    refusals = {candidate.name: candidate.refusal(data) for candidate in all_formats()}
    matching = [name for name, refusal in refusals.items() if refusal is None]
    if not matching:
        tried = "".join(f"\n  {name}: {refusal}" for name, refusal in refusals.items())
        raise FormatError(f"no format recognises these {len(data)} bytes:{tried}")
    if len(matching) > 1:
        choice = " or ".join(f"format={name!r}" for name in matching)
        raise FormatError(f"the bytes could be of more than one format; say {choice}")
    return named(matching[0])


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
    """Read a tokenizer file.

    ``format`` is told by the bytes unless it is given. ``pattern`` and ``special_tokens`` are for files that do not
    hold them (tiktoken), ``line`` is the SentencePiece release to follow, ``name`` the vocabulary's name.
    ``pre_tokenizer`` names the pre-tokenizer of a GGUF file where its own is not known.
    ``siblings`` are files that stand beside it, by name; formats take from them what their own file does not say.
    """
    if line not in (None, "0.2.1", "0.2.3"):
        raise ArgumentError(f"line is {line!r}, not '0.2.1' or '0.2.3'")
    chosen = detect(data) if format is None else named(format)
    options = ReadOptions(
        pattern=pattern,
        special_tokens=special_tokens,
        line=line,
        name=name,
        siblings={} if siblings is None else siblings,
        pre_tokenizer=pre_tokenizer,
    )
    for option in ("pattern", "special_tokens", "line", "pre_tokenizer"):
        if getattr(options, option) is not None and option not in chosen.options:
            raise ArgumentError(f"{option}= means nothing to a {chosen.name} file, which holds all that is needed")
    try:
        return chosen.read(data, options)
    except FormatError as error:
        raise FormatError(f"{chosen.name}: {error}") from error
