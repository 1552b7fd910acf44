"""Reports after which texts the entries of a longest-match vocabulary are not used, and which variants would be.

Longest match chooses an entry only where the previous token ends. The entry ``(^_^)`` is not used after a space if the
vocabulary has the entry `` (``: longest match chooses this entry at the space, and ``^_^)`` remains. All results come
from encoding the entries after such texts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from .records import dataclass
from .tokenizer import Tokenizer

_LETTER = "after a letter"
_CONTEXTS_OF_VARIANTS = {"after a space": b" ", "after a line feed": b"\n"}
_AFTER_WORD = "after a letter and a space"
_CONTEXTS = {_LETTER: b"a", **_CONTEXTS_OF_VARIANTS, _AFTER_WORD: b"a "}
_MAX_EXAMPLES = 3


@dataclass(frozen=True, slots=True)
class UnusedEntries:
    """Entries that are not used in a context, such as ``after a space``.

    ``entries`` are the entries, of ``examined`` ones. ``winners`` are the entries that are chosen instead and that end
    inside of them, the most frequent first.
    """

    context: str
    examined: int
    entries: tuple[bytes, ...]
    winners: tuple[bytes, ...]

    def __str__(self) -> str:
        noun, verb = "entry" if self.examined == 1 else "entries", "is" if len(self.entries) == 1 else "are"
        return (
            f"{self.context}, {len(self.entries)} of {self.examined} {noun} {verb} not used "
            f"({_examples(self.entries)}), because the longest match there is another entry ({_examples(self.winners)})"
        )


def unused_entries(tokenizer: Tokenizer, entries: Sequence[bytes]) -> list[UnusedEntries]:
    """Returns the entries that are not used after a letter (``a``), a space, a line feed, or a letter and a space.

    At the start of a text, all entries are used. An entry is also used if it is a part of a longer entry, such as a
    variant with a space before it. Entries that begin with a letter or digit of ASCII are not examined after a letter,
    where they would be a part of a word, and entries that begin with white space are not examined after white space.
    Entries that are not used after a space are not reported again after a letter and a space.

    >>> import polytok
    >>> old = polytok.train(["a (b) (c) (d)"], "longest-match", vocab_size=258, min_count=3)
    >>> new = polytok.edit(old, add=["(^_^)"]).tokenizer
    >>> print(*unused_entries(new, [b"(^_^)"]))
    after a space, 1 of 1 entry is not used ("(^_^)"), because the longest match there is another entry (" (")
    """
    results: list[UnusedEntries] = []
    for name, context in _CONTEXTS.items():
        examined_entries = _examined(entries, name)
        if name == _AFTER_WORD:
            reported_entries = {entry for result in results if result.context != _LETTER for entry in result.entries}
            examined_entries = [entry for entry in examined_entries if entry not in reported_entries]
        winner_of_entry = _winners(tokenizer, examined_entries, context)
        if winner_of_entry:
            winners = tuple(winner for winner, _ in Counter(winner_of_entry.values()).most_common())
            results.append(UnusedEntries(name, len(examined_entries), tuple(winner_of_entry), winners))
    return results


def needed_variants(tokenizer: Tokenizer, entries: Sequence[bytes]) -> set[bytes]:
    """Returns the entries with a space or a line feed before them, if only these variants would be used there."""
    return {
        context + entry
        for name, context in _CONTEXTS_OF_VARIANTS.items()
        for entry in _winners(tokenizer, _examined(entries, name), context)
    }


def _examined(entries: Iterable[bytes], context: str) -> list[bytes]:
    """Returns the entries that can be expected in a context."""
    if context == _LETTER:
        return [entry for entry in entries if not entry[:1].isalnum()]
    return [entry for entry in entries if not entry[:1].isspace()]


def _winners(tokenizer: Tokenizer, entries: Sequence[bytes], context: bytes) -> dict[bytes, bytes]:
    """Returns the entries that are not used after ``context``, each with the entry that ends inside of it."""
    batch = tokenizer.encode_batch([context + entry for entry in entries])
    last_pieces = tokenizer.ids_to_pieces(batch.ids[batch.offsets[1:] - 1].tolist())
    return {
        entry: _crossing_piece(tokenizer.ids_to_pieces(ids.tolist()), len(context))
        for entry, ids, last_piece in zip(entries, batch, last_pieces, strict=True)
        if len(last_piece) < len(entry)
    }


def _crossing_piece(pieces: Iterable[bytes], position: int) -> bytes:
    """Returns the piece that covers the bytes before and after a position."""
    end = 0
    for piece in pieces:
        end += len(piece)
        if end > position:
            return piece
    raise AssertionError("the pieces do not cover the text")


def _examples(pieces: Sequence[bytes]) -> str:
    texts = [f'"{piece.decode(errors="backslashreplace")}"' for piece in pieces[:_MAX_EXAMPLES]]
    return ", ".join(texts) + (", ..." if len(pieces) > _MAX_EXAMPLES else "")
