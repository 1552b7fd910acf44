"""Converts a tokenizer to a file of another format and reports what is lost, and whether the file encodes alike."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from . import formats, probes
from .conversion import adapted, write
from .divergence import Comparison, Divergence
from .spec import PatternSplit, Spec
from .tokenizer import Tokenizer
from .values import Text


@dataclass(frozen=True, slots=True)
class Conversion:
    """A written file and the facts about it.

    ``losses`` concern valid UTF-8: its ids, or the text that they decode to; ``notes`` report everything else.
    ``checked`` is the number of texts encoded with both tokenizers; ``divergences`` are those with different ids.
    """

    format: str
    data: bytes
    companions: Mapping[str, bytes]
    losses: tuple[str, ...]
    notes: tuple[str, ...]
    checked: int
    divergences: tuple[Divergence, ...]


def convert(
    tokenizer: Tokenizer, format: str, *, strict: bool = False, texts: Iterable[Text] | None = None
) -> Conversion:
    """Write a tokenizer as a file of a format, read it back, and compare the two on texts.

    Unless texts are given, they are known difficult ones and some generated from the vocabulary's entries. With
    ``strict`` a loss is a `LossError`; a `FormatError` means that the format cannot express the tokenizer.

    >>> import polytok
    >>> conversion = convert(polytok.load("default"), "huggingface")
    >>> conversion.losses, conversion.divergences
    ((), ())
    """
    written = write(tokenizer.spec, format, strict=strict)
    chosen: Sequence[Text] = list(probes.texts(tokenizer.spec) if texts is None else texts)
    comparison = Comparison(tokenizer, read_back(written.data, format, tokenizer.spec))
    return Conversion(
        format,
        written.data,
        written.companions,
        written.losses,
        written.notes,
        len(chosen),
        tuple(comparison.all(chosen)),
    )


def read_back(data: bytes, format: str, spec: Spec) -> Tokenizer:
    """Load a written file as a tokenizer; a rank file gets the pattern and the special tokens that it does not hold."""
    if format != "tiktoken":
        return Tokenizer(formats.read(data, format=format))
    split = adapted(spec, format).spec.split
    pattern = split[0].pattern if split and isinstance(split[0], PatternSplit) else ""
    special = {token.text: token.id for token in spec.special}
    return Tokenizer(formats.read(data, format=format, pattern=pattern, special_tokens=special))
