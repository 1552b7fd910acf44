"""Normalizes texts by polytok's engine."""

from __future__ import annotations

from functools import partial
from typing import Any

from ..._core import sentencepiece_normalize, sentencepiece_normalize_with_offsets
from ...spec import Char, Kind, Origin, SentencePieceNormalize, Spec, Vocab
from ...tokenizer import Tokenizer
from .inputs import utf8


class NormalizingEngine:
    """The normalizer of a tokenizer of SentencePiece."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self.normalized = partial(sentencepiece_normalize, tokenizer._core)
        """Returns the normalized form of a text; ``returns_str`` decides whether it is a str or bytes."""
        self.with_offsets = partial(sentencepiece_normalize_with_offsets, tokenizer._core)
        """Returns the same, with the offset in the text of each character or byte, and of the end."""

    @classmethod
    def of_step(cls, step: SentencePieceNormalize) -> NormalizingEngine:
        """Returns the engine of a normalizer that has no model.

        >>> NormalizingEngine.of_step(SentencePieceNormalize()).text(b" a  b")
        b'\\xe2\\x96\\x81a\\xe2\\x96\\x81b'
        """
        vocab = Vocab.from_rows([(b"<unk>", 0, 0.0, Kind.UNKNOWN)])
        return cls(Tokenizer(Spec(vocab=vocab, model=Char(), normalize=(step,), origin=Origin("sentencepiece"))))

    def text(self, text: bytes) -> bytes:
        """Returns a normalized text."""
        normalized: bytes = self.normalized(text, False)
        return normalized


def normalized(engine: NormalizingEngine, input: Any, with_offsets: Any) -> Any:
    """Returns a normalized text in the type of the input, with the offset of each character (of bytes: of each
    byte)."""
    text = input if type(input) is str and input.isascii() else utf8(input)
    returns_str = not isinstance(input, bytes)
    if not with_offsets:
        return engine.normalized(text, returns_str)
    result, offsets = engine.with_offsets(text, returns_str)
    if not result and offsets == [len(input)]:  # nothing but spaces, where SentencePiece returns no offsets
        return result, [0] if returns_str else []
    return result, offsets
