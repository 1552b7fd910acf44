"""Special tokens: texts that represent one id if the caller allows it.

A special token is recognized only if it is allowed. The leftmost allowed token counts, and of several that start at
the same offset the longest. minbpe uses the one that is listed first instead, like an alternation in a regular
expression (`Spec.matching`). The text between two special tokens is encoded exactly like a separate text: its split
pattern sees nothing else, and it gets its own dummy prefix.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Literal

from polytok.errors import SpecialTokenError
from polytok.reference.stages import Segment
from polytok.reference.vocabulary import vocabulary
from polytok.spec import Spec

Allowed = Collection[str] | Literal["all"]


def special_tokens(spec: Spec) -> list[tuple[bytes, int]]:
    """Returns all special tokens: the Spec's own, then the vocabulary entries of kind CONTROL."""
    return [(token.text.encode(), token.id) for token in spec.special] + vocabulary(spec.vocab).control


def allowed_tokens(spec: Spec, allowed: Allowed) -> list[tuple[bytes, int]]:
    """Returns the allowed special tokens in the order in which they are tried at one offset."""
    if not allowed:
        return []
    tokens = [(text, id) for text, id in special_tokens(spec) if text]
    if allowed != "all":
        allowed_texts = {text.encode() for text in allowed}
        unknown_texts = allowed_texts.difference(text for text, _ in tokens)
        if unknown_texts:
            raise SpecialTokenError(f"{min(unknown_texts)!r} is not a special token of this vocabulary")
        tokens = [(text, id) for text, id in tokens if text in allowed_texts]
    return tokens if spec.matching == "listed" else sorted(tokens, key=lambda token: -len(token[0]))


def split_at_special_tokens(text: bytes, tokens: Sequence[tuple[bytes, int]]) -> Iterator[Segment]:
    """Yields the special tokens with their ids, and the texts around them with the id None."""
    start = at = 0
    while at < len(text) and tokens:
        first_match = next(((token_text, id) for token_text, id in tokens if text.startswith(token_text, at)), None)
        if first_match is None:
            at += 1
            continue
        yield Segment(None, start, at)
        start = at + len(first_match[0])
        yield Segment(first_match[1], at, start)
        at = start
    yield Segment(None, start, len(text))
