"""Converts a tokenizer to a file of another format, reports the losses, and compares the file with the tokenizer."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import NoReturn

from . import checks, probes
from .checked import checked
from .conversion import beside, read_back, write
from .conversion.base import first_items
from .conversion.roles import ROLE_ADVICE, lost_roles, refuse_lost_roles
from .divergence import Comparison, Divergence
from .errors import PolytokError
from .loading import AnyTokenizer, as_tokenizer
from .tokenizer import Tokenizer
from .values import FormatName, Text

# The formats of models whose export to another format is a part of the other format's own program.
_REFERENCE_EXPORTS = frozenset({("sentencepiece", "llama2c")})


@dataclass(frozen=True, slots=True)
class Conversion:
    """A written file, its losses, and the result of the comparison.

    ``losses`` are differences in the ids of valid UTF-8, or in the text of ids; ``notes`` are all other differences.
    ``checked`` is the number of texts that both tokenizers encoded; ``divergences`` are the texts with different ids.
    ``decoded`` has the texts with the same ids from which both tokenizers decode different bytes: pairs of the results.
    ``lost_roles`` maps the names of roles, such as bos and eos, that the file does not have to their ids.
    ``is_reference_export`` is true if the reference program of the format writes the same bytes from such a model, so
    that all losses are its own differences.
    """

    format: FormatName
    data: bytes
    companions: Mapping[str, bytes]
    losses: tuple[str, ...]
    notes: tuple[str, ...]
    checked: int
    divergences: tuple[Divergence, ...]
    decoded: tuple[tuple[bytes, bytes], ...] = ()
    lost_roles: Mapping[str, int] = field(default_factory=dict)
    is_reference_export: bool = False

    @property
    def same_ids(self) -> int:
        """The number of texts with the same ids."""
        return self.checked - len(self.divergences)

    @property
    def keeps_everything(self) -> bool:
        """Whether nothing is lost, all texts have the same ids, and these ids decode to the same texts."""
        return not (self.losses or self.divergences or self.decoded or self.lost_roles)

    @property
    def decodes_differently(self) -> bool:
        """Whether some ids decode to another text: those of a compared text, or those of other texts."""
        return bool(self.decoded) or any(loss.startswith("decode:") for loss in self.losses)

    @property
    def summary(self) -> str:
        """The result in one line.

        >>> import polytok
        >>> convert(polytok.load("default"), "huggingface").summary
        'kept: everything; 452 of 452 texts have the same ids'
        """
        if self.is_reference_export:
            return f"the same bytes as {self.format}'s own export"
        if self.keeps_everything:
            return f"kept: everything; {self.same_ids_text}"
        same_texts = "" if self.divergences or self.decodes_differently else " and decode to the same texts"
        return "; ".join([self.same_ids_text + same_texts, *self.other_losses()])

    @property
    def same_ids_text(self) -> str:
        """The number of texts with the same ids, in words."""
        return f"{self.same_ids} of {self.checked} texts have the same ids"

    def other_losses(self) -> Iterator[str]:
        """Yields what is lost besides ids, each in a few words: special tokens, texts that are decoded differently, and
        roles."""
        if any(loss.startswith("special:") for loss in self.losses):
            yield "special tokens differ"
        if self.decoded:
            yield f"the ids of {len(self.decoded)} decode to another text"
        elif self.decodes_differently:
            yield "some texts are decoded differently"
        if self.lost_roles:
            has_other_name = self.format == "wordpiece" and not self.companions
            yield f"lost: {', '.join(self.lost_roles)}{ROLE_ADVICE if has_other_name else ''}"


@checked(path=checks.path)
def convert(
    tokenizer: AnyTokenizer,
    to: FormatName,
    *,
    strict: bool = False,
    texts: Iterable[Text] | None = None,
    path: str | os.PathLike[str] | None = None,
) -> Conversion:
    """Writes a tokenizer in the format ``to``, reads the file, and compares both tokenizers on texts.

    ``tokenizer`` is a `polytok.Tokenizer`, or what `polytok.load` accepts. ``path`` is the file that will be written,
    whose name and folder decide about additional files. By default, ``texts`` are known difficult texts and texts
    generated from the vocabulary's entries. With ``strict``, any loss raises `LossError`, also the loss of a role such
    as eos. Raises `FormatError` if the format cannot express the tokenizer.

    >>> conversion = convert("default", "huggingface")
    >>> conversion.losses, conversion.divergences
    ((), ())
    """
    tokenizer = as_tokenizer(tokenizer)
    target = None if path is None else Path(path)
    written_file = write(tokenizer.spec, to, strict=strict)
    if target is not None:
        written_file = beside(written_file, target, to)
    text_list: Sequence[Text] = list(probes.texts(tokenizer.spec) if texts is None else texts)
    written_tokenizer = Tokenizer(read_back(written_file, to, tokenizer.spec))
    roles = lost_roles(tokenizer.spec, written_tokenizer.spec)
    if strict:
        refuse_lost_roles(roles, to, target)
    comparison = Comparison(tokenizer, written_tokenizer)
    divergences = tuple(comparison.divergences_in(text_list))
    return Conversion(
        to,
        written_file.data,
        written_file.companions,
        written_file.losses,
        (*written_file.notes, *_new_special_tokens(tokenizer, written_tokenizer)),
        len(text_list),
        divergences,
        tuple(_decoded_differently(tokenizer, written_tokenizer, text_list, divergences)),
        roles,
        (tokenizer.spec.origin.format, to) in _REFERENCE_EXPORTS,
    )


def _new_special_tokens(left: Tokenizer, right: Tokenizer) -> Iterator[str]:
    """Yields a note if the written file recognizes further special tokens, such as ``<unk>``."""
    texts = sorted(right.special_tokens.keys() - left.special_tokens.keys())
    if texts:
        noun = "special tokens" if len(texts) > 1 else "a special token"
        yield f"special: {first_items(texts)} {'become' if len(texts) > 1 else 'becomes'} {noun}"


def _decoded_differently(
    left: Tokenizer, right: Tokenizer, texts: Sequence[Text], divergences: Sequence[Divergence]
) -> Iterator[tuple[bytes, bytes]]:
    """Yields what both tokenizers decode, for texts with the same ids that they decode differently."""
    divergent_texts = {divergence.text for divergence in divergences}
    for text in texts:
        data = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else bytes(text)
        if data in divergent_texts:
            continue
        try:
            ids = left.encode(text)
            results = left.decode_bytes(ids), right.decode_bytes(ids)
        except PolytokError:  # both refuse the text
            continue
        if results[0] != results[1]:
            yield results


class _Module(ModuleType):
    def __call__(self, *arguments: object, **keywords: object) -> NoReturn:
        raise TypeError(
            "polytok.convert is a module: call polytok.convert.convert(tokenizer, format), or write a file with "
            "polytok.load(path).save(new_path)"
        )


sys.modules[__name__].__class__ = _Module
