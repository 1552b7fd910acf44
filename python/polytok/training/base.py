"""What a trainer is, and the table of all kinds."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, cast

from ..checks import optional_number
from ..errors import ArgumentError
from ..progress import Report
from ..spec import Spec
from .counting import Counts


class Trainer(Protocol):
    """Is fed texts and makes a Spec of them. Its options are the keyword arguments of its class, checked at once.

    Texts go to its ``counts``, so that they can be saved and trained from: its class takes ``counts`` too, and checks
    them against the options that say what is counted, whose names are its ``counted``. It may take ``max_memory`` and
    ``threads``.

    A trainer may also have

    * ``lines = True``: it looks at lines, so that a text may be given to it in parts that end with a line feed.
    * ``keeps_bytes = True``: it takes texts that are no UTF-8.
    * ``left_out``: how many texts or sentences it left out, by reason.
    * ``notes``: what else is to be told of the result, when it is finished.
    """

    counted: ClassVar[frozenset[str]]
    counts: Counts

    def push(self, texts: Sequence[bytes]) -> None:
        """Take more texts, behind those before."""

    def finish(self, progress: Report | None = None) -> Spec | list[Spec]:
        """The result; several, where several sizes are asked for."""


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of vocabulary: its name, where its trainer is, and what it is, in a line."""

    name: str
    module: str
    trainer: str
    summary: str

    def load(self) -> type[Trainer]:
        """The trainer's class."""
        return cast("type[Trainer]", getattr(importlib.import_module(f".{self.module}", __package__), self.trainer))

    def options(self) -> list[inspect.Parameter]:
        """What the trainer can be told, as its class declares it."""
        parameters = inspect.signature(self.load(), eval_str=True).parameters.values()
        return [parameter for parameter in parameters if parameter.kind is inspect.Parameter.KEYWORD_ONLY]

    def counted(self) -> frozenset[str]:
        """The names of the options that say what is counted."""
        return self.load().counted

    def make(self, options: dict[str, Any], resources: dict[str, Any]) -> Trainer:
        """A trainer. ArgumentError if an option is none of its; resources are for those trainers that use them."""
        known = {parameter.name: parameter for parameter in self.options()}
        for name in options:
            if name not in known:
                listed = ", ".join(sorted(known.keys() - resources.keys() - {"counts"}))
                raise ArgumentError(f"kind={self.name!r} has no option {name!r}; it has {listed}")
        missing = [
            name
            for name, parameter in known.items()
            if parameter.default is parameter.empty and name not in options and name not in resources
        ]
        if missing:
            raise ArgumentError(f"kind={self.name!r} needs {', '.join(missing)}")
        optional_number("threads", resources.get("threads"), least=1, most=1024)
        used = {name: value for name, value in resources.items() if name in known and value is not None}
        trainer = self.load()(**options, **used)
        if not used.keys() & {"counts", "max_memory"}:
            trainer.counts.use(max_memory=resources.get("max_memory"), threads=resources.get("threads"))
        return trainer


KINDS: tuple[Kind, ...] = (
    Kind("bpe", "bpe", "BpeTrainer", "byte-pair encoding of bytes (minbpe, tiktoken, Hugging Face)"),
    Kind("wordpiece", "wordpiece", "WordPieceTrainer", "WordPiece as tokenizers trains it"),
    Kind("sentencepiece-bpe", "sentencepiece", "SentencePieceBpeTrainer", "SentencePiece's BPE"),
    Kind("sentencepiece-unigram", "sentencepiece.unigram", "SentencePieceUnigramTrainer", "SentencePiece's Unigram"),
    Kind("sentencepiece-word", "sentencepiece", "SentencePieceWordTrainer", "SentencePiece's words"),
    Kind("sentencepiece-char", "sentencepiece", "SentencePieceCharTrainer", "SentencePiece's characters"),
    Kind("longest-match", "longest_match", "LongestMatchTrainer", "longest match (RWKV)"),
)


def kind_named(name: str) -> Kind:
    """The kind of this name.

    >>> kind_named("bpe").trainer
    'BpeTrainer'
    """
    found = next((kind for kind in KINDS if kind.name == name), None)
    if found is None:
        raise ArgumentError(f"kind={name!r} is none of {', '.join(repr(kind.name) for kind in KINDS)}")
    return found
