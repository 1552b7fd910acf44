"""Components that run alone: each in a tokenizer whose other components keep the text as it is."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from ...loading import load
from ...spec import NormalizeStep, SplitStep
from ...tokenizer import Tokenizer

_KEPT = 64  # the tokenizers of this many components stay compiled

# Every character is encoded as its bytes, which these decoders join again.
_BYTES: dict[str, Any] = {
    "type": "BPE",
    "byte_fallback": True,
    "vocab": {f"<0x{byte:02X}>": byte for byte in range(256)},
    "merges": [],
}
_JOIN_BYTES = {"type": "Sequence", "decoders": [{"type": "ByteFallback"}, {"type": "Fuse"}]}


def normalize(state: bytes, text: str) -> str:
    """Returns the normalized text; ``state`` is the JSON of a normalizer."""
    tokenizer = _byte_tokenizer("normalizer", state)
    return tokenizer.decode(tokenizer.encode(text))


def pre_tokenize(state: bytes, text: str) -> list[tuple[str, tuple[int, int]]]:
    """Returns the pieces of a text with their characters; ``state`` is the JSON of a pre-tokenizer."""
    tokenizer = _byte_tokenizer("pre_tokenizer", state)
    encoding = tokenizer.encoding(text)
    ids: dict[int, list[int]] = {}
    spans: dict[int, tuple[int, int]] = {}
    for id, word, (start, end) in zip(encoding.ids, encoding.word_ids, encoding.offsets, strict=True):
        if word is not None:
            ids.setdefault(word, []).append(id)
            first, last = spans.get(word, (start, end))
            spans[word] = min(first, start), max(last, end)
    return [(tokenizer.decode(word_ids), spans[word]) for word, word_ids in ids.items()]


def pieces(
    normalizer: dict[str, Any] | None,
    pre_tokenizer: dict[str, Any] | None,
    added_tokens: Sequence[dict[str, Any]],
    plain: frozenset[str] | None,
    text: str,
) -> list[str]:
    """Returns the pieces of a text that a model encodes, and the added tokens between them.

    ``plain`` has the added tokens to recognize; None for all of them.
    """
    parts = {"normalizer": normalizer, "pre_tokenizer": pre_tokenizer, "added_tokens": added_tokens}
    tokenizer = _tokenizer_of_pieces(json.dumps(parts))
    encoding = tokenizer.encoding(text, special="all" if plain is None else plain)
    is_normalized = {token.id: normalizer is not None and token.normalized for token in tokenizer.spec.special}
    rows: dict[int, list[int]] = {}
    found: dict[int, str] = {}
    for id, word, (start, end) in zip(encoding.ids, encoding.word_ids, encoding.offsets, strict=True):
        if word is not None:
            rows.setdefault(word, []).append(id)
            if id in is_normalized:
                piece = text[start:end]
                found[word] = normalize(json.dumps(normalizer).encode(), piece) if is_normalized[id] else piece
    return [found[word] if word in found else tokenizer.decode(ids) for word, ids in rows.items()]


def decode(state: bytes, tokens: Sequence[str]) -> str:
    """Returns the text of tokens; ``state`` is the JSON of a decoder."""
    vocab = {token: id for id, token in enumerate(dict.fromkeys(tokens))}
    tokenizer = _load({"model": {"type": "WordLevel", "vocab": vocab, "unk_token": ""}, "decoder": json.loads(state)})
    return tokenizer.decode([vocab[token] for token in tokens])


def tokenize(state: bytes, text: str) -> list[tuple[int, str, tuple[int, int]]]:
    """Returns the tokens of a piece (id, text, range of bytes); ``state`` is the JSON of a model."""
    encoding = _load({"model": json.loads(state)}).encoding(text)
    at = [0]  # the offset in bytes of each character
    for character in text:
        at.append(at[-1] + len(character.encode()))
    spans = [(at[start], at[end]) for start, end in encoding.offsets]
    return list(zip(encoding.ids, encoding.tokens, spans, strict=True))


def steps(
    normalizer: dict[str, Any] | None, pre_tokenizer: dict[str, Any] | None
) -> tuple[tuple[NormalizeStep, ...], tuple[SplitStep, ...]]:
    """Returns the steps of a Spec for the JSON of a normalizer and of a pre-tokenizer."""
    model = {"type": "BPE", "vocab": {"a": 0}, "merges": []}  # without bytes as entries, no step becomes part of it
    spec = _load({"model": model, "normalizer": normalizer, "pre_tokenizer": pre_tokenizer}).spec
    return spec.normalize, spec.split


@lru_cache(_KEPT)
def _tokenizer_of_pieces(parts: str) -> Tokenizer:
    return _load({"model": _BYTES, "decoder": _JOIN_BYTES, **json.loads(parts)})


@lru_cache(_KEPT)
def _byte_tokenizer(family: str, state: bytes) -> Tokenizer:
    return _load({"model": _BYTES, "decoder": _JOIN_BYTES, family: json.loads(state)})


def _load(document: dict[str, Any]) -> Tokenizer:
    return load(json.dumps({"added_tokens": [], **document}).encode(), format="huggingface")
