"""Vocabularies whose entries are looked up: words, characters and WordPiece."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...errors import ArgumentError
from ...space_mark import SPACE_MARK_BYTES
from ...spec import Kind, Spec, WordPiece
from ..rows import Rows
from .base import Family, is_one_character


class WordFamily(Family):
    """Vocabularies of whole words, or of single characters: a text without an entry is unknown."""

    def __init__(self, rows: Rows, *, only_characters: bool) -> None:
        super().__init__(rows)
        self._only_characters = only_characters

    def covers_a_character(self, piece: bytes) -> bool:
        """Reports False: every entry is the only one of its text, so its removal always makes a text unknown."""
        return False

    def check(self, piece: bytes) -> None:
        """Raises `ArgumentError` for an entry that the vocabulary cannot contain."""
        super().check(piece)
        if self._only_characters and not is_one_character(piece):
            raise ArgumentError(
                f"cannot add {piece.decode()!r}: this model encodes each character by itself, so an entry of several "
                "characters would never be used"
            )


class WordPieceFamily(Family):
    """WordPiece: entries inside a word have a prefix, or with ``phantom_space`` entries at its start have U+2581."""

    def __init__(self, rows: Rows) -> None:
        super().__init__(rows)
        model = rows.spec.model
        assert isinstance(model, WordPiece)
        self._model = model
        self._prefix = model.continuing_prefix.encode()

    def piece_of(self, entry: bytes) -> bytes:
        """Returns the piece of an entry: with ``phantom_space``, a space before it marks the start of a word."""
        is_marked = self._model.phantom_space and entry.startswith(b" ")
        return SPACE_MARK_BYTES + entry[1:] if is_marked else entry

    def text_of(self, piece: bytes) -> bytes:
        """Returns the text that a piece represents, without its prefix."""
        return self.without_affixes(piece)[0]

    def without_affixes(self, piece: bytes) -> tuple[bytes, bytes]:
        """Returns a piece without the prefix that marks its place in a word."""
        if self._model.phantom_space:
            return piece.removeprefix(SPACE_MARK_BYTES), b""
        return (piece if self.begins_a_word(piece) else piece[len(self._prefix) :]), b""

    def begins_a_word(self, piece: bytes) -> bool:
        """Reports whether a piece is found at the start of a word."""
        if self._model.phantom_space:
            return piece.startswith(SPACE_MARK_BYTES)
        return not self._prefix or not (piece.startswith(self._prefix) and len(piece) > len(self._prefix))

    def covers_a_character(self, piece: bytes) -> bool:
        """Reports whether a piece is one character, at the start of a word or inside of it."""
        return is_one_character(self.without_affixes(piece)[0])

    def check(self, piece: bytes) -> None:
        """Raises `ArgumentError` for an entry that no word contains."""
        super().check(piece)
        text = self.text_of(piece)
        if any(char.isspace() for char in text.decode()) or not text:
            raise ArgumentError(f"cannot add {piece.decode()!r}: no word contains white space, so it would never match")

    def spell(self, spec: Spec, pieces: Sequence[bytes]) -> list[tuple[int, ...]]:
        """Returns the ids of each piece by longest match, at its place in a word."""
        rows = zip(spec.vocab.pieces(), spec.vocab.ids.tolist(), spec.vocab.kinds.tolist(), strict=True)
        ids = {piece: id for piece, id, kind in rows if kind != Kind.UNKNOWN}
        return [self._spell_piece(ids, piece) for piece in pieces]

    def _spell_piece(self, ids: Mapping[bytes, int], piece: bytes) -> tuple[int, ...]:
        text, is_start = self.text_of(piece).decode(errors="replace"), self.begins_a_word(piece)
        result: list[int] = []
        at = 0
        while at < len(text):
            ends = range(len(text), at, -1)
            matches = ((end, ids.get(self._piece_at(text[at:end], at == 0 and is_start))) for end in ends)
            end, id = next(((end, id) for end, id in matches if id is not None), (0, None))
            if id is None:
                return ()
            result.append(id)
            at = end
        return tuple(result)

    def _piece_at(self, text: str, is_start: bool) -> bytes:
        if self._model.phantom_space:
            return SPACE_MARK_BYTES + text.encode() if is_start else text.encode()
        return text.encode() if is_start else self._prefix + text.encode()
