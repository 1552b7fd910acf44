"""llama2.c: its own initial symbols, SentencePiece's merging by score, and its own decoding.

A text that is not empty gets one space in front, a symbol of its own (continuation bytes do not join it). The remainder
is split into groups: a byte and up to three continuation bytes after it. A group that is an entry is one symbol; any
other becomes the entries of its bytes, whose ids are byte + 3. Merging compares the entries' texts, so ``<0x41>`` is a
text like any other. A pair must score above -1e10.

The C program stops at a NUL; here the text goes on.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from polytok.reference.bpe import merge
from polytok.reference.stages import Segment
from polytok.reference.vocabulary import Vocabulary

BOS = 1
FIRST_BYTE = 3
NEVER_MERGED = -1e10
BYTE = re.compile(rb"<0x([0-9A-Fa-f]{1,2})")


def groups(text: bytes, at: int) -> Iterator[tuple[int, int]]:
    """The groups from ``at`` on."""
    while at < len(text):
        end = at + 1
        while end < len(text) and end < at + 4 and text[end] & 0xC0 == 0x80:
            end += 1
        yield at, end
        at = end


def symbols(words: Vocabulary, text: bytes, prefixed: bool) -> Iterator[Segment]:
    """The symbols that merging starts from; ``prefixed`` means that the first byte is the space added in front."""
    prefix = [(0, 1)] if prefixed and text else []
    for start, end in [*prefix, *groups(text, len(prefix))]:
        id = words.every.get(text[start:end])
        if id is not None:
            yield Segment(id, start, end)
        else:
            for at in range(start, end):
                byte_id = text[at] + FIRST_BYTE
                yield Segment(byte_id if byte_id in words.piece else None, at, at + 1)


def segment(words: Vocabulary, text: bytes, prefixed: bool) -> list[Segment]:
    """The merged symbols."""

    def merged(left: Segment, right: Segment) -> int | None:
        if left.id is None or right.id is None:
            return None
        return words.every.get(words.piece[left.id] + words.piece[right.id])

    def priority(left: Segment, right: Segment) -> float | None:
        id = merged(left, right)
        return -words.score[id] if id is not None and words.score[id] > NEVER_MERGED else None

    def join(left: Segment, right: Segment) -> Segment:
        return Segment(merged(left, right), left.start, right.end)

    return merge(symbols(words, text, prefixed), priority, join)


def decode(words: Vocabulary, ids: Sequence[int]) -> bytes:
    """The text of a sequence. Its start counts as after BOS, and a BOS there prints nothing.

    After BOS one leading space is removed. A piece that starts with ``<0x`` and one or two hex digits prints that byte;
    the remainder of the piece is ignored. (C's sscanf would also accept white space or a sign before the digits; no
    vocabulary has such a piece.) Unlike the C program's printing, nothing is dropped.
    """
    out = bytearray()
    previous = BOS
    for position, id in enumerate(ids):
        piece = words.piece_of(id)
        if position == 0 and id == BOS:
            continue
        if previous == BOS:
            piece = piece.removeprefix(b" ")
        byte = BYTE.match(piece)
        out += bytes([int(byte[1], 16)]) if byte else piece
        previous = id
    return bytes(out)
