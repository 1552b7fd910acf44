"""SentencePiece CHAR: every character is one piece, and so is every user-defined symbol."""

from __future__ import annotations

from polytok.reference.bpe import find
from polytok.reference.stages import Segment
from polytok.reference.utf8 import units
from polytok.reference.vocabulary import Vocabulary
from polytok.spec import Line


def segment(words: Vocabulary, text: bytes, line: Line) -> list[Segment]:
    """Each unit of the normalized text, looked up."""
    return [
        Segment(find(words, text[start:end], line), start, end) for start, end, _ in units(text, words.user_defined)
    ]
