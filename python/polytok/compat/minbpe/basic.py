"""minbpe.basic: merges over whole texts, without a pattern or special tokens."""

from __future__ import annotations

from collections.abc import Iterable

from .base import Tokenizer, get_stats, merge

__all__ = ["BasicTokenizer", "Tokenizer", "get_stats", "merge"]


class BasicTokenizer(Tokenizer):
    """minbpe.BasicTokenizer."""

    def train(self, text: str, vocab_size: int, verbose: bool = False) -> None:
        """Learns ``vocab_size - 256`` merges. Raises ValueError if the text has fewer pairs."""
        self._learn(text, vocab_size, verbose, None)

    def decode(self, ids: Iterable[int]) -> str:
        """Returns the text of ids. Raises KeyError for an unknown id."""
        return b"".join(map(self.vocab.__getitem__, ids)).decode("utf-8", errors="replace")

    def encode(self, text: str) -> list[int]:
        """Returns the ids of a text."""
        return self._encode_plain(text, None)
