"""Converts a tokenizer to a file of another format, reports the losses, and compares the file with the tokenizer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from . import formats, probes
from .conversion import adapted, beside, write
from .divergence import Comparison, Divergence
from .spec import PatternSplit, Spec
from .tokenizer import Tokenizer
from .values import Text

# The formats of models whose export to another format is a part of the other format's own program.
_REFERENCE_EXPORTS = frozenset({("sentencepiece", "llama2c")})


@dataclass(frozen=True, slots=True)
class Conversion:
    """A written file, its losses, and the result of the comparison.

    ``losses`` are differences in the ids of valid UTF-8, or in the text of ids; ``notes`` are all other differences.
    ``checked`` is the number of texts that both tokenizers encoded; ``divergences`` are the texts with different ids.
    ``is_reference_export`` is true if the reference program of the format writes the same bytes from such a model, so
    that all losses are its own differences.
    """

    format: str
    data: bytes
    companions: Mapping[str, bytes]
    losses: tuple[str, ...]
    notes: tuple[str, ...]
    checked: int
    divergences: tuple[Divergence, ...]
    is_reference_export: bool = False

    @property
    def same_ids(self) -> int:
        """The number of texts with the same ids."""
        return self.checked - len(self.divergences)

    @property
    def keeps_everything(self) -> bool:
        """Whether nothing is lost and all texts have the same ids."""
        return not self.losses and not self.divergences

    @property
    def summary(self) -> str:
        """The result in one line.

        >>> import polytok
        >>> convert(polytok.load("default"), "huggingface").summary
        'kept: everything; 452 of 452 texts have the same ids'
        """
        same_ids = f"{self.same_ids} of {self.checked} texts have the same ids"
        if self.is_reference_export:
            return f"the same bytes as {self.format}'s own export"
        return f"kept: everything; {same_ids}" if self.keeps_everything else same_ids


def convert(
    tokenizer: Tokenizer,
    to: str,
    *,
    strict: bool = False,
    texts: Iterable[Text] | None = None,
    path: Path | None = None,
) -> Conversion:
    """Writes a tokenizer in the format ``to``, reads the file, and compares both tokenizers on texts.

    ``path`` is the file that will be written, whose name and folder decide about additional files. By default,
    ``texts`` are known difficult texts and texts generated from the vocabulary's entries. With ``strict``,
    any loss raises `LossError`. Raises `FormatError` if the format cannot express the tokenizer.

    >>> import polytok
    >>> conversion = convert(polytok.load("default"), "huggingface")
    >>> conversion.losses, conversion.divergences
    ((), ())
    """
    written_file = write(tokenizer.spec, to, strict=strict)
    if path is not None:
        written_file = beside(written_file, path, to)
    text_list: Sequence[Text] = list(probes.texts(tokenizer.spec) if texts is None else texts)
    comparison = Comparison(tokenizer, read_back(written_file, to, tokenizer.spec))
    return Conversion(
        to,
        written_file.data,
        written_file.companions,
        written_file.losses,
        written_file.notes,
        len(text_list),
        tuple(comparison.divergences_in(text_list)),
        (tokenizer.spec.origin.format, to) in _REFERENCE_EXPORTS,
    )


def read_back(written_file: formats.Written, format: str, spec: Spec) -> Tokenizer:
    """Loads a written file as a tokenizer, with the pattern and special tokens of the Spec if it is a rank file."""
    data = written_file.data
    if format != "tiktoken":
        return Tokenizer(formats.read(data, format=format, siblings=written_file.companions))
    split = adapted(spec, format).spec.split
    pattern = split[0].pattern if split and isinstance(split[0], PatternSplit) else ""
    special = {token.text: token.id for token in spec.special}
    return Tokenizer(formats.read(data, format=format, pattern=pattern, special_tokens=special))
