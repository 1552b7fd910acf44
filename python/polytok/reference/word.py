"""SentencePiece's model WORD: every word of the text is one piece.

A word begins at every U+2581, so in a run of several U+2581 all but the last are words of one character. The model
ignores user-defined symbols inside words, and the options about white space.
"""

from __future__ import annotations

from polytok.reference.bpe import final_id
from polytok.reference.stages import Segment
from polytok.reference.utf8 import char_end
from polytok.reference.vocabulary import Vocabulary
from polytok.reference.walks import WholeWalk
from polytok.space_mark import SPACE_MARK_BYTES
from polytok.spec import SentencePieceVersion


def walk(vocab: Vocabulary, text: bytes, line: SentencePieceVersion) -> WholeWalk:
    """Returns the walk with one segment for each word of the normalized text."""
    starts = []
    position = 0
    while position < len(text):
        if position == 0 or text.startswith(SPACE_MARK_BYTES, position):
            starts.append(position)
        position = char_end(text, position)
    segments = (
        Segment(final_id(vocab, text[start:end], line), start, end)
        for start, end in zip(starts, [*starts[1:], len(text)], strict=True)
    )
    return WholeWalk("word", tuple(segments))
