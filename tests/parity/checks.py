"""One comparison at a time: what polytok makes of some texts or ids, against what it should be."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import accumulate

from polytok import EncodeError, Token, Tokenizer
from texts import is_utf8

from . import columns
from .references import Expected, HuggingFace, Reference

MOST_EXAMPLES = 8
LONG = 400


@dataclass
class Outcome:
    """What came out of one comparison; outcomes of the same row of the table are added up."""

    vocabulary: str
    reference: str
    what: str
    texts: int = 0
    tokens: int = 0
    differences: int = 0
    refused: int = 0
    examples: list[str] = field(default_factory=list)
    refusals: list[str] = field(default_factory=list)

    def add(self, other: Outcome) -> None:
        self.texts += other.texts
        self.tokens += other.tokens
        self.differences += other.differences
        self.refused += other.refused
        self.examples = (self.examples + other.examples)[:MOST_EXAMPLES]
        self.refusals = (self.refusals + other.refusals)[:MOST_EXAMPLES]

    def differs(self, example: str) -> None:
        self.differences += 1
        if len(self.examples) < MOST_EXAMPLES:
            self.examples.append(example)


def encoding(
    outcome: Outcome, tokenizer: Tokenizer, reference: Reference, texts: Iterable[bytes], *, by_columns: bool = False
) -> None:
    """Ids, pieces and offsets of texts, and the reference's decoding of its own ids."""
    accepted = [text for text in texts if reference.accepts(text)]
    answers = reference.encode(accepted)
    outcome.texts += len(accepted)
    outcome.tokens += sum(len(answer.ids) for answer in answers)
    for place in columns.doubtful(tokenizer, accepted, answers) if by_columns else range(len(accepted)):
        text, expected = accepted[place], answers[place]
        if expected.error is not None:
            refusal(outcome, tokenizer, text, expected.error)
        else:
            problem = encoding_problem(tokenizer, text, expected)
            if problem:
                outcome.differs(problem)
    decoding(outcome, tokenizer, reference, [answer.ids for answer in answers if answer.error is None])


def refusal(outcome: Outcome, tokenizer: Tokenizer, text: bytes, error: str) -> None:
    """The reference refuses a text: listed, and a difference unless polytok refuses it too."""
    outcome.refused += 1
    if len(outcome.refusals) < MOST_EXAMPLES:
        outcome.refusals.append(f"{text[:LONG]!r}: {error}")
    try:
        ids = tokenizer.encode(text)
    except EncodeError:
        return
    outcome.differs(f"{text[:LONG]!r}: refused ({error}), but polytok gives {ids[:20]}")


def encoding_problem(tokenizer: Tokenizer, text: bytes, expected: Expected) -> str | None:
    """The first difference in one text."""
    try:
        ids = tokenizer.encode(text)
        tokens = tokenizer.tokens(text)
    except EncodeError as error:
        return f"{text[:LONG]!r}: {error}; expected {expected.ids[:20]}"
    pairs: list[tuple[str, Sequence[object], Sequence[object] | None]] = [
        ("ids", ids, expected.ids),
        ("ids of tokens", [token.id for token in tokens], expected.ids),
        ("pieces", [token.piece for token in tokens], expected.pieces),
        ("byte offsets", [(token.byte_start, token.byte_end) for token in tokens], expected.spans),
        ("character offsets", [(token.start, token.end) for token in tokens], expected.chars),
        ("character starts", [token.start for token in tokens], expected.char_starts),
        ("characters of the byte offsets", [(t.start, t.end) for t in tokens], character_spans(text, tokens)),
    ]
    for what, ours, theirs in pairs:
        if theirs is not None and ours != theirs:
            return f"{text[:LONG]!r}: {what}: {first_difference(ours, theirs)}"
    return None


def first_difference(ours: Sequence[object], theirs: Sequence[object]) -> str:
    at = next((i for i, (a, b) in enumerate(zip(ours, theirs, strict=False)) if a != b), min(len(ours), len(theirs)))
    low = max(0, at - 1)
    return f"at {at}: {ours[low : at + 4]!r}, expected {theirs[low : at + 4]!r}"


def character_spans(text: bytes, tokens: Sequence[Token]) -> list[tuple[int, int]] | None:
    """The characters that the byte spans touch; nothing is said about bytes that are no characters."""
    if not is_utf8(text):
        return None
    starts = list(accumulate(map(len, map(str.encode, text.decode())), initial=0))
    if len(starts) == len(text) + 1:
        return [(token.byte_start, token.byte_end) for token in tokens]
    spans = []
    for token in tokens:
        first = bisect_right(starts, token.byte_start) - 1
        last = bisect_left(starts, token.byte_end)
        spans.append((first, max(first, last)))
    return spans


def decoding(outcome: Outcome, tokenizer: Tokenizer, reference: Reference, rows: Sequence[list[int]]) -> None:
    """Decoding of sequences of ids."""
    texts = reference.decode(rows)
    if texts is None:
        return
    for ids, text in zip(rows, texts, strict=True):
        ours = decoded(tokenizer, reference, ids)
        if ours != text:
            outcome.differs(f"decode {ids[:40]}: {ours[:LONG]!r}, expected {text[:LONG]!r}")


def decoded(tokenizer: Tokenizer, reference: Reference, ids: list[int]) -> bytes:
    """Bytes, or where the reference gives text that text."""
    return tokenizer.decode(ids).encode() if isinstance(reference, HuggingFace) else tokenizer.decode_bytes(ids)
