"""Many texts compared at once, by columns: the corpus is too long for an object a token.

What is not certain to agree is named, and compared token by token by ``checks``, which also says where it differs.
``properties`` holds columns and objects together, and generated texts always go by objects.
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


def doubtful(tokenizer: Tokenizer, texts: Sequence[bytes], answers: Sequence[Expected]) -> Sequence[int]:
    """The places of texts that must be looked at one by one: all of them where a column differs."""
    try:
        rows = [tokenizer.encode(text) for text in texts]
        spans = [tokenizer.spans(text) for text in texts]
    except EncodeError:
        return range(len(texts))
    if rows != [answer.ids for answer in answers] or not columns_agree(texts, spans, answers):
        return range(len(texts))
    table = pieces(tokenizer)
    return [
        place
        for place, answer in enumerate(answers)
        if answer.error is not None
        or (answer.pieces is not None and list(map(table.get, answer.ids)) != answer.pieces)  # as unknown text
    ]


@functools.cache
def pieces(tokenizer: Tokenizer) -> dict[int, bytes]:
    """What a token of an id has as its piece, unless it stands for unknown text."""
    vocab = tokenizer.spec.vocab
    return dict(zip(vocab.ids.tolist(), vocab.pieces(), strict=True))


def columns_agree(texts: Sequence[bytes], spans: Sequence[Spans], answers: Sequence[Expected]) -> bool:
    """Ids and offsets, as far as the reference gives them, and characters as the byte offsets tell them."""
    both = list(zip(spans, answers, strict=True))
    return (
        np.array_equal(_joined(ours.ids for ours in spans), _column(answer.ids for answer in answers))
        and spans_agree([(a.byte_starts, a.byte_ends, b.spans) for a, b in both if b.spans is not None])
        and spans_agree([(a.starts, a.ends, b.chars) for a, b in both if b.chars is not None])
        and np.array_equal(
            _joined(a.starts for a, b in both if b.char_starts is not None),
            _column(b.char_starts or () for _, b in both),
        )
        and characters_agree([(text, each) for text, each in zip(texts, spans, strict=True) if is_utf8(text)])
    )


def spans_agree(rows: Sequence[tuple[Offsets, Offsets, Sequence[tuple[int, int]]]]) -> bool:
    expected = _column(chain.from_iterable(pairs) for _, _, pairs in rows)
    starts, ends = _joined(row[0] for row in rows), _joined(row[1] for row in rows)
    return np.array_equal(starts, expected[::2]) and np.array_equal(ends, expected[1::2])


def characters_agree(rows: Sequence[tuple[bytes, Spans]]) -> bool:
    """Character offsets are those of the characters that the byte spans touch."""
    joined = b"".join(text for text, _ in rows) + b"\0"
    firsts = (np.frombuffer(joined, np.uint8) & 0xC0) != 0x80
    before = np.concatenate(([0], np.cumsum(firsts)))  # characters that begin before a byte
    begins = np.cumsum([0, *(len(text) for text, _ in rows)])[:-1]
    base = np.repeat(begins, [len(spans.ids) for _, spans in rows])
    byte_starts, byte_ends, starts, ends = (
        _joined(getattr(spans, name) for _, spans in rows) for name in ("byte_starts", "byte_ends", "starts", "ends")
    )
    first = before[base + byte_starts + 1] - 1 - before[base]
    last = np.maximum(first, before[base + byte_ends] - before[base])
    return np.array_equal(starts, first) and np.array_equal(ends, last)


def _joined(arrays: Iterable[npt.NDArray[np.generic]]) -> Column:
    return np.concatenate([np.empty(0, np.int64), *arrays]).astype(np.int64)


def _column(rows: Iterable[Iterable[int]]) -> Column:
    return np.fromiter(chain.from_iterable(rows), np.int64)
