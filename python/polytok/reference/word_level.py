"""Word level (Hugging Face): a piece that is an entry has the id of the entry; any other piece is unknown.

Entries of every kind count, and of equal entries the last.
"""

from __future__ import annotations

from polytok.reference.stages import Segment
from polytok.reference.vocabulary import Vocabulary
from polytok.reference.walks import WholeWalk


def walk(vocab: Vocabulary, text: bytes) -> WholeWalk:
    """Returns the walk of one piece, which is looked up as a whole."""
    return WholeWalk("piece", (Segment(vocab.last_ids.get(text, vocab.unknown), 0, len(text)),))
