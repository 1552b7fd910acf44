"""Compares polytok's encoding of texts and decoding of ids with the answers of one reference."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import accumulate

from polytok import EncodeError, Token, Tokenizer
from texts import is_utf8

from . import columns
from .references import Expected, HuggingFace, Reference

EXAMPLE_LIMIT = 8
SHOWN_LENGTH = 400


@dataclass
class Outcome:
    """The result of one comparison; `add` sums the outcomes of one row of the table.

    ``what`` is the row's kind of input, ``refused`` the number of texts that polytok or the reference refused.
    """

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
        self.examples = (self.examples + other.examples)[:EXAMPLE_LIMIT]
        self.refusals = (self.refusals + other.refusals)[:EXAMPLE_LIMIT]

    def add_difference(self, example: str) -> None:
        self.differences += 1
        if len(self.examples) < EXAMPLE_LIMIT:
            self.examples.append(example)


def encoding(
    outcome: Outcome, tokenizer: Tokenizer, reference: Reference, texts: Iterable[bytes], *, by_columns: bool = False
) -> None:
    """Compares ids, pieces and offsets of texts, and the decoding of the reference's ids."""
    accepted = [text for text in texts if reference.accepts(text)]
    answers = reference.encode(accepted)
    outcome.texts += len(accepted)
    outcome.tokens += sum(len(answer.ids) for answer in answers)
    for index in columns.doubtful_texts(tokenizer, accepted, answers) if by_columns else range(len(accepted)):
        text, expected = accepted[index], answers[index]
        if expected.error is not None:
            check_refusal(outcome, tokenizer, text, expected.error)
        else:
            difference = encoding_difference(tokenizer, text, expected)
            if difference:
                outcome.add_difference(difference)
    decoding(outcome, tokenizer, reference, [answer.ids for answer in answers if answer.error is None])


def check_refusal(outcome: Outcome, tokenizer: Tokenizer, text: bytes, error: str) -> None:
    """Records that the reference refuses a text; counts a difference unless polytok refuses the text too."""
    outcome.refused += 1
    if len(outcome.refusals) < EXAMPLE_LIMIT:
        outcome.refusals.append(f"{text[:SHOWN_LENGTH]!r}: {error}")
    try:
        ids = tokenizer.encode(text)
    except EncodeError:
        return
    outcome.add_difference(f"{text[:SHOWN_LENGTH]!r}: refused ({error}), but polytok encodes it to {ids[:20]}")


def encoding_difference(tokenizer: Tokenizer, text: bytes, expected: Expected) -> str | None:
    """Returns a description of the first difference in one text, or None if the text agrees."""
    try:
        ids = tokenizer.encode(text)
        tokens = tokenizer.tokens(text)
    except EncodeError as error:
        return f"{text[:SHOWN_LENGTH]!r}: {error}; expected {expected.ids[:20]}"
    comparisons: list[tuple[str, Sequence[object], Sequence[object] | None]] = [
        ("ids", ids, expected.ids),
        ("ids of tokens", [token.id for token in tokens], expected.ids),
        ("pieces", [token.piece for token in tokens], expected.pieces),
        ("byte offsets", [(token.byte_start, token.byte_end) for token in tokens], expected.byte_spans),
        ("character offsets", [(token.start, token.end) for token in tokens], expected.character_spans),
        ("character starts", [token.start for token in tokens], expected.character_starts),
        ("characters of the byte offsets", [(t.start, t.end) for t in tokens], covered_characters(text, tokens)),
    ]
    for column, ours, theirs in comparisons:
        if theirs is not None and ours != theirs:
            return f"{text[:SHOWN_LENGTH]!r}: {column}: {first_difference(ours, theirs)}"
    return None


def first_difference(ours: Sequence[object], theirs: Sequence[object]) -> str:
    at = next((i for i, (a, b) in enumerate(zip(ours, theirs, strict=False)) if a != b), min(len(ours), len(theirs)))
    start = max(0, at - 1)
    return f"at {at}: {ours[start : at + 4]!r}, expected {theirs[start : at + 4]!r}"


def covered_characters(text: bytes, tokens: Sequence[Token]) -> list[tuple[int, int]] | None:
    """Returns the span of the characters that each token's byte span overlaps; None if the text is not UTF-8."""
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
    """Compares the decoding of id sequences; does nothing if the reference cannot decode."""
    texts = reference.decode(rows)
    if texts is None:
        return
    for ids, text in zip(rows, texts, strict=True):
        ours = decoded(tokenizer, reference, ids)
        if ours != text:
            outcome.add_difference(f"decode {ids[:40]}: {ours[:SHOWN_LENGTH]!r}, expected {text[:SHOWN_LENGTH]!r}")


def decoded(tokenizer: Tokenizer, reference: Reference, ids: list[int]) -> bytes:
    """Decodes ids to bytes, through text if the reference decodes to text."""
    return tokenizer.decode(ids).encode() if isinstance(reference, HuggingFace) else tokenizer.decode_bytes(ids)
