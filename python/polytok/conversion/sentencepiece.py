"""Converts Specs to SentencePiece's dialect."""

from __future__ import annotations

from ..errors import FormatError
from ..spec import Bpe, Char, Spec, Unigram, Word, described
from .base import Converted

BPE_MODEL = Bpe("score", symbols="chars")
_SENTENCEPIECE_MODELS = (BPE_MODEL, Unigram(), Word(), Char())


def to_sentencepiece(spec: Spec, format_name: str = "SentencePiece") -> Converted:
    """Converts to the Spec of a SentencePiece model; ``format_name`` names the target format in the error."""
    if spec.model in _SENTENCEPIECE_MODELS:
        return Converted(spec)
    from . import llama2c, sentencepiece_sources

    model = spec.model
    if model == llama2c.MODEL:
        return llama2c.from_llama2c(spec)
    if isinstance(model, Bpe) and model.symbols == "chars" and model.reserved:
        return sentencepiece_sources.from_llama_cpp(spec)
    if isinstance(model, Unigram) and model.rules == "llama.cpp":
        return sentencepiece_sources.from_llama_cpp(spec)
    if isinstance(model, Unigram) or (isinstance(model, Bpe) and model.symbols == "scalars"):
        return sentencepiece_sources.from_huggingface(spec)
    raise FormatError(f"{format_name} has no model like this: {described(spec.model)}")
