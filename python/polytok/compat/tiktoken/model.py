"""tiktoken.model: the encodings of OpenAI's models."""

from __future__ import annotations

from ...model_names import VOCABULARY_OF_MODEL, VOCABULARY_OF_PREFIX
from .core import Encoding
from .registry import get_encoding

__all__ = ["MODEL_PREFIX_TO_ENCODING", "MODEL_TO_ENCODING", "encoding_for_model", "encoding_name_for_model"]

MODEL_PREFIX_TO_ENCODING: dict[str, str] = dict(VOCABULARY_OF_PREFIX)
MODEL_TO_ENCODING: dict[str, str] = dict(VOCABULARY_OF_MODEL)


def encoding_name_for_model(model_name: str) -> str:
    """Returns the name of a model's encoding. Raises `KeyError` for an unknown model."""
    if model_name in MODEL_TO_ENCODING:
        return MODEL_TO_ENCODING[model_name]
    for prefix, encoding_name in MODEL_PREFIX_TO_ENCODING.items():
        if model_name.startswith(prefix):
            return encoding_name
    raise KeyError(
        f"Could not automatically map {model_name} to a tokeniser. Please use `tiktoken.get_encoding` with the name of "
        "the encoding."
    )


def encoding_for_model(model_name: str) -> Encoding:
    """Returns a model's encoding. Raises `KeyError` for an unknown model."""
    return get_encoding(encoding_name_for_model(model_name))
