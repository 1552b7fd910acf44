"""Vocabulary restriction, as SentencePiece 0.2.1's SetVocabulary has it."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

import numpy as np

from .errors import ArgumentError
from .spec import Bpe, Kind, Spec, Unigram

_EXEMPT = frozenset((Kind.CONTROL, Kind.UNKNOWN, Kind.USER_DEFINED))


def restricted(spec: Spec, pieces: Collection[str | bytes]) -> Spec:
    """A Spec whose entries outside ``pieces`` are unused, except for single characters.

    Control, unknown and user-defined entries are exempt. Byte entries are not, as in the reference: unlisted byte
    entries are still emitted for unknown characters, but decode as their own text ``<0xHH>``.
    """
    if not (isinstance(spec.model, Unigram) or (isinstance(spec.model, Bpe) and spec.model.symbols == "chars")):
        raise ArgumentError("a vocabulary can be restricted for Unigram and SentencePiece BPE models only")
    wanted = {piece.encode() if isinstance(piece, str) else piece for piece in pieces}
    kinds = spec.vocab.kinds.copy()
    for row, piece in enumerate(spec.vocab.pieces()):
        if kinds[row] not in _EXEMPT:
            kinds[row] = Kind.NORMAL if piece in wanted or _is_one_character(piece) else Kind.UNUSED
    return replace(spec, vocab=replace(spec.vocab, active_kinds=kinds.astype(np.uint8)))


def _is_one_character(piece: bytes) -> bool:
    """Whether the length is what the lead byte's high nibble announces."""
    return bool(piece) and len(piece) == (1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 3, 4)[piece[0] >> 4]
