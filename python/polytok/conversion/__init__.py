"""Converts Specs to the dialects of other formats.

Each format can read and write only some Specs, the dialect of the format: for example, every Spec of llama2.c adds a
space in front of a text, and every Spec of SentencePiece has SentencePiece's normalizer. `adapted` converts any Spec to
a format's dialect and lists the losses. A conversion depends only on the fields of a Spec, never on the file that the
Spec comes from, and never changes an id.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial

from .. import formats
from ..errors import LossError
from ..spec import PatternSplit, Spec
from .base import Converted
from .beside import as_siblings, beside
from .byte_bpe import to_minbpe, to_rank_file
from .gguf import to_gguf
from .huggingface import to_huggingface
from .llama2c import to_llama2c
from .roles import lost_roles, refuse_lost_roles
from .sentencepiece import to_sentencepiece

__all__ = ["Converted", "adapted", "beside", "read_back", "write"]

_CONVERTERS: Mapping[str, Callable[[Spec], Converted]] = {
    "gguf": to_gguf,
    "huggingface": to_huggingface,
    "sentencepiece": to_sentencepiece,
    "llama2c": to_llama2c,
    "minbpe": to_minbpe,
    "tekken": partial(to_rank_file, format_name="tekken"),
    "tiktoken": partial(to_rank_file, format_name="tiktoken"),
}


def adapted(spec: Spec, to: str) -> Converted:
    """Returns the Spec in the dialect of the format ``to``; raises FormatError if it cannot express the Spec."""
    convert = _CONVERTERS.get(to)
    if convert is None:
        return Converted(spec)
    conversion = convert(spec)
    return conversion if conversion.spec is spec else conversion.then(_without_extra(conversion.spec, to))


def write(spec: Spec, to: str, *, strict: bool = False) -> formats.Written:
    """Writes a Spec in the format ``to``, after converting the Spec to the format's dialect.

    The result lists in ``losses`` the data that the format cannot carry. With ``strict``, any loss raises LossError,
    also the loss of a role such as eos.
    """
    file_format = formats.named(to, "to")
    conversion = adapted(spec, to)
    written_file = file_format.write(conversion.spec)
    is_from_other_format = spec.origin.format not in (to, "memory")
    # Names and extra data of another format never change ids or texts.
    harmless_losses = tuple(
        loss for loss in written_file.losses if is_from_other_format and loss.startswith(("names:", "extra:"))
    )
    losses = tuple(
        dict.fromkeys((*conversion.losses, *(loss for loss in written_file.losses if loss not in harmless_losses)))
    )
    if strict:
        _refuse_losses(losses, to)
        refuse_lost_roles(lost_roles(spec, read_back(written_file, to, spec)), to)
    return replace(written_file, losses=losses, notes=(*conversion.notes, *written_file.notes, *harmless_losses))


def read_back(written_file: formats.Written, format: str, spec: Spec) -> Spec:
    """Reads a written file of ``format``; the pattern and the special tokens of a rank file come from ``spec``."""
    data = written_file.data
    if format != "tiktoken":
        return formats.read(data, format=format, siblings=as_siblings(written_file.companions))
    split = adapted(spec, format).spec.split
    pattern = split[0].pattern if split and isinstance(split[0], PatternSplit) else ""
    special = {token.text: token.id for token in spec.special}
    return formats.read(data, format=format, pattern=pattern, special_tokens=special)


def _refuse_losses(losses: Sequence[str], format: str) -> None:
    if losses:
        loss_lines = "".join(f"\n  {loss}" for loss in losses)
        raise LossError(f"a {format} file cannot carry all of this tokenizer:{loss_lines}")


def _without_extra(spec: Spec, format: str) -> Converted:
    """Removes the extra data of other formats, which the engine does not need."""
    extra_of_other_formats = {name: extra for name, extra in spec.extra.items() if name != format}
    notes = [f"extra: {', '.join(extra)} of the {name} file" for name, extra in extra_of_other_formats.items()]
    extra_of_format = {name: extra for name, extra in spec.extra.items() if name == format}
    return Converted(replace(spec, extra=extra_of_format), notes=tuple(notes))
