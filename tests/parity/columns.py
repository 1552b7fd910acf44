"""Compares many texts together, by columns of numbers, because one object per token is too slow for the corpus.

`doubtful_texts` returns the texts that might differ; ``checks`` then compares them token by token and describes the
difference. Generated texts are always compared token by token. ``properties`` checks that columns and tokens agree.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence
from itertools import chain

import numpy as np
import numpy.typing as npt

from polytok import EncodeError, Spans, Tokenizer
from texts import is_utf8

from .references import Expected

Column = npt.NDArray[np.int64]
Offsets = npt.NDArray[np.uint32]


def doubtful_texts(tokenizer: Tokenizer, texts: Sequence[bytes], answers: Sequence[Expected]) -> Sequence[int]:
    """Returns the indices of the texts that need a comparison token by token: all indices if any column differs."""
    try:
        rows = [tokenizer.encode(text) for text in texts]
        spans = [tokenizer.spans(text) for text in texts]
    except EncodeError:
        return range(len(texts))
    if rows != [answer.ids for answer in answers] or not columns_agree(texts, spans, answers):
        return range(len(texts))
    pieces = pieces_by_id(tokenizer)
    return [
        index
        for index, answer in enumerate(answers)
        if answer.error is not None
        or (answer.pieces is not None and list(map(pieces.get, answer.ids)) != answer.pieces)  # unknown text, usually
    ]


@functools.cache
def pieces_by_id(tokenizer: Tokenizer) -> dict[int, bytes]:
    """Returns the piece of each id's tokens. A token for unknown text has the text as its piece instead."""
    vocab = tokenizer.spec.vocab
    return dict(zip(vocab.ids.tolist(), vocab.pieces(), strict=True))


def columns_agree(texts: Sequence[bytes], spans: Sequence[Spans], answers: Sequence[Expected]) -> bool:
    """Reports whether ids agree, offsets that the reference has agree, and character offsets fit the byte offsets."""
    pairs = list(zip(spans, answers, strict=True))
    return (
        np.array_equal(_concatenate(ours.ids for ours in spans), _column(answer.ids for answer in answers))
        and spans_agree([(a.byte_starts, a.byte_ends, b.byte_spans) for a, b in pairs if b.byte_spans is not None])
        and spans_agree([(a.starts, a.ends, b.character_spans) for a, b in pairs if b.character_spans is not None])
        and np.array_equal(
            _concatenate(a.starts for a, b in pairs if b.character_starts is not None),
            _column(b.character_starts or () for _, b in pairs),
        )
        and characters_fit_bytes([(text, ours) for text, ours in zip(texts, spans, strict=True) if is_utf8(text)])
    )


def spans_agree(rows: Sequence[tuple[Offsets, Offsets, Sequence[tuple[int, int]]]]) -> bool:
    expected = _column(chain.from_iterable(pairs) for _, _, pairs in rows)
    starts, ends = _concatenate(row[0] for row in rows), _concatenate(row[1] for row in rows)
    return np.array_equal(starts, expected[::2]) and np.array_equal(ends, expected[1::2])


def characters_fit_bytes(rows: Sequence[tuple[bytes, Spans]]) -> bool:
    """Reports whether each character span has exactly the characters that the token's byte span overlaps."""
    joined = b"".join(text for text, _ in rows) + b"\0"
    is_first_byte = (np.frombuffer(joined, np.uint8) & 0xC0) != 0x80
    before = np.concatenate(([0], np.cumsum(is_first_byte)))  # the number of characters that start before each byte
    text_starts = np.cumsum([0, *(len(text) for text, _ in rows)])[:-1]
    base = np.repeat(text_starts, [len(spans.ids) for _, spans in rows])
    byte_starts, byte_ends, starts, ends = (
        _concatenate(getattr(spans, name) for _, spans in rows)
        for name in ("byte_starts", "byte_ends", "starts", "ends")
    )
    first = before[base + byte_starts + 1] - 1 - before[base]
    last = np.maximum(first, before[base + byte_ends] - before[base])
    return np.array_equal(starts, first) and np.array_equal(ends, last)


def _concatenate(arrays: Iterable[npt.NDArray[np.generic]]) -> Column:
    return np.concatenate([np.empty(0, np.int64), *arrays]).astype(np.int64)


def _column(rows: Iterable[Iterable[int]]) -> Column:
    return np.fromiter(chain.from_iterable(rows), np.int64)
