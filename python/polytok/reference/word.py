"""SentencePiece WORD: what lies between spaces is one piece.

Every U+2581 begins a new word, so that of several in a row all but the last are words of their own. The model does not
look at user-defined symbols inside words, nor at the options about white space.
"""

from __future__ import annotations

from polytok.reference.bpe import find
from polytok.reference.stages import Segment
from polytok.reference.utf8 import char_end
from polytok.reference.vocabulary import Vocabulary
from polytok.space_mark import SPACE_MARK_BYTES
from polytok.spec import Line


def segment(words: Vocabulary, text: bytes, line: Line) -> list[Segment]:
    """Each word of the normalized text, looked up."""
    starts = []
    at = 0
    while at < len(text):
        if at == 0 or text.startswith(SPACE_MARK_BYTES, at):
            starts.append(at)
        at = char_end(text, at)
    return [
        Segment(find(words, text[start:end], line), start, end)
        for start, end in zip(starts, [*starts[1:], len(text)], strict=True)
    ]
