"""llama2.c: its own initial symbols, SentencePiece's merging by score, and its own decoding.

A text that is not empty gets one space in front. The space is a symbol of its own; continuation bytes do not join it.
The rest of the text is split into groups: a byte and up to three continuation bytes after it. A group that is an entry
is one symbol; any other group is replaced with the entries of its bytes, whose ids are byte + 3. Merging compares the
entries' texts, so ``<0x41>`` is a text like any other. A pair must score above -1e10.

The C program stops at a NUL; this twin goes on.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from polytok.reference.bpe import plain_walk
from polytok.reference.bpe_queue import Merging, Pair
from polytok.reference.vocabulary import Vocabulary
from polytok.reference.walks import BpeWalk, Symbol
from polytok.spec import Bpe

BOS = 1
FIRST_BYTE = 3
MIN_SCORE = -1e10
BYTE = re.compile(rb"<0x([0-9A-Fa-f]{1,2})")


def groups(text: bytes, at: int) -> Iterator[tuple[int, int]]:
    """Yields the start and the end of each group from ``at`` on."""
    while at < len(text):
        end = at + 1
        while end < len(text) and end < at + 4 and text[end] & 0xC0 == 0x80:
            end += 1
        yield at, end
        at = end


def symbols(vocab: Vocabulary, text: bytes, has_prefix: bool) -> Iterator[Symbol]:
    """Yields the initial symbols of merging. ``has_prefix``: the first byte is the space added in front."""
    prefix_span = [(0, 1)] if has_prefix and text else []
    number = 0
    for start, end in [*prefix_span, *groups(text, len(prefix_span))]:
        id = vocab.all_ids.get(text[start:end])
        byte_parts = [(text[at] + FIRST_BYTE, at, at + 1) for at in range(start, end)]
        parts = byte_parts if id is None else [(id, start, end)]
        for part_id, part_start, part_end in parts:
            yield Symbol(number, part_id if part_id in vocab.piece else None, part_start, part_end)
            number += 1


def walk(vocab: Vocabulary, text: bytes, model: Bpe, has_prefix: bool) -> BpeWalk:
    """Returns the walk of a text: its symbols, merged by score."""

    def look_up(left: Symbol, right: Symbol) -> Pair | None:
        if left.id is None or right.id is None:
            return None
        piece = vocab.piece[left.id] + vocab.piece[right.id]
        id = vocab.all_ids.get(piece)
        is_usable = id is not None and vocab.score[id] > MIN_SCORE
        return Pair(-vocab.score[id], vocab.score[id], id, piece) if is_usable and id is not None else None

    return plain_walk(model, Merging(symbols(vocab, text, has_prefix), look_up))


def decode(vocab: Vocabulary, ids: Sequence[int]) -> bytes:
    """Returns the bytes of a sequence of ids. Its start counts as after BOS, and a BOS there prints nothing.

    After BOS one leading space is removed. A piece that starts with ``<0x`` and one or two hex digits prints that byte;
    the rest of the piece is ignored. (C's sscanf also accepts white space or a sign before the digits; no vocabulary
    has such a piece.) Every byte is printed, even those that the C program does not print.
    """
    out = bytearray()
    previous = BOS
    for index, id in enumerate(ids):
        piece = vocab.piece_of(id)
        if index == 0 and id == BOS:
            continue
        if previous == BOS:
            piece = piece.removeprefix(b" ")
        byte_match = BYTE.match(piece)
        out += bytes([int(byte_match[1], 16)]) if byte_match else piece
        previous = id
    return bytes(out)
