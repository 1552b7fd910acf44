"""What is, or can be put as, a SentencePiece model."""

from __future__ import annotations

from ..errors import FormatError
from ..spec import Bpe, Char, Spec, Unigram, Word
from .base import Converted

BPE = Bpe("score", symbols="chars")
_MODELS = (BPE, Unigram(), Word(), Char())


def to_sentencepiece(spec: Spec) -> Converted:
    """As a SentencePiece model's Spec."""
    if spec.model in _MODELS:
        return Converted(spec)
    from . import llama2c

    if spec.model == llama2c.MODEL:
        return llama2c.from_llama2c(spec)
    raise FormatError(f"SentencePiece has no model like this: {spec.model!r:.100}")
