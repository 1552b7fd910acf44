"""SentencePiece's vocabularies: options, reserved pieces, and the trainers of BPE, words and characters."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from ... import _core
from ...checks import number
from ...errors import ArgumentError
from ...progress import Report
from ...resources import processors
from ...spec import Spec
from ..counting import Counts
from .assembly import assembled
from .counts import SentenceCounts, checked, counted, description
from .meta import reserved
from .normalization import denormalizer, normalizer
from .options import NAMES, Profile, SentencePieceOptions, chosen
from .vocab_file import vocab_text

__all__ = [
    "Profile",
    "SentencePieceBpeTrainer",
    "SentencePieceCharTrainer",
    "SentencePieceOptions",
    "SentencePieceTrainer",
    "SentencePieceWordTrainer",
    "vocab_text",
]

_ONLY_UNIGRAM = ("seed_sentencepiece_size", "seed_sentencepieces_file", "shrinking_factor", "num_sub_iterations")


class SentencePieceTrainer:
    """What the trainers share; each model has its own class."""

    model: str
    counted: ClassVar[frozenset[str]]
    keeps_bytes = True

    def __init__(
        self,
        *,
        max_memory: int | None = None,
        threads: int | None = None,
        counts: Counts | None = None,
        **options: Any,
    ) -> None:
        self.options, self.explicit = chosen(options, self.model)
        self.lines = self.options.sentences == "lines"
        self.meta = reserved(self.options, self.model)
        self.normalize = normalizer(self.options)
        self.denormalize = denormalizer(self.options)
        self.threads = processors() if threads is None else number("threads", threads, least=1, most=1024)
        described = description(
            self.model, self.options, [text for text, _ in self.meta.values()], self.normalize.charsmap
        )
        self._is_given = counts is not None
        if counts is None:
            self.counts = SentenceCounts(
                self.model, described, self.core_options(), max_memory=max_memory, threads=threads
            )
        elif self.options.input_sentence_size:
            raise ArgumentError(
                "input_sentence_size takes some sentences of a text, and counts are of all: leave it out, or train "
                "from the texts"
            )
        else:
            self.counts = checked(counts, SentenceCounts(self.model, described))

    def core_options(self) -> dict[str, Any]:
        """The options as the engine takes them."""
        shared = {name: getattr(self.options, name) for name in _SHARED}
        longest = self.options.max_sentence_length
        return {
            **shared,
            "meta": [text.encode() for text, _ in self.meta.values()],
            "charsmap": self.normalize.charsmap,
            "is_tsv": self.options.tsv,
            "max_sentence_length": np.iinfo(np.int64).max if longest is None else longest,
            "keeps_reserved": self.options.profile == "lossless",
            "threads": self.threads,
        }

    def fit(self) -> dict[str, Any] | None:
        """Options that only Unigram's engine takes."""
        return None

    @property
    def left_out(self) -> dict[str, int]:
        """The number of skipped sentences, by reason."""
        long, reserved = self.counts.skipped()
        reasons = {f"longer than {self.options.max_sentence_length} bytes": long, "contains U+2585": reserved}
        return {reason: count for reason, count in reasons.items() if count}

    def push(self, texts: Sequence[bytes]) -> None:
        """Add texts."""
        self.counts.push(texts)

    def finish(self, progress: Report | None = None) -> Spec:
        """The vocabulary."""
        pieces, scores = _core.train_sentencepiece(
            self.model,
            self.counts.counter(),
            self.core_options(),
            max(self.options.vocab_size - len(self.meta), 0),
            keep=self._is_given,
            room=self.counts.room,
            fit=self.fit(),
            progress=progress,
        )
        return assembled(
            self.options, self.explicit, self.model, self.meta, pieces, scores, self.normalize, self.denormalize
        )


# The descriptions of the options, for help() and for the command's --help.
_OPTIONS_SAID = (inspect.getdoc(SentencePieceOptions) or "").partition("\n\n")[2]

_SHARED = (
    "line",
    "vocab_size",
    "add_dummy_prefix",
    "remove_extra_whitespaces",
    "sentences",
    "input_sentence_size",
    "shuffle_input_sentence",
    "character_coverage",
    "auto_character_coverage",
    "required_chars",
    "use_all_vocab",
    "max_sentencepiece_length",
    "split_by_unicode_script",
    "split_by_whitespace",
    "split_by_number",
    "split_digits",
    "treat_whitespace_as_suffix",
    "allow_whitespace_only_pieces",
    "pretokenization_delimiter",
)


def with_options(*left_out: str) -> Any:
    """Gives a trainer's class the signature and the description of its options, so that they can be listed."""

    def decorate(cls: type[SentencePieceTrainer]) -> type[SentencePieceTrainer]:
        declared = inspect.signature(SentencePieceOptions, eval_str=True).parameters
        taken = [declared[name] for name in NAMES if name not in left_out]
        for name in ("max_memory", "threads"):
            taken.append(inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=int | None))
        taken.append(
            inspect.Parameter("counts", inspect.Parameter.KEYWORD_ONLY, default=None, annotation=Counts | None)
        )
        cls.counted = counted(cls.model)
        cls.__signature__ = inspect.Signature(taken)  # type: ignore[attr-defined]
        cls.__doc__ = f"{cls.__doc__}\n{_OPTIONS_SAID}"
        return cls

    return decorate


@with_options(*_ONLY_UNIGRAM)
class SentencePieceBpeTrainer(SentencePieceTrainer):
    """SentencePiece's BPE: the same pieces, ids and scores as its own trainer.

    >>> import polytok
    >>> texts = ["low lower lowest", "new newer newest"]
    >>> tokenizer = polytok.train(texts, kind="sentencepiece-bpe", vocab_size=275)
    >>> tokenizer.decode(tokenizer.encode("  lower\\n")) == "  lower\\n"
    True
    """

    model = "bpe"


@with_options(*_ONLY_UNIGRAM, "pretokenization_delimiter")
class SentencePieceWordTrainer(SentencePieceTrainer):
    """SentencePiece's words: the most frequent ones, with their log probabilities."""

    model = "word"


@with_options(*_ONLY_UNIGRAM, "pretokenization_delimiter")
class SentencePieceCharTrainer(SentencePieceTrainer):
    """SentencePiece's characters: the alphabet, with log probabilities."""

    model = "char"
