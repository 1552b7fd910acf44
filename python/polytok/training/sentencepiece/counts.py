"""What SentencePiece's trainers count in sentences; the counts can be saved, added up, and trained from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any, ClassVar

from ... import _core
from ...errors import ArgumentError
from ..counting import Counts
from .options import SentencePieceOptions

_MODELS = ("bpe", "unigram", "word", "char")
_ALL = ("line", "sentences", "tsv", "max_sentence_length", "add_dummy_prefix", "remove_extra_whitespaces")
_CUT = (
    "treat_whitespace_as_suffix",
    "allow_whitespace_only_pieces",
    "split_by_whitespace",
    "pretokenization_delimiter",
)
_SCRIPTS = ("split_by_unicode_script", "split_by_number", "split_digits")
_SHAPING: Mapping[str, tuple[str, ...]] = {
    "bpe": (*_ALL, *_CUT, *_SCRIPTS),
    "unigram": (*_ALL, *_CUT),
    "word": (*_ALL, "treat_whitespace_as_suffix"),
    "char": (*_ALL, "treat_whitespace_as_suffix"),
}
_RULES = ("normalization_rule_name", "normalization_rule_tsv", "precompiled_charsmap")
_ROLES = tuple(f"{role}_{what}" for role in ("unk", "bos", "eos", "pad") for what in ("id", "piece"))
_RESERVED = ("control_symbols", "user_defined_symbols", "byte_fallback", *_ROLES)


def counted(model: str) -> frozenset[str]:
    """The names of the options that define what is counted."""
    return frozenset({"profile", *_SHAPING[model], *_RULES, *_RESERVED})


def description(model: str, options: SentencePieceOptions, reserved: Sequence[str], charsmap: bytes) -> dict[str, Any]:
    """What is counted with these options, as a JSON value."""
    return {
        "model": model,
        **{name: getattr(options, name) for name in _SHAPING[model]},
        "profile": "with U+2585" if options.profile == "lossless" else "without U+2585",
        "normalization": sha256(charsmap).hexdigest(),
        "reserved": sorted(reserved),
    }


class SentenceCounts(Counts):
    """Words, or whatever else a model's trainer takes from sentences, as its engine counts them.

    ``described`` is what is counted. Without the engine's ``options``, other counts can be added, but no texts.
    """

    takes_parts: ClassVar[bool] = False

    def __init__(
        self,
        model: str,
        described: Mapping[str, Any],
        options: Mapping[str, Any] | None = None,
        *,
        max_memory: int | None = None,
        threads: int | None = None,
    ) -> None:
        if model not in _MODELS:
            raise ArgumentError(f"there is no model {model!r}")
        self.model, self._described, self._options = model, dict(described), options
        super().__init__(max_memory=max_memory, threads=threads)

    def _start(self) -> None:
        self._sentences: _core.SentenceCounter | None = None
        if self._options is None:
            self._counted = _core.WordCounter(self._limit())
        else:
            self._sentences = _core.SentenceCounter(self.model, dict(self._options), self._limit())

    def _limit(self) -> tuple[int, str] | None:
        limit = super()._limit()
        # Unigram's sentences take the same amount again; the engine knows about it only if it counts them itself.
        is_shared = limit is not None and self.model == "unigram" and self._options is None
        return (limit[0] // 2, limit[1]) if limit is not None and is_shared else limit

    def push(self, texts: Sequence[bytes]) -> None:
        """Count the sentences of texts, after all earlier ones."""
        if self._sentences is None:
            raise ArgumentError("these counts are finished: count other texts apart, and merge the two")
        self._sentences.push(list(texts))

    def _finished(self) -> _core.WordCounter:
        if self._counted is None and self._sentences is not None:
            self._counted = self._sentences.finish()
            self._sentences = None
        return super()._finished()

    def skipped(self) -> tuple[int, int]:
        """The number of skipped sentences: too long ones, and those with a reserved character."""
        return (0, 0) if self._sentences is None else self._sentences.skipped()

    @property
    def kind(self) -> str:
        """The kinds that can be trained from them."""
        return f"sentencepiece-{self.model}"

    @property
    def description(self) -> dict[str, Any]:
        """What is counted, as a JSON value."""
        return self._described


_SAID: Mapping[str, str] = {
    "normalization": f"the rules of normalization ({', '.join(_RULES)}) are others",
    "reserved": f"the reserved pieces ({', '.join(_RESERVED)}) are others",
}


def checked(counts: Counts, expected: SentenceCounts) -> SentenceCounts:
    """The counts; ArgumentError if they differ from those that the options require."""
    if not isinstance(counts, SentenceCounts) or counts.model != expected.model:
        raise ArgumentError(f"these counts are of other words: they are for {counts.kind}, not {expected.kind}")
    there, here = counts.description, expected.description
    other = [name for name in here if there.get(name) != here[name]]
    if other:
        listed = (_SAID.get(name, f"{name} is {there.get(name)!r} in them and {here[name]!r} here") for name in other)
        raise ArgumentError(
            f"these counts are of other words: {', '.join(listed)}; train with the options that they were counted "
            "with, or count the texts again with these"
        )
    return counts
