"""Runs normalizers, pre-tokenizers and decoders step by step, where one of them is the caller's own in Python."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from . import alone
from .component import Component
from .normalized_string import NormalizedString, NormalizedStringRefMut
from .pre_tokenized_string import Piece, PreTokenizedString, PreTokenizedStringRefMut, run


def normalize(normalizer: Component, text: NormalizedString) -> None:
    """Normalizes a text."""
    if normalizer.object is not None:
        lent = NormalizedStringRefMut(text)
        try:
            run(lambda: normalizer.object.normalize(lent))
        finally:
            lent.release()
    elif normalizer.in_python():
        for part in normalizer.parts():
            normalize(part, text)
    else:
        text.apply(normalizer.__getstate__())


def pre_tokenize(pre_tokenizer: Component, text: PreTokenizedString) -> None:
    """Splits a text into pieces."""
    if pre_tokenizer.object is not None:
        lent = PreTokenizedStringRefMut(text)
        try:
            run(lambda: pre_tokenizer.object.pre_tokenize(lent))
        finally:
            lent.release()
    elif pre_tokenizer.members:
        for part in pre_tokenizer.parts():
            pre_tokenize(part, text)
    else:
        text.split_into(_splitter(pre_tokenizer))


def _splitter(pre_tokenizer: Component) -> Callable[[int, NormalizedString], list[Piece]]:
    state = pre_tokenizer.__getstate__()
    later_state = state
    if pre_tokenizer.fields.get("prepend_scheme") == "first":  # only at the start of the text
        later = pre_tokenizer.copy()
        later.fields["prepend_scheme"] = "never"
        later_state = later.__getstate__()

    def parts(index: int, text: NormalizedString) -> list[Piece]:
        used = state if text.original_range()[0] == 0 else later_state
        return [Piece(text.piece(part)) for part in alone.pre_tokenize_with_spans(used, text.normalized)]

    return parts


def decode(decoder: Component, tokens: list[str]) -> str:
    """Returns the text to which a decoder in Python converts tokens."""
    parts: Any = run(lambda: decoder.object.decode_chain(tokens))
    return "".join(run(_texts, parts))


def _texts(values: Any) -> list[str]:
    if not isinstance(values, (list, tuple)) or not all(isinstance(value, str) for value in values):
        raise TypeError(f"'{type(values).__name__}' object is not a list of texts")
    return list(values)
