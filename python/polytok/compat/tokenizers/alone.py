"""Components that run alone: each in a tokenizer whose other components keep the text as it is."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Any, NamedTuple

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


class Piece(NamedTuple):
    """A text that was rewritten from another; ``spans`` has the character of the other for each of its characters."""

    text: str
    spans: list[tuple[int, int]]


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


def normalize_with_spans(state: bytes, text: str) -> Piece:
    """Returns the normalized text, with the character of the text for each of its characters."""
    tokenizer = _byte_tokenizer("normalizer", state)
    encoding = tokenizer.encoding(text)
    return _piece(tokenizer, encoding.ids, encoding.offsets)


def pre_tokenize_with_spans(state: bytes, text: str) -> list[Piece]:
    """Returns the pieces of a text, with the character of the text for each of their characters."""
    tokenizer = _byte_tokenizer("pre_tokenizer", state)
    encoding = tokenizer.encoding(text)
    words: dict[int, tuple[list[int], list[tuple[int, int]]]] = {}
    for id, word, span in zip(encoding.ids, encoding.word_ids, encoding.offsets, strict=True):
        if word is not None:
            ids, spans = words.setdefault(word, ([], []))
            ids.append(id)
            spans.append(span)
    return [_piece(tokenizer, *word) for word in words.values()]


def _piece(tokenizer: Tokenizer, ids: list[int], spans: list[tuple[int, int]]) -> Piece:
    """Returns the text of ids of bytes, with the span of each character's first byte."""
    text = tokenizer.decode(ids)
    starts, at = [], 0
    for character in text:
        starts.append(at)
        at += len(character.encode())
    return Piece(text, [spans[start] for start in starts])


def matches(pattern: str, text: str) -> list[tuple[int, int, bool]]:
    """Returns the matches of a pattern and the text between them, as ranges of characters with "is a match".

    ``pattern`` is the JSON of a pattern.
    """
    split = {"type": "Split", "pattern": json.loads(pattern), "behavior": "Isolated", "invert": False}
    all_spans = [span for _, span in pre_tokenize(json.dumps(split).encode(), text)]
    between = {span for _, span in pre_tokenize(json.dumps({**split, "behavior": "Removed"}).encode(), text)}
    found = [(*span, span not in between) for span in all_spans]
    if any(not one[2] and not two[2] for one, two in pairwise(found)):
        raise NotImplementedError("polytok does not split at empty matches: use a pattern that matches no empty text")
    return found


def decode(state: bytes, tokens: Sequence[str]) -> str:
    """Returns the text of tokens; ``state`` is the JSON of a decoder."""
    vocab = {token: id for id, token in enumerate(dict.fromkeys(tokens))}
    tokenizer = _load({"model": {"type": "WordLevel", "vocab": vocab, "unk_token": ""}, "decoder": json.loads(state)})
    return tokenizer.decode([vocab[token] for token in tokens])


def model_tokenizer(state: bytes) -> Tokenizer:
    """Returns a tokenizer that has a model only; ``state`` is its JSON."""
    return _load({"model": json.loads(state)})


def tokenize(state: bytes, text: str) -> list[tuple[int, str, tuple[int, int]]]:
    """Returns the tokens of a piece (id, text, range of bytes); ``state`` is the JSON of a model."""
    return tokens_of(model_tokenizer(state), text)


def tokens_of(tokenizer: Tokenizer, text: str) -> list[tuple[int, str, tuple[int, int]]]:
    """Returns the tokens of a piece (id, text, range of bytes)."""
    encoding = tokenizer.encoding(text)
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
def _byte_tokenizer(family: str, state: bytes) -> Tokenizer:
    return _load({"model": _BYTES, "decoder": _JOIN_BYTES, family: json.loads(state)})


def _load(document: dict[str, Any]) -> Tokenizer:
    return load(json.dumps({"added_tokens": [], **document}).encode(), format="huggingface")
