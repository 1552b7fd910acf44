"""SentencePiece's decoding: pieces to text.

U+2581 becomes a space, and the space that encoding added in front is removed. Which one that is depends on the
normalizer: one leading mark of every piece as long as the text is empty (``remove_extra_whitespaces``), or of the first
piece only (``add_dummy_prefix`` alone). Runs of byte pieces are decoded strictly, with U+FFFD for each byte that is not
part of a character; any other piece, even a control symbol, ends a run.
"""

from __future__ import annotations

from collections.abc import Iterable

from polytok.reference.sentencepiece_normalize import INVALID, normalize
from polytok.reference.utf8 import decode_strict
from polytok.reference.vocabulary import Vocabulary
from polytok.space_mark import SPACE_MARK_BYTES
from polytok.spec import Kind, SentencePieceDecode


def decode_pieces(words: Vocabulary, rules: SentencePieceDecode, pieces: Iterable[bytes]) -> bytes:
    """The text of pieces given by name; if two have the same name, it is the reserved one."""
    return decode(words, rules, [(piece, words.reserved.get(piece, words.normal.get(piece))) for piece in pieces])


def decode(words: Vocabulary, rules: SentencePieceDecode, pieces: Iterable[tuple[bytes, int | None]]) -> bytes:
    """The text of pieces with their ids. A piece whose id is not in the vocabulary prints unchanged."""
    text = bytearray()
    run = bytearray()
    may_strip = rules.add_dummy_prefix or rules.remove_extra_whitespaces
    at_start = True
    stripped_before = False
    for piece, id in pieces:
        kind = None if id is None else words.active.get(id)
        if kind == Kind.BYTE:
            run.append(int(piece[3:5], 16))
            continue
        text += decode_run(bytes(run))
        run.clear()
        at_start = at_start and not stripped_before and not text
        stripped_before = False
        if kind is None:
            text += piece
        elif kind == Kind.UNKNOWN:
            text += rules.unk_surface
        elif kind != Kind.CONTROL:
            rest = piece.removeprefix(SPACE_MARK_BYTES) if at_start and may_strip else piece
            stripped_before = rest != piece and not rules.remove_extra_whitespaces
            text += rest.replace(SPACE_MARK_BYTES, b" ")
    text += decode_run(bytes(run))
    return bytes(text) if rules.denormalize is None else normalize(rules.denormalize, bytes(text)).text


def decode_run(run: bytes) -> bytes:
    """A run of byte pieces as valid UTF-8."""
    out = bytearray()
    at = 0
    while at < len(run):
        char, at = decode_strict(run, at)
        out += INVALID if char is None else char.encode()
    return bytes(out)
