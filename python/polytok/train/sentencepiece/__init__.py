"""SentencePiece's vocabularies: options, reserved pieces, and the trainers of BPE, words and characters."""

from __future__ import annotations

import inspect
import tempfile
from collections.abc import Sequence
from typing import Any

import numpy as np

from ... import _core
from ...progress import Report
from ...spec import Spec
from ..options import number
from ..resources import processors, room
from .assembly import assembled
from .meta import reserved
from .normalization import denormalizer, normalizer
from .options import NAMES, Options, Profile, chosen
from .vocab_file import vocab_text

__all__ = [
    "Options",
    "Profile",
    "SentencePieceBpeTrainer",
    "SentencePieceCharTrainer",
    "SentencePieceTrainer",
    "SentencePieceWordTrainer",
    "vocab_text",
]

_ONLY_UNIGRAM = ("seed_sentencepiece_size", "seed_sentencepieces_file", "shrinking_factor", "num_sub_iterations")


class SentencePieceTrainer:
    """What the trainers share; a class for each model."""

    model: str
    keeps_bytes = True

    def __init__(self, *, max_memory: int | None = None, threads: int | None = None, **options: Any) -> None:
        self.options, self.explicit = chosen(options, self.model)
        self.lines = self.options.sentences == "lines"
        self.meta = reserved(self.options, self.model)
        self.normalize = normalizer(self.options)
        self.denormalize = denormalizer(self.options)
        self.threads = processors() if threads is None else number("threads", threads, least=1, most=1024)
        self._folder = (
            tempfile.TemporaryDirectory(prefix="polytok-", ignore_cleanup_errors=True) if max_memory else None
        )
        # What is counted takes a half: texts and Python itself have the other.
        limit = (max_memory // 2, self._folder.name) if max_memory and self._folder else None
        self._trainer = self._start(limit, room(max_memory))

    def _start(self, limit: tuple[int, str] | None, room: int | None) -> Any:
        return _core.SentencePieceTrainer(self.model, self.core_options(), limit, room)

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

    @property
    def left_out(self) -> dict[str, int]:
        """How many sentences were left out, by reason."""
        long, reserved = self._trainer.skipped()
        reasons = {f"longer than {self.options.max_sentence_length} bytes": long, "contains U+2585": reserved}
        return {reason: count for reason, count in reasons.items() if count}

    def push(self, texts: Sequence[bytes]) -> None:
        """Take more texts."""
        self._trainer.push(list(texts))

    def finish(self, progress: Report | None = None) -> Spec:
        """The vocabulary."""
        most = max(self.options.vocab_size - len(self.meta), 0)
        pieces, scores = self._trainer.finish(most, progress)
        return assembled(
            self.options, self.explicit, self.model, self.meta, pieces, scores, self.normalize, self.denormalize
        )


# What the options are, for help(), and for the command's --help.
_OPTIONS_SAID = (inspect.getdoc(Options) or "").partition("\n\n")[2]

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
        declared = inspect.signature(Options, eval_str=True).parameters
        taken = [declared[name] for name in NAMES if name not in left_out]
        for name in ("max_memory", "threads"):
            taken.append(inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=int | None))
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
