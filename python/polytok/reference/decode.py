"""Decodes ids: ids → pieces → bytes → text."""

from __future__ import annotations

from collections.abc import Sequence

from polytok.reference import llama2c, sentencepiece_decode
from polytok.reference.vocabulary import vocabulary
from polytok.spec import Llama2cDecode, SentencePieceDecode, Spec


def decode_bytes(spec: Spec, ids: Sequence[int]) -> bytes:
    """Returns the bytes of a sequence of ids.

    A special token prints its text, or its first listed text if it has several. If the vocabulary has an entry with the
    same id, the entry's bytes are printed instead.
    """
    vocab = vocabulary(spec.vocab)
    if isinstance(spec.decode, Llama2cDecode):
        return llama2c.decode(vocab, ids)
    special_texts = {token.id: token.text.encode() for token in reversed(spec.special)}
    pieces = [special_texts[id] if id in special_texts and id not in vocab.piece else vocab.piece_of(id) for id in ids]
    if isinstance(spec.decode, SentencePieceDecode):
        # 0.2.1 looks the ids up by name, so the result differs if two pieces have the same name.
        if spec.sentencepiece_version == "0.2.1":
            return sentencepiece_decode.decode_pieces(vocab, spec.decode, pieces)
        return sentencepiece_decode.decode(vocab, spec.decode, zip(pieces, ids, strict=True))
    return b"".join(pieces)


def decode(spec: Spec, ids: Sequence[int]) -> str:
    """Returns the text of a sequence of ids. Bytes that are not UTF-8 become U+FFFD, by the WHATWG rule."""
    return decode_bytes(spec, ids).decode(errors="replace")
