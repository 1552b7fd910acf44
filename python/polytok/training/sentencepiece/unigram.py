"""SentencePiece's Unigram: a language model over pieces."""

from __future__ import annotations

from typing import Any

from . import SentencePieceTrainer, with_options
from .seed_file import seeds


@with_options()
class SentencePieceUnigramTrainer(SentencePieceTrainer):
    """SentencePiece's Unigram: the same pieces, ids and scores as its own trainer.

    The last bits of the scores depend on ``num_threads``, as they do in SentencePiece, but not on ``threads``.

    >>> import polytok
    >>> texts = ["low lower lowest", "new newer newest"] * 10
    >>> tokenizer = polytok.train(texts, kind="sentencepiece-unigram", vocab_size=280, hard_vocab_limit=False)
    >>> tokenizer.decode(tokenizer.encode("  lower\\n")) == "  lower\\n"
    True
    """

    model = "unigram"

    def fit(self) -> dict[str, Any]:
        """Options that only Unigram's engine takes."""
        file = self.options.seed_sentencepieces_file
        return {
            "seeds": None if file is None else seeds(file),
            "seed_size": self.options.seed_sentencepiece_size,
            "shrinking_factor": self.options.shrinking_factor,
            "sub_iterations": self.options.num_sub_iterations,
            "lanes": self.options.num_threads,
        }
