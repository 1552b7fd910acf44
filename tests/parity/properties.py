"""What must hold for every tokenizer, whatever it is compared with."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from typing import get_args

import numpy as np

from polytok import EncodeError, Tokenizer
from polytok.spec import LlamaCppDecode, Replace, ReplaceInvalid
from polytok.values import Errors
from texts import is_utf8

from .checks import LONG, Outcome

THREADS = (1, 2, 5)


def encodings(outcome: Outcome, tokenizer: Tokenizer, texts: Sequence[bytes], lossless: str) -> None:
    """All ways of encoding agree, and lossless vocabularies give the text back."""
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
        for problem in encoding_problems(tokenizer, text, ids, lossless):
            outcome.differs(f"{text[:LONG]!r}: {problem}")
    rows = [tokenizer.encode(text) for text in encodable]
    for threads in THREADS:
        batch = tokenizer.encode_batch(encodable, threads=threads)
        if batch.to_list() != rows or [each.tolist() for each in batch] != rows:
            outcome.differs(f"encode_batch in {threads} threads")
    if tokenizer.decode_batch(rows) != [tokenizer.decode(row) for row in rows]:
        outcome.differs("decode_batch")


def encoding_problems(tokenizer: Tokenizer, text: bytes, ids: list[int], lossless: str) -> Iterable[str]:
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
    is_trimmed = tokenizer.spec.trim is not None  # a token of spaces then starts where it ends
    if not is_trimmed and not in_order(spans, len(text), side_by_side=not shares_characters(tokenizer)):
        yield f"spans: {spans}"
    starts = [token.start for token in tokens]
    rises = is_trimmed or starts == sorted(starts)
    if not rises or any(token.start > token.end for token in tokens):
        yield f"character spans: {[(token.start, token.end) for token in tokens]}"
    around = tokenizer.encode(text, add_special=True)
    before, after = tokenizer.spec.post.before, tokenizer.spec.post.after
    if around != [*before, *ids, *after]:
        yield f"add_special: {around}"


def shares_characters(tokenizer: Tokenizer) -> bool:
    """Whether tokens of parts of a character all have the character's span: where characters were rewritten."""
    rewrites = any(isinstance(step, (Replace, ReplaceInvalid)) for step in tokenizer.spec.normalize)
    return rewrites or tokenizer.spec.origin.format == "huggingface"


def in_order(spans: list[tuple[int, int]], length: int, side_by_side: bool) -> bool:
    """Whether spans lie in the text one after the other."""
    starts, ends = [start for start, _ in spans], [end for _, end in spans]
    rise = starts == sorted(starts) and ends == sorted(ends) and all(start <= end for start, end in spans)
    apart = all(end <= start for end, start in zip(ends, starts[1:], strict=False))
    return rise and (apart or not side_by_side) and all(0 <= at <= length for at in (*starts, *ends))


def streams(outcome: Outcome, tokenizer: Tokenizer, rows: Iterable[list[int]], seed: int) -> None:
    """A stream gives what the whole gives, however the ids come."""
    pick = random.Random(seed)
    for ids in rows:
        outcome.texts += 1
        outcome.tokens += len(ids)
        errors = pick.choice(get_args(Errors))
        skip = pick.random() < 0.3
        whole = attempt(lambda: tokenizer.decode(ids, skip_special=skip, errors=errors))  # noqa: B023
        streamed = attempt(lambda: in_parts(tokenizer, ids, pick, skip, errors))  # noqa: B023
        if whole != streamed:
            outcome.differs(f"{ids}, {errors}, skip_special={skip}: {streamed!r}, not {whole!r}")
        if skip and not isinstance(
            tokenizer.spec.decode, LlamaCppDecode
        ):  # There the first token counts, skipped or not.
            kept = {token.id for token in tokenizer.spec.special if not token.special}
            special = set(tokenizer.special_tokens.values()) - kept
            rest = [id for id in ids if id not in special]
            if tokenizer.decode_bytes(rest) != tokenizer.decode_bytes(ids, skip_special=True):
                outcome.differs(f"skip_special: {ids}")


def in_parts(tokenizer: Tokenizer, ids: list[int], pick: random.Random, skip: bool, errors: Errors) -> str:
    stream = tokenizer.decoder(skip_special=skip, errors=errors)
    text = ""
    at = 0
    while at < len(ids):
        size = pick.choice([0, 1, 1, 1, 2, 5])
        text += stream.push(ids[at] if size == 1 else ids[at : at + size])
        at += size
    return text + stream.finish()


def attempt(decode: object) -> str:
    assert callable(decode)
    try:
        return str(decode())
    except UnicodeDecodeError:
        return "no UTF-8"
