"""Special tokens: texts that represent one id if the caller allows it.

A special token is recognized only if it is allowed. The leftmost allowed token counts, and of several that start at
the same offset the longest. minbpe uses the one that is listed first instead, like an alternation in a regular
expression (`Spec.matching`). The text between two special tokens is encoded exactly like a separate text: its split
pattern sees nothing else, and it gets its own dummy prefix.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from polytok.errors import SpecialTokenError
from polytok.guard import marks_nothing
from polytok.reference.stages import Aligned, Segment
from polytok.reference.vocabulary import vocabulary
from polytok.spec import Spec

Allowed = Collection[str] | Literal["all"]


@dataclass(frozen=True, slots=True)
class Trust:
    """A text and, for each byte, whether it is trusted."""

    text: bytes
    mask: list[bool]

    @classmethod
    def of_runs(cls, text: bytes, runs: Iterable[tuple[int, int]]) -> Trust:
        """Returns the trust of a text whose trusted runs start and end at these offsets."""
        return cls(text, [any(start <= at < end for start, end in runs) for at in range(len(text))])

    def of_rewritten(self, rewritten: Aligned) -> Trust:
        """Returns the trust of a rewritten text: a byte is trusted if all bytes that it comes from are."""
        ends = [
            next((end for end in rewritten.origin[at:] if end > start), start)
            for at, start in enumerate(rewritten.origin)
        ]
        spans = zip(rewritten.origin, ends, strict=True)
        return Trust(rewritten.text, [all(self.mask[start:end]) for start, end in spans][:-1])

    def part(self, start: int, end: int) -> Trust:
        return Trust(self.text[start:end], self.mask[start:end])

    def counts(self, start: int, end: int) -> bool:
        """Reports whether a user-defined piece that was found there counts."""
        piece = self.text[start:end].decode("utf-8", "surrogateescape")
        return marks_nothing(piece, special=False) or all(self.mask[start:end])


def tokens_of_plain_text(spec: Spec) -> set[bytes]:
    """Returns the special tokens that mark no structure, so that they count everywhere."""
    tokens = [(token.text, token.special) for token in spec.special]
    tokens += [(text.decode("utf-8", "surrogateescape"), True) for text, _ in vocabulary(spec.vocab).control]
    return {text.encode("utf-8", "surrogateescape") for text, special in tokens if marks_nothing(text, special)}


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


def split_at_special_tokens(
    text: bytes,
    tokens: Sequence[tuple[bytes, int]],
    trust: Trust | None = None,
    plain_tokens: Collection[bytes] = (),
) -> Iterator[Segment]:
    """Yields the special tokens with their ids, and the texts around them with the id None. With ``trust``, a token
    counts only where all its characters are trusted, except ``plain_tokens``."""

    def counts(token_text: bytes) -> bool:
        return trust is None or token_text in plain_tokens or all(trust.mask[at : at + len(token_text)])

    start = at = 0
    while at < len(text) and tokens:
        matches = ((token_text, id) for token_text, id in tokens if text.startswith(token_text, at))
        first_match = next((match for match in matches if counts(match[0])), None)
        if first_match is None:
            at += 1
            continue
        yield Segment(None, start, at)
        start = at + len(first_match[0])
        yield Segment(first_match[1], at, start)
        at = start
    yield Segment(None, start, len(text))
