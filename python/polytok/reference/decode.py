"""ids → pieces → bytes → text."""

from __future__ import annotations

from collections.abc import Sequence

from polytok.reference import llama2c, sentencepiece_decode
from polytok.reference.vocabulary import vocabulary
from polytok.spec import Llama2cDecode, SentencePieceDecode, Spec


def decode_bytes(spec: Spec, ids: Sequence[int]) -> bytes:
    """The bytes of a sequence of ids.

    A special token prints its text, the first listed if it has several; an id of both prints the vocabulary's piece.
    """
    words = vocabulary(spec.vocab)
    if isinstance(spec.decode, Llama2cDecode):
        return llama2c.decode(words, ids)
    special = {token.id: token.text.encode() for token in reversed(spec.special)}
    pieces = [special[id] if id in special and id not in words.piece else words.piece_of(id) for id in ids]
    if isinstance(spec.decode, SentencePieceDecode):
        if spec.line == "0.2.1":  # it looks the ids up by name, which matters if two pieces have one name
            return sentencepiece_decode.decode_pieces(words, spec.decode, pieces)
        return sentencepiece_decode.decode(words, spec.decode, zip(pieces, ids, strict=True))
    return b"".join(pieces)


def decode(spec: Spec, ids: Sequence[int]) -> str:
    """The text of a sequence of ids; bytes that are not part of a character become U+FFFD, by the WHATWG rule."""
    return decode_bytes(spec, ids).decode(errors="replace")
