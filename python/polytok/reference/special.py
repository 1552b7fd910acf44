"""Special tokens: texts that stand for one id if the caller allows it.

Nothing is recognised unless it is allowed. The leftmost allowed text counts, and of those that start at one place the
longest; minbpe takes the one listed first instead, as its alternation does (`Spec.matching`). The text between two
special tokens is encoded exactly as if it were a text of its own: its split pattern sees nothing else, and it gets its
own dummy prefix.
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
    """All special tokens: the Spec's own, then the rows of kind CONTROL by their text."""
    return [(token.text.encode(), token.id) for token in spec.special] + vocabulary(spec.vocab).control


def allowed_tokens(spec: Spec, allowed: Allowed) -> list[tuple[bytes, int]]:
    """The allowed special tokens in the order in which they are tried at one place."""
    if not allowed:
        return []
    tokens = [(text, id) for text, id in special_tokens(spec) if text]
    if allowed != "all":
        wanted = {text.encode() for text in allowed}
        missing = wanted.difference(text for text, _ in tokens)
        if missing:
            raise SpecialTokenError(f"{min(missing)!r} is not a special token of this vocabulary")
        tokens = [(text, id) for text, id in tokens if text in wanted]
    return tokens if spec.matching == "listed" else sorted(tokens, key=lambda token: -len(token[0]))


def cut(text: bytes, tokens: Sequence[tuple[bytes, int]]) -> Iterator[Segment]:
    """Special tokens with their ids, and the texts around them with None."""
    start = at = 0
    while at < len(text) and tokens:
        found = next(((word, id) for word, id in tokens if text.startswith(word, at)), None)
        if found is None:
            at += 1
            continue
        yield Segment(None, start, at)
        start = at + len(found[0])
        yield Segment(found[1], at, start)
        at = start
    yield Segment(None, start, len(text))
