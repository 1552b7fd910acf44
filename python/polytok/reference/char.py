"""SentencePiece's model CHAR: every character is one piece, and every user-defined symbol too."""

from __future__ import annotations

from polytok.reference.bpe import final_id
from polytok.reference.stages import Segment
from polytok.reference.utf8 import Counts, units
from polytok.reference.vocabulary import Vocabulary
from polytok.reference.walks import WholeWalk
from polytok.spec import SentencePieceVersion


def walk(vocab: Vocabulary, text: bytes, line: SentencePieceVersion, counts: Counts | None = None) -> WholeWalk:
    """Returns the walk with one segment for each character or user-defined symbol of the normalized text."""
    segments = (
        Segment(final_id(vocab, text[start:end], line), start, end)
        for start, end, _ in units(text, vocab.user_defined, counts)
    )
    return WholeWalk("character", tuple(segments))
