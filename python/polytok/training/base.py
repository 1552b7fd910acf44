"""The interface of trainers, and the table of all kinds of vocabularies."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Protocol, TypeAlias, cast

from ..checks import optional_number
from ..errors import ArgumentError
from ..keywords import keyword
from ..progress import ReportProgress
from ..spec import Spec
from ..suggestions import did_you_mean_keyword
from .counting import Counts

KindName: TypeAlias = Literal["bpe", "wordpiece", "sentencepiece-bpe", "unigram", "word", "char", "longest-match"]
"""The name of a kind of vocabulary."""


class Trainer(Protocol):
    """Receives texts and builds a Spec from them.

    The options of a trainer are the keyword arguments of its class, which checks them immediately. A trainer counts
    texts in its attribute ``counts``. The class of a trainer accepts saved ``counts`` as an argument, and checks that
    the same options were used for counting; ``counted`` has the names of the options that define the counted words. The
    class can also accept ``max_memory`` and ``threads``.

    A trainer can have these attributes:

    * ``lines``: True if the trainer splits texts into lines, so that a text can be pushed in parts of whole lines.
    * ``keeps_bytes``: True if the trainer accepts texts that are not UTF-8.
    * ``default_bad_bytes``: the default of ``bad_bytes``, if it is not "keep" for a trainer that accepts such texts.
    * ``skipped``: the counts of skipped texts or sentences, by reason.
    * ``notes``: other facts about the result to report to the user.
    """

    counted: ClassVar[frozenset[str]]
    counts: Counts

    def push(self, texts: Sequence[bytes]) -> None:
        """Adds further texts."""

    def finish(self, progress: ReportProgress | None = None) -> Spec | list[Spec]:
        """Trains and returns the Spec; returns a list of Specs if several sizes were requested."""


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of vocabulary: its name, the module and class of its trainer, and a one-line description."""

    name: str
    module: str
    trainer: str
    summary: str

    def load(self) -> type[Trainer]:
        """Imports and returns the class of the trainer."""
        return cast("type[Trainer]", getattr(importlib.import_module(f".{self.module}", __package__), self.trainer))

    def options(self) -> list[inspect.Parameter]:
        """Returns the keyword parameters of the trainer's class."""
        parameters = inspect.signature(self.load(), eval_str=True).parameters.values()
        return [parameter for parameter in parameters if parameter.kind is inspect.Parameter.KEYWORD_ONLY]

    def counted(self) -> frozenset[str]:
        """Returns the names of the options that define which words are counted."""
        return self.load().counted

    def create_trainer(self, options: dict[str, Any], resources: dict[str, Any]) -> Trainer:
        """Creates a trainer with these options, and with the resources that the trainer's class accepts.

        Raises `ArgumentError` for an unknown option and for a missing required option.
        """
        parameters = {parameter.name: parameter for parameter in self.options()}
        for name in options:
            if name not in parameters:
                option_names = ", ".join(map(keyword, sorted(parameters.keys() - resources.keys() - {"counts"})))
                suggestion = did_you_mean_keyword(name, {*parameters, *resources, "kind"})
                suggestion = suggestion or f"; the options are {option_names}"
                raise ArgumentError(f"{keyword('kind', self.name)} has no option {name!r}{suggestion}")
        missing_names = [
            name
            for name, parameter in parameters.items()
            if parameter.default is parameter.empty and name not in options and name not in resources
        ]
        if missing_names:
            raise ArgumentError(f"{keyword('kind', self.name)} needs {', '.join(map(keyword, missing_names))}")
        optional_number("threads", resources.get("threads"), least=1, most=1024)
        accepted_resources = {
            name: value for name, value in resources.items() if name in parameters and value is not None
        }
        trainer = self.load()(**options, **accepted_resources)
        if not accepted_resources.keys() & {"counts", "max_memory"}:
            trainer.counts.use(max_memory=resources.get("max_memory"), threads=resources.get("threads"))
        return trainer


KINDS: tuple[Kind, ...] = (
    Kind("bpe", "bpe", "BpeTrainer", "byte-pair encoding of bytes (minbpe, tiktoken, Hugging Face)"),
    Kind("wordpiece", "wordpiece", "WordPieceTrainer", "WordPiece as tokenizers trains it"),
    Kind("sentencepiece-bpe", "sentencepiece", "SentencePieceBpeTrainer", "SentencePiece's BPE"),
    Kind("unigram", "sentencepiece.unigram", "SentencePieceUnigramTrainer", "SentencePiece's Unigram"),
    Kind("word", "sentencepiece", "SentencePieceWordTrainer", "SentencePiece's words"),
    Kind("char", "sentencepiece", "SentencePieceCharTrainer", "SentencePiece's characters"),
    Kind("longest-match", "longest_match", "LongestMatchTrainer", "longest match (RWKV)"),
)


def kind_named(name: str) -> Kind:
    """Returns the kind with this name. Raises `ArgumentError` if no kind has the name.

    >>> kind_named("bpe").trainer
    'BpeTrainer'
    """
    kind = next((kind for kind in KINDS if kind.name == name), None)
    if kind is None:
        raise ArgumentError(
            f"unknown {keyword('kind', name)}: choose one of {', '.join(repr(kind.name) for kind in KINDS)}"
        )
    return kind
