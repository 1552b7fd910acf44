"""Counts the words, characters or sentences that SentencePiece's trainers need."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any, ClassVar

from ... import _core
from ...errors import ArgumentError
from ...keywords import keyword
from ..counting import Counts
from ..roles import ROLES
from .options import SentencePieceOptions

_MODELS = ("bpe", "unigram", "word", "char")
_SENTENCE_OPTIONS = (
    "sentencepiece_version",
    "sentences",
    "tsv",
    "max_sentence_length",
    "add_dummy_prefix",
    "remove_extra_whitespaces",
)
_SPLIT_OPTIONS = (
    "treat_whitespace_as_suffix",
    "allow_whitespace_only_pieces",
    "split_by_whitespace",
    "pretokenization_delimiter",
)
_SCRIPT_OPTIONS = ("split_by_unicode_script", "split_by_number", "split_digits")
_COUNTING_OPTIONS: Mapping[str, tuple[str, ...]] = {
    "bpe": (*_SENTENCE_OPTIONS, *_SPLIT_OPTIONS, *_SCRIPT_OPTIONS),
    "unigram": (*_SENTENCE_OPTIONS, *_SPLIT_OPTIONS),
    "word": (*_SENTENCE_OPTIONS, "treat_whitespace_as_suffix"),
    "char": (*_SENTENCE_OPTIONS, "treat_whitespace_as_suffix"),
}
_RULE_OPTIONS = ("normalization_rule_name", "normalization_rule_tsv", "precompiled_charsmap")
_ROLE_OPTIONS = tuple(f"{role}_{suffix}" for role in ROLES for suffix in ("id", "piece"))
_RESERVED_OPTIONS = ("control_symbols", "user_defined_symbols", "byte_fallback", *ROLES, *_ROLE_OPTIONS)


def counting_options(model: str) -> frozenset[str]:
    """Returns the names of the options that define what a model's trainer counts."""
    return frozenset({"profile", *_COUNTING_OPTIONS[model], *_RULE_OPTIONS, *_RESERVED_OPTIONS})


def describe_counts(
    model: str, options: SentencePieceOptions, reserved: Sequence[str], charsmap: bytes
) -> dict[str, Any]:
    """Returns the values that define what is counted with these options, as a JSON value."""
    return {
        "model": model,
        **{name: getattr(options, name) for name in _COUNTING_OPTIONS[model]},
        "profile": "with U+2585" if options.profile == "lossless" else "without U+2585",
        "normalization": sha256(charsmap).hexdigest(),
        "reserved": sorted(reserved),
    }


class SentenceCounts(Counts):
    """The counts of words, characters or sentences that the engine of a SentencePiece model learns from.

    ``counts_description`` is the result of `describe_counts`. Without ``options`` of the engine, the object accepts
    counts of files and other objects, but no texts.
    """

    takes_parts: ClassVar[bool] = False

    def __init__(
        self,
        model: str,
        counts_description: Mapping[str, Any],
        options: Mapping[str, Any] | None = None,
        *,
        max_memory: int | None = None,
        threads: int | None = None,
    ) -> None:
        if model not in _MODELS:
            raise ArgumentError(f"unknown model {model!r}: choose one of {', '.join(_MODELS)}")
        self.model, self._description, self._options = model, dict(counts_description), options
        super().__init__(max_memory=max_memory, threads=threads)

    def _create_counter(self) -> None:
        self._sentence_counter: _core.SentenceCounter | None = None
        if self._options is None:
            self._word_counter = _core.WordCounter(self._memory_limit())
        else:
            self._sentence_counter = _core.SentenceCounter(self.model, dict(self._options), self._memory_limit())

    def _memory_limit(self) -> tuple[int, str] | None:
        memory_limit = super()._memory_limit()
        # Unigram stores sentences too, which get half of the limit. The engine halves the limit when texts are counted,
        # but not when counts are added.
        is_halved = memory_limit is not None and self.model == "unigram" and self._options is None
        return (memory_limit[0] // 2, memory_limit[1]) if memory_limit is not None and is_halved else memory_limit

    def push(self, texts: Sequence[bytes]) -> None:
        """Counts the sentences of further texts."""
        if self._sentence_counter is None:
            raise ArgumentError(
                "these counts are finished and accept no more texts: count the texts with new counts, and merge both"
            )
        self._sentence_counter.push(list(texts))

    def _finish_counting(self) -> _core.WordCounter:
        if self._word_counter is None and self._sentence_counter is not None:
            self._word_counter = self._sentence_counter.finish()
            self._sentence_counter = None
        return super()._finish_counting()

    def skipped(self) -> tuple[int, int]:
        """Returns two counts of skipped sentences: too long sentences, and sentences with a reserved character."""
        return (0, 0) if self._sentence_counter is None else self._sentence_counter.skipped()

    @property
    def kind(self) -> str:
        """The kind of vocabulary that can be trained from the counts, for error messages."""
        return "sentencepiece-bpe" if self.model == "bpe" else self.model

    @property
    def description(self) -> dict[str, Any]:
        """The values that define what is counted, as a JSON value."""
        return self._description


_DIFFERENCE_TEXTS: Mapping[str, str] = {
    "normalization": f"the rules of normalization ({', '.join(_RULE_OPTIONS)}) differ",
    "reserved": f"the reserved pieces ({', '.join(_RESERVED_OPTIONS)}) differ",
}


def check_counts(counts: Counts, expected: SentenceCounts) -> SentenceCounts:
    """Returns the counts. Raises `ArgumentError` if the counts were counted with other options than ``expected``."""
    if not isinstance(counts, SentenceCounts) or counts.model != expected.model:
        raise ArgumentError(
            f"these counts have other words than {expected.kind} needs: use the counts to train {counts.kind}"
        )
    actual_values, expected_values = counts.description, expected.description
    different_names = [name for name in expected_values if actual_values.get(name) != expected_values[name]]
    if different_names:
        differences = (
            _DIFFERENCE_TEXTS.get(
                name,
                f"{keyword(name)} is {actual_values.get(name)!r} in the counts and {expected_values[name]!r} in this "
                "training",
            )
            for name in different_names
        )
        raise ArgumentError(
            f"these counts have other words than this training needs: {', '.join(differences)}; train with the "
            "options of the counts, or count the texts again with the options of this training"
        )
    return counts
