"""Checks properties that hold for every tokenizer without a reference: all its methods agree with each other."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence
from typing import get_args

import numpy as np

from polytok import EncodeError, Tokenizer
from polytok.spec import LlamaCppDecode, Replace, ReplaceInvalid
from polytok.values import Errors
from texts import is_utf8

from .checks import SHOWN_LENGTH, Outcome

THREAD_COUNTS = (1, 2, 5)


def encodings(outcome: Outcome, tokenizer: Tokenizer, texts: Sequence[bytes], lossless: str) -> None:
    """Checks that all encoding methods agree, and that lossless vocabularies decode to the original text."""
    encodable = []
    for text in texts:
        try:
            ids = tokenizer.encode(text)
        except EncodeError:
            outcome.refused += 1
            continue
        encodable.append(text)
        outcome.texts += 1
        outcome.tokens += len(ids)
        for violation in violated_properties(tokenizer, text, ids, lossless):
            outcome.add_difference(f"{text[:SHOWN_LENGTH]!r}: {violation}")
    rows = [tokenizer.encode(text) for text in encodable]
    for threads in THREAD_COUNTS:
        batch = tokenizer.encode_batch(encodable, threads=threads)
        if batch.to_list() != rows or [row.tolist() for row in batch] != rows:
            outcome.add_difference(f"encode_batch in {threads} threads")
    if tokenizer.decode_batch(rows) != [tokenizer.decode(row) for row in rows]:
        outcome.add_difference("decode_batch")


def violated_properties(tokenizer: Tokenizer, text: bytes, ids: list[int], lossless: str) -> Iterable[str]:
    """Yields the name of each property that the encoding of a text violates."""
    if tokenizer.count(text) != len(ids):
        yield "count"
    array = tokenizer.encode_array(text)
    if array.tolist() != ids or array.dtype != (np.uint16 if tokenizer.vocab_size <= 65536 else np.uint32):
        yield "encode_array"
    if is_utf8(text) and tokenizer.encode(text.decode()) != ids:
        yield "str and bytes"
    if (lossless == "bytes" or (lossless == "utf-8" and is_utf8(text))) and tokenizer.decode_bytes(ids) != text:
        yield f"round trip: {tokenizer.decode_bytes(ids)!r}"
    tokens = tokenizer.tokens(text)
    if [token.id for token in tokens] != ids:
        yield "ids of tokens"
    if list(zip(*(column.tolist() for column in tokenizer.spans(text)), strict=True)) != [
        (token.id, token.start, token.end, token.byte_start, token.byte_end) for token in tokens
    ]:
        yield "columns and tokens"
    spans = [(token.byte_start, token.byte_end) for token in tokens]
    is_trimmed = tokenizer.spec.trim is not None  # a token of spaces then has an empty span, which can be out of order
    if not is_trimmed and not are_ordered(spans, len(text), can_overlap=can_share_characters(tokenizer)):
        yield f"spans: {spans}"
    starts = [token.start for token in tokens]
    is_ordered = is_trimmed or starts == sorted(starts)
    if not is_ordered or any(token.start > token.end for token in tokens):
        yield f"character spans: {[(token.start, token.end) for token in tokens]}"
    with_special = tokenizer.encode(text, add_special=True)
    before, after = tokenizer.spec.post.before, tokenizer.spec.post.after
    if with_special != [*before, *ids, *after]:
        yield f"add_special: {with_special}"


def can_share_characters(tokenizer: Tokenizer) -> bool:
    """Reports whether tokens that are parts of one character can have the span of the whole character.

    Tokens share a span if the normalizer replaced the character, and in tokenizers of Hugging Face's files.
    """
    rewrites = any(isinstance(step, (Replace, ReplaceInvalid)) for step in tokenizer.spec.normalize)
    return rewrites or tokenizer.spec.origin.format == "huggingface"


def are_ordered(spans: list[tuple[int, int]], length: int, can_overlap: bool) -> bool:
    """Reports whether spans are in ascending order, within the text, and disjoint unless ``can_overlap``."""
    starts, ends = [start for start, _ in spans], [end for _, end in spans]
    is_ascending = starts == sorted(starts) and ends == sorted(ends) and all(start <= end for start, end in spans)
    is_disjoint = all(end <= start for end, start in zip(ends, starts[1:], strict=False))
    return is_ascending and (is_disjoint or can_overlap) and all(0 <= at <= length for at in (*starts, *ends))


def streams(outcome: Outcome, tokenizer: Tokenizer, rows: Iterable[list[int]], seed: int) -> None:
    """Checks that decoding ids in random portions gives the same text as decoding all of them in one call."""
    rng = random.Random(seed)
    for ids in rows:
        outcome.texts += 1
        outcome.tokens += len(ids)
        errors = rng.choice(get_args(Errors))
        skip_special = rng.random() < 0.3
        whole_text = decode_or_refusal(lambda: tokenizer.decode(ids, skip_special=skip_special, errors=errors))  # noqa: B023
        streamed_text = decode_or_refusal(lambda: decode_in_portions(tokenizer, ids, rng, skip_special, errors))  # noqa: B023
        if whole_text != streamed_text:
            outcome.add_difference(
                f"{ids}, {errors}, skip_special={skip_special}: {streamed_text!r}, not {whole_text!r}"
            )
        # llama.cpp's decoder treats the first token differently, even if that token is skipped.
        if skip_special and not isinstance(tokenizer.spec.decode, LlamaCppDecode):
            check_skipped_ids(outcome, tokenizer, ids)


def check_skipped_ids(outcome: Outcome, tokenizer: Tokenizer, ids: list[int]) -> None:
    """Checks that ``skip_special`` decodes as if the special tokens were not among the ids."""
    never_skipped = {token.id for token in tokenizer.spec.special if not token.special}
    special_ids = set(tokenizer.special_tokens.values()) - never_skipped
    other_ids = [id for id in ids if id not in special_ids]
    if tokenizer.decode_bytes(other_ids) != tokenizer.decode_bytes(ids, skip_special=True):
        outcome.add_difference(f"skip_special: {ids}")


def decode_in_portions(
    tokenizer: Tokenizer, ids: list[int], rng: random.Random, skip_special: bool, errors: Errors
) -> str:
    stream = tokenizer.decoder(skip_special=skip_special, errors=errors)
    text = ""
    at = 0
    while at < len(ids):
        size = rng.choice([0, 1, 1, 1, 2, 5])
        text += stream.push(ids[at] if size == 1 else ids[at : at + size])
        at += size
    return text + stream.finish()


def decode_or_refusal(decode: Callable[[], str]) -> str:
    try:
        return decode()
    except UnicodeDecodeError:
        return "not UTF-8"
