"""rustbpe's Tokenizer, run by polytok: the same merges and ids.

>>> from polytok.compat import rustbpe
>>> tokenizer = rustbpe.Tokenizer()
>>> tokenizer.train_from_iterator(["the theatre then the "], vocab_size=258)
>>> tokenizer.get_mergeable_ranks()[256:]
[(b'he', 256), (b'the', 257)]
>>> tokenizer.decode(tokenizer.encode("the then"))
'the then'
"""

from __future__ import annotations

from collections.abc import Iterable

from ..spec import Bpe, Origin, Spec
from ..tokenizer import Tokenizer as Engine
from ..training.bpe import BpeTrainer
from ..training.bpe_learning import LearningOptions, SymbolOptions, learn
from .face import Face

__all__ = ["Tokenizer"]

__polytok_face__ = Face("rustbpe", ("0.1.0",))

_BYTES = [bytes([byte]) for byte in range(256)]
_PATTERN = (
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+"
)


class Tokenizer:
    """rustbpe.Tokenizer."""

    def __init__(self) -> None:
        self._pattern = ""
        self._pieces = _BYTES
        self._engine: Engine | None = None

    def train_from_iterator(
        self, iterator: Iterable[str], vocab_size: int, buffer_size: int = 8192, pattern: str | None = None
    ) -> None:
        """Learns at most ``vocab_size - 256`` merges. ``buffer_size`` texts are counted together, which has no effect
        on the merges."""
        if vocab_size < 256:
            raise ValueError("vocab_size must be at least 256")
        pattern = _PATTERN if pattern is None else pattern
        trainer = BpeTrainer(vocab_size=256, pattern=pattern)
        buffer: list[bytes] = []
        for text in iterator:
            if not isinstance(text, str):
                raise TypeError(f"'{type(text).__name__}' object cannot be cast as 'str'")
            buffer.append(text.encode("utf-8"))
            if len(buffer) >= buffer_size:
                trainer.push(buffer)
                buffer = []
        trainer.push(buffer)
        learned = learn(trainer.counts.counter(), SymbolOptions("bytes"), _BYTES, LearningOptions(vocab_size))
        vocab = learned.vocab()
        model = Bpe("merges", merges=learned.merges)
        self._engine = Engine(Spec(vocab=vocab, model=model, split=trainer.counts.split, origin=Origin("trained")))
        self._pattern, self._pieces = pattern, vocab.pieces()

    @property
    def vocab_size(self) -> int:
        """The number of entries: 256 bytes and the merges."""
        return len(self._pieces)

    def get_pattern(self) -> str:
        """Returns the pattern that splits texts; "" before training."""
        return self._pattern

    def get_mergeable_ranks(self) -> list[tuple[bytes, int]]:
        """Returns the entries and their ranks, for tiktoken."""
        return [(piece, rank) for rank, piece in enumerate(self._pieces)]

    def encode(self, text: str) -> list[int]:
        """Returns the ids of a text; none before training."""
        if not isinstance(text, str):
            raise TypeError(f"argument 'text': '{type(text).__name__}' object cannot be cast as 'str'")
        return [] if self._engine is None else self._engine.encode(text.encode("utf-8"))

    def decode(self, ids: Iterable[int]) -> str:
        """Returns the text of ids. Raises ValueError for an unknown id, and for bytes that are not UTF-8."""
        pieces = self._pieces
        parts: list[bytes] = []
        for id in ids:
            if not 0 <= id < len(pieces):
                raise ValueError(f"Unknown token id: {id}")
            parts.append(pieces[id])
        return b"".join(parts).decode("utf-8")

    def batch_encode(self, texts: Iterable[str]) -> list[list[int]]:
        """Returns the ids of many texts, which are encoded in several threads."""
        if self._engine is None:
            return [self.encode(text) for text in texts]
        return self._engine.encode_batch([text.encode("utf-8") for text in texts]).to_list()
