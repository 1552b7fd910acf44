"""Trains SentencePiece's Unigram, a language model of pieces."""

from __future__ import annotations

from typing import Any

from ...errors import ArgumentError
from ...keywords import keyword, marked_message
from ...progress import ReportProgress
from ...spec import Spec
from . import SentencePieceTrainer, with_options
from .seed_file import read_seeds

_NO_PIECES_MESSAGE = "training removed all pieces"
"""The start of the engine's message if words are so long that all their pieces are rounded away."""


@with_options()
class SentencePieceUnigramTrainer(SentencePieceTrainer):
    """Trains Unigram with the same pieces, ids and scores as SentencePiece.

    The last bits of the scores depend on ``num_threads``, as in SentencePiece, but not on ``threads``.

    >>> import polytok
    >>> texts = ["low lower lowest", "new newer newest"] * 10
    >>> tokenizer = polytok.train(texts, kind="unigram", vocab_size=280, hard_vocab_limit=False)
    >>> tokenizer.decode(tokenizer.encode("  lower\\n")) == "  lower\\n"
    True
    """

    model = "unigram"

    def finish(self, progress: ReportProgress | None = None) -> Spec:
        """Trains and returns the Spec.

        Raises `ArgumentError` if the texts do not allow the requested size, or contain words that are too long.
        """
        try:
            return super().finish(progress)
        except ArgumentError as error:
            if self.lines or not str(error).startswith(_NO_PIECES_MESSAGE):
                raise
            raise ArgumentError(
                f"{marked_message(error)}; with {keyword('lines', True)}, each line of a text file is a text of its own"
            ) from error

    def unigram_options(self) -> dict[str, Any]:
        """Returns the options that only Unigram has, in the form of the engine."""
        file = self.options.seed_sentencepieces_file
        return {
            "seeds": None if file is None else read_seeds(file),
            "seed_size": self.options.seed_sentencepiece_size,
            "shrinking_factor": self.options.shrinking_factor,
            "sub_iterations": self.options.num_sub_iterations,
            "lanes": self.options.num_threads,
        }
