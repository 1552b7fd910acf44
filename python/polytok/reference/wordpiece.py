"""WordPiece (BERT): the next token is always the longest entry with which the rest of the piece begins.

Entries inside a word are searched with a prefix such as ``##``. A piece that entries cannot cover, or that has too many
characters, is unknown as a whole. llama.cpp's WPM searches the entries at the start of a word with U+2581 in front
instead; if none matches, U+2581 itself can be the first token. Entries of every kind count, and of equal entries the
last.
"""

from __future__ import annotations

from polytok.reference.stages import Segment
from polytok.reference.vocabulary import Vocabulary
from polytok.reference.walks import Attempt, WordPieceWalk
from polytok.space_mark import SPACE_MARK_BYTES
from polytok.spec import WordPiece


def walk(vocab: Vocabulary, text: bytes, model: WordPiece) -> WordPieceWalk:
    """Returns the walk of one piece, with every text that is looked up."""
    character_count = len(text.decode("utf-8", "replace"))
    if model.max_chars is not None and character_count > model.max_chars:
        why = f"the piece has {character_count} characters; the limit is {model.max_chars}"
        return WordPieceWalk((), (Segment(vocab.unknown, 0, len(text)),), why)
    search = _Search(vocab, text)
    at = 0
    prefix = SPACE_MARK_BYTES if model.phantom_space else b""
    while at < len(text) or not search.segments:
        end = search.longest_from(at, prefix)
        if end is None and at == 0 and model.phantom_space and SPACE_MARK_BYTES in vocab.last_ids and prefix:
            search.segments.append(Segment(vocab.last_ids[SPACE_MARK_BYTES], 0, 0))
            prefix = model.continuing_prefix.encode()
            end = search.longest_from(at, prefix)
        if end is None:
            why = f"no entry matches at byte {at} of the piece, so the piece is unknown as a whole"
            return WordPieceWalk(tuple(search.attempts), (Segment(vocab.unknown, 0, len(text)),), why)
        at, prefix = end, model.continuing_prefix.encode()
    return WordPieceWalk(tuple(search.attempts), tuple(search.segments))


class _Search:
    """The lookups of one piece, and the segments that were found."""

    def __init__(self, vocab: Vocabulary, text: bytes) -> None:
        self.vocab, self.text = vocab, text
        self.attempts: list[Attempt] = []
        self.segments: list[Segment] = []

    def longest_from(self, at: int, prefix: bytes) -> int | None:
        """Returns the end of the longest entry at ``at``, or None. Ends inside of characters are not tried."""
        text = self.text
        longest = min(len(text), at + self.vocab.longest_of_all - len(prefix))
        for end in range(longest, at, -1):
            if end < len(text) and text[end] & 0xC0 == 0x80:
                continue
            piece = prefix + text[at:end]
            id = self.vocab.last_ids.get(piece)
            self.attempts.append(Attempt(at, end, piece, id))
            if id is not None:
                self.segments.append(Segment(id, at, end))
                return end
        return None
