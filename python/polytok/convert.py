"""A tokenizer as a file of another format, with a report: what is lost, and whether what was written encodes alike."""

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
    """A written file and what is known of it.

    ``losses`` concern valid UTF-8: its ids, or the text that they decode to; ``notes`` tell of all else. ``checked``
    texts were encoded with both tokenizers; ``divergences`` are the ones with other ids.
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

    The texts are some that are known to make trouble and some made of the vocabulary's entries, unless others are
    given. With ``strict`` a loss is a `LossError`; a `FormatError` says that the format has no way to express the
    tokenizer.

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
    """A written file as a tokenizer; a rank file gets the pattern and the special tokens that it does not hold."""
    if format != "tiktoken":
        return Tokenizer(formats.read(data, format=format))
    split = adapted(spec, format).spec.split
    pattern = split[0].pattern if split and isinstance(split[0], PatternSplit) else ""
    special = {token.text: token.id for token in spec.special}
    return Tokenizer(formats.read(data, format=format, pattern=pattern, special_tokens=special))
