"""Checks that polytok gives the same answers at every SIMD level of the processor, by hashes of the answers."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeVar

import polytok
from polytok import EncodeError, Tokenizer
from polytok.values import SimdLevel, Special

from .checks import SHOWN_LENGTH, Outcome

Input = TypeVar("Input")


class Answer(NamedTuple):
    """The answer to one input: the number of tokens, and everything that is compared."""

    tokens: int
    parts: Sequence[bytes]


def new_outcome(vocabulary: str) -> Outcome:
    return Outcome(vocabulary, "itself", "SIMD levels")


def encoding(outcome: Outcome, tokenizer: Tokenizer, texts: Sequence[bytes], *, by_columns: bool = False) -> None:
    """Compares ids, offsets and decoded texts. Texts in UTF-8 are encoded as `str`, and as bytes for the offsets.

    With ``by_columns``, all texts are encoded in one call, and the offsets are those of the joined texts. This takes a
    third of the time.
    """
    if by_columns:
        compare(outcome, tokenizer, functools.partial(batch_answer, tokenizer), [texts])
        outcome.texts += len(texts) - 1
    else:
        compare(outcome, tokenizer, functools.partial(encoding_answer, tokenizer), texts)


def encoding_with_special(outcome: Outcome, tokenizer: Tokenizer, texts: Sequence[tuple[bytes, Special]]) -> None:
    """Compares the encoding of texts, each with the special tokens that are allowed."""
    compare(outcome, tokenizer, lambda row: encoding_answer(tokenizer, row[0], row[1]), texts)


def decoding(outcome: Outcome, tokenizer: Tokenizer, rows: Sequence[list[int]]) -> None:
    """Compares the decoding of id sequences."""
    compare(outcome, tokenizer, lambda ids: Answer(len(ids), [tokenizer.decode(ids).encode()]), rows)


def compare(outcome: Outcome, tokenizer: Tokenizer, answer: Callable[[Input], Answer], inputs: Sequence[Input]) -> None:
    """Counts a difference for each input whose answers are not equal at all levels."""
    levels = polytok.simd_levels()
    results = {hash_at(level, tokenizer, answer, inputs) for level in levels}
    outcome.texts += len(inputs)
    outcome.tokens += max(tokens for _, tokens in results)
    if len(results) > 1:
        for one in inputs:
            if len({hash_at(level, tokenizer, answer, [one]) for level in levels}) > 1:
                outcome.add_difference(repr(one)[:SHOWN_LENGTH])


def hash_at(
    level: SimdLevel, tokenizer: Tokenizer, answer: Callable[[Input], Answer], inputs: Sequence[Input]
) -> tuple[bytes, int]:
    """Returns a hash of all answers at a level, and the number of their tokens."""
    state = hashlib.blake2b(digest_size=16)
    tokens = 0
    polytok.set_simd_level(level)
    tokenizer.clear_cache()  # the cache has ids that another level has found
    try:
        for row in map(answer, inputs):
            tokens += row.tokens
            for part in row.parts:
                state.update(len(part).to_bytes(8, "little"))
                state.update(part)
    finally:
        polytok.set_simd_level("auto")
    return state.digest(), tokens


def encoding_answer(tokenizer: Tokenizer, text: bytes, special: Special = ()) -> Answer:
    """Returns ids, offsets and the decoded text, or the message of the error."""
    try:
        spans = tokenizer.spans(text, special=special)
        ids = tokenizer.encode_array(as_str(text), special=special)
    except EncodeError as error:
        return Answer(0, [str(error).encode()])
    return Answer(len(ids), [*(column.tobytes() for column in (ids, *spans)), tokenizer.decode(ids).encode()])


def batch_answer(tokenizer: Tokenizer, texts: Sequence[bytes]) -> Answer:
    """Returns the ids of many texts, the offsets of the joined texts, and the decoded texts."""
    try:
        batch = tokenizer.encode_batch(list(map(as_str, texts)), threads=1)
        spans = tokenizer.spans(b"".join(texts))
    except EncodeError:
        answers = [encoding_answer(tokenizer, text) for text in texts]
        return Answer(sum(answer.tokens for answer in answers), [part for answer in answers for part in answer.parts])
    decoded_text = "".join(tokenizer.decode_batch(list(batch)))
    return Answer(
        len(batch.ids), [*(column.tobytes() for column in (batch.ids, batch.offsets, *spans)), decoded_text.encode()]
    )


def as_str(text: bytes) -> str | bytes:
    """Returns the text as `str` if it is UTF-8."""
    try:
        return text.decode()
    except UnicodeDecodeError:
        return text
