"""Restricts a vocabulary to some pieces, like SetVocabulary of SentencePiece 0.2.1."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

import numpy as np

from .errors import ArgumentError
from .spec import Bpe, Kind, Spec, Unigram

_UNRESTRICTED_KINDS = frozenset((Kind.CONTROL, Kind.UNKNOWN, Kind.USER_DEFINED))


def restrict(spec: Spec, pieces: Collection[str | bytes]) -> Spec:
    """Returns a Spec in which entries outside ``pieces`` are unused, except single characters.

    Control, unknown and user-defined entries stay in use. Byte entries outside ``pieces`` become unused. As in the
    reference, unknown characters are still encoded to unused byte entries, which decode to the text ``<0xHH>``.
    """
    if not (isinstance(spec.model, Unigram) or (isinstance(spec.model, Bpe) and spec.model.symbols == "chars")):
        raise ArgumentError("only vocabularies of Unigram and SentencePiece BPE models can be restricted")
    allowed_pieces = {piece.encode() if isinstance(piece, str) else piece for piece in pieces}
    kinds = spec.vocab.kinds.copy()
    for row, piece in enumerate(spec.vocab.pieces()):
        if kinds[row] not in _UNRESTRICTED_KINDS:
            kinds[row] = Kind.NORMAL if piece in allowed_pieces or _is_one_character(piece) else Kind.UNUSED
    return replace(spec, vocab=replace(spec.vocab, active_kinds=kinds.astype(np.uint8)))


def _is_one_character(piece: bytes) -> bool:
    """Reports whether a piece is a single character. The high half of its first byte determines a character's
    length."""
    return bool(piece) and len(piece) == (1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 3, 4)[piece[0] >> 4]
