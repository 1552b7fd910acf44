"""Specs into the dialects of other formats.

A format's reader gives Specs of one dialect: llama2.c's has a space put in front, SentencePiece's a normalizer, and so
on. A format writes Specs of its own dialect; `adapted` makes them of foreign ones, with a list of what is lost. The
conversions go by what a Spec is, never by where it came from, and never change an id.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial

from .. import formats
from ..errors import LossError
from ..spec import Spec
from .base import Converted
from .byte_bpe import to_minbpe, to_rank_file
from .gguf import to_gguf
from .huggingface import to_huggingface
from .llama2c import to_llama2c
from .sentencepiece import to_sentencepiece

__all__ = ["Converted", "adapted", "write"]

_ADAPTERS: Mapping[str, Callable[[Spec], Converted]] = {
    "gguf": to_gguf,
    "huggingface": to_huggingface,
    "sentencepiece": to_sentencepiece,
    "llama2c": to_llama2c,
    "minbpe": to_minbpe,
    "tekken": partial(to_rank_file, format_name="tekken"),
    "tiktoken": partial(to_rank_file, format_name="tiktoken"),
}


def adapted(spec: Spec, format: str) -> Converted:
    """The Spec in a format's dialect, or FormatError where the format cannot express it at all."""
    adapter = _ADAPTERS.get(format)
    if adapter is None:
        return Converted(spec)
    converted = adapter(spec)
    return converted if converted.spec is spec else converted.then(_without_extra(converted.spec, format))


def write(spec: Spec, format: str, *, strict: bool = False) -> formats.Written:
    """Write a Spec as a file of a format, adapted to it if another format gave it.

    What the format cannot carry is listed in ``losses``; with ``strict`` it is an error.
    """
    chosen = formats.named(format)
    converted = adapted(spec, format)
    result = chosen.write(converted.spec)
    is_foreign = spec.origin.format not in (format, "memory")
    # What another format names or keeps beside its tokenizer concerns no text.
    aside = tuple(loss for loss in result.losses if is_foreign and loss.startswith(("names:", "extra:")))
    losses = tuple(dict.fromkeys((*converted.losses, *(loss for loss in result.losses if loss not in aside))))
    if strict and losses:
        listed = "".join(f"\n  {loss}" for loss in losses)
        raise LossError(f"a {format} file cannot carry all of this tokenizer:{listed}")
    return replace(result, losses=losses, notes=(*converted.notes, *result.notes, *aside))


def _without_extra(spec: Spec, format: str) -> Converted:
    """Without what other formats carry and no engine needs."""
    strange = {name: extra for name, extra in spec.extra.items() if name != format}
    notes = [f"extra: {', '.join(extra)} of the {name} file" for name, extra in strange.items()]
    kept = {name: extra for name, extra in spec.extra.items() if name == format}
    return Converted(replace(spec, extra=kept), notes=tuple(notes))
