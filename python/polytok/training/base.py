"""The interface of a trainer, and the table of all kinds."""

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
    """Receives texts and builds a Spec from them. Its options are the keyword arguments of its class, checked at once.

    Texts go to its ``counts``, which can be saved and trained from. Its class therefore accepts ``counts`` too, and
    checks them against the options that define what is counted; ``counted`` lists the names of these options. It can
    accept ``max_memory`` and ``threads``.

    A trainer can also have

    * ``lines = True``: it works on lines, so a text can be passed in parts that end with a line feed.
    * ``keeps_bytes = True``: it accepts texts that are not UTF-8.
    * ``left_out``: the number of texts or sentences it skipped, by reason.
    * ``notes``: anything else to report about the finished result.
    """

    counted: ClassVar[frozenset[str]]
    counts: Counts

    def push(self, texts: Sequence[bytes]) -> None:
        """Add texts, after all earlier ones."""

    def finish(self, progress: Report | None = None) -> Spec | list[Spec]:
        """The result; several results if several sizes are requested."""


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of vocabulary: its name, the module of its trainer, and a one-line description."""

    name: str
    module: str
    trainer: str
    summary: str

    def load(self) -> type[Trainer]:
        """The trainer's class."""
        return cast("type[Trainer]", getattr(importlib.import_module(f".{self.module}", __package__), self.trainer))

    def options(self) -> list[inspect.Parameter]:
        """The options of the trainer, as its class declares them."""
        parameters = inspect.signature(self.load(), eval_str=True).parameters.values()
        return [parameter for parameter in parameters if parameter.kind is inspect.Parameter.KEYWORD_ONLY]

    def counted(self) -> frozenset[str]:
        """The names of the options that define what is counted."""
        return self.load().counted

    def make(self, options: dict[str, Any], resources: dict[str, Any]) -> Trainer:
        """Create a trainer. ArgumentError if an option is unknown; resources go only to trainers that use them."""
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
