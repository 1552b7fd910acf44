"""Trains SentencePiece's vocabularies: BPE, words and characters here, Unigram in unigram.py."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from ... import _core
from ...checks import number
from ...errors import ArgumentError
from ...keywords import engine_keywords, keyword
from ...progress import ReportProgress
from ...resources import processors
from ...spec import Spec
from ..counting import Counts
from .assembly import build_spec
from .counts import SentenceCounts, check_counts, counting_options, describe_counts
from .meta import reserved_pieces
from .normalization import create_denormalizer, create_normalizer
from .options import NAMES, Profile, SentencePieceOptions, resolve_options
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

_UNIGRAM_OPTIONS = ("seed_sentencepiece_size", "seed_sentencepieces_file", "shrinking_factor", "num_sub_iterations")


class SentencePieceTrainer:
    """The base class of the trainers of all SentencePiece models."""

    model: str
    counted: ClassVar[frozenset[str]]
    keeps_bytes = True
    default_bad_bytes = "error"  # spm_train reads such bytes as U+FFFD, without a report

    def __init__(
        self,
        *,
        max_memory: int | None = None,
        threads: int | None = None,
        counts: Counts | None = None,
        **options: Any,
    ) -> None:
        self.options, self.explicit_names = resolve_options(options, self.model)
        self.lines = self.options.sentences == "lines"
        self.reserved_by_id = reserved_pieces(self.options, self.model)
        self.normalize = create_normalizer(self.options)
        self.denormalize = create_denormalizer(self.options)
        self.threads = processors() if threads is None else number("threads", threads, least=1, most=1024)
        counts_description = describe_counts(
            self.model, self.options, [text for text, _ in self.reserved_by_id.values()], self.normalize.charsmap
        )
        self._has_given_counts = counts is not None
        if counts is None:
            self.counts = SentenceCounts(
                self.model, counts_description, self.core_options(), max_memory=max_memory, threads=threads
            )
        elif self.options.input_sentence_size:
            raise ArgumentError(
                f"{keyword('input_sentence_size')} selects sentences, but the counts are of all sentences: remove "
                f"{keyword('input_sentence_size')}, or train from the texts"
            )
        else:
            self.counts = check_counts(counts, SentenceCounts(self.model, counts_description))

    def core_options(self) -> dict[str, Any]:
        """Returns the options in the form of the engine."""
        core_options = {name: getattr(self.options, name) for name in _CORE_OPTIONS}
        max_length = self.options.max_sentence_length
        return {
            **core_options,
            "meta": [text.encode() for text, _ in self.reserved_by_id.values()],
            "charsmap": self.normalize.charsmap,
            "is_tsv": self.options.tsv,
            "max_sentence_length": np.iinfo(np.int64).max if max_length is None else max_length,
            "keeps_reserved": self.options.profile == "lossless",
            "threads": self.threads,
        }

    def unigram_options(self) -> dict[str, Any] | None:
        """Returns the options that only Unigram has, in the form of the engine; None for other models."""
        return None

    @property
    def skipped(self) -> dict[str, int]:
        """The counts of skipped sentences, by reason."""
        long_count, reserved_count = self.counts.skipped()
        reasons = {
            f"longer than {self.options.max_sentence_length} bytes": long_count,
            "contains U+2585": reserved_count,
        }
        return {reason: count for reason, count in reasons.items() if count}

    def push(self, texts: Sequence[bytes]) -> None:
        """Counts the sentences of further texts."""
        self.counts.push(texts)

    def finish(self, progress: ReportProgress | None = None) -> Spec:
        """Trains and returns the Spec. Raises `ArgumentError` if the texts do not allow the requested size."""
        with engine_keywords("vocab_size", "character_coverage"):
            pieces, scores = _core.train_sentencepiece(
                self.model,
                self.counts.counter(),
                self.core_options(),
                max(self.options.vocab_size - len(self.reserved_by_id), 0),
                keep=self._has_given_counts,
                room=self.counts.room,
                fit=self.unigram_options(),
                progress=progress,
            )
        return build_spec(
            self.options,
            self.explicit_names,
            self.model,
            self.reserved_by_id,
            pieces,
            scores,
            self.normalize,
            self.denormalize,
        )


# The descriptions of the options, which are appended to the docstrings of the trainers for help() and --help.
_OPTION_DESCRIPTIONS = (inspect.getdoc(SentencePieceOptions) or "").partition("\n\n")[2]

_CORE_OPTIONS = (
    "sentencepiece_version",
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


def with_options(*excluded_names: str) -> Any:
    """Returns a decorator that sets the signature and docstring of a trainer's class from the options.

    The command and `polytok.training` read the options of a kind from this signature. ``excluded_names`` are the
    options that the trainer does not have.
    """

    def decorate(cls: type[SentencePieceTrainer]) -> type[SentencePieceTrainer]:
        all_parameters = inspect.signature(SentencePieceOptions, eval_str=True).parameters
        parameters = [all_parameters[name] for name in NAMES if name not in excluded_names]
        for name in ("max_memory", "threads"):
            parameters.append(
                inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=int | None)
            )
        parameters.append(
            inspect.Parameter("counts", inspect.Parameter.KEYWORD_ONLY, default=None, annotation=Counts | None)
        )
        cls.counted = counting_options(cls.model)
        cls.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        cls.__doc__ = f"{cls.__doc__}\n{_OPTION_DESCRIPTIONS}"
        return cls

    return decorate


@with_options(*_UNIGRAM_OPTIONS)
class SentencePieceBpeTrainer(SentencePieceTrainer):
    """Trains BPE with the same pieces, ids and scores as SentencePiece.

    >>> import polytok
    >>> texts = ["low lower lowest", "new newer newest"]
    >>> tokenizer = polytok.train(texts, kind="sentencepiece-bpe", vocab_size=275)
    >>> tokenizer.decode(tokenizer.encode("  lower\\n")) == "  lower\\n"
    True
    """

    model = "bpe"


@with_options(*_UNIGRAM_OPTIONS, "pretokenization_delimiter")
class SentencePieceWordTrainer(SentencePieceTrainer):
    """Trains SentencePiece's model of words: the pieces are the most frequent words, with their log probabilities."""

    model = "word"


@with_options(*_UNIGRAM_OPTIONS, "pretokenization_delimiter")
class SentencePieceCharTrainer(SentencePieceTrainer):
    """Trains SentencePiece's model of characters: the pieces are the characters, with their log probabilities."""

    model = "char"
