"""What all families have in common: the texts of entries, and the entries that cover single characters."""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set
from typing import NamedTuple

from ...byte_level import BYTES, CHARACTERS
from ...columns import has_kind
from ...errors import ArgumentError, EncodeError
from ...space_mark import SPACE_MARK, SPACE_MARK_BYTES
from ...spec import ByteLevel, Kind, Metaspace, Replace, SentencePieceNormalize, Spec, UgmNormalize
from ...tokenizer import Tokenizer
from ..rows import Rows, covers_unknown_text


class NewEntry(NamedTuple):
    """An entry to add, with its score."""

    piece: bytes
    score: float = 0.0


class Family:
    """A vocabulary whose entries do not depend on each other.

    An edit calls `lost_entries` until no entry that stays is lost, then `begin`, then `add` for each new entry.
    """

    def __init__(self, rows: Rows) -> None:
        self.rows = rows
        self.spec = rows.spec
        self.pieces = dict(rows.all_ids)
        self.new_entries: dict[bytes, NewEntry] = {}
        self._has_space_mark = _has_space_mark(self.spec)
        self._has_byte_texts = self.spec.model.kind == "bpe" and ByteLevel() in self.spec.split

    # Texts

    def piece_of(self, entry: bytes) -> bytes:
        """Returns the piece of an entry that the caller names by its text: spaces are U+2581 in some vocabularies."""
        if self._has_byte_texts:
            body, suffix = self.without_affixes(entry)
            return "".join(CHARACTERS[byte] for byte in body).encode() + suffix
        return entry.replace(b" ", SPACE_MARK_BYTES) if self._has_space_mark else entry

    def text_of(self, piece: bytes) -> bytes:
        """Returns the text that a piece represents, without affixes."""
        body, _ = self.without_affixes(piece)
        if self._has_byte_texts:
            return _bytes_of_characters(body)
        return body.replace(SPACE_MARK_BYTES, b" ") if self._has_space_mark else body

    def without_affixes(self, piece: bytes) -> tuple[bytes, bytes]:
        """Returns a piece without the prefix or suffix that marks its place in a word, and the suffix."""
        return piece, b""

    def begins_a_word(self, piece: bytes) -> bool:
        """Reports whether a piece can be the first token of a text."""
        return True

    def is_word(self, piece: bytes) -> bool:
        """Reports whether a piece can be all of a text."""
        return self.begins_a_word(piece)

    def check(self, piece: bytes) -> None:
        """Raises `ArgumentError` for an entry that the vocabulary cannot contain."""
        try:
            piece.decode()
        except UnicodeDecodeError:
            raise ArgumentError(f"cannot add {piece!r}: the entries of this vocabulary are texts in UTF-8") from None

    # Removal

    def covers_a_character(self, piece: bytes) -> bool:
        """Reports whether texts with a byte or character would have no tokens without this entry."""
        return not covers_unknown_text(self.spec) and is_one_character(piece)

    def lost_entries(self, removed_ids: Set[int]) -> dict[int, set[int]]:
        """Returns the ids of entries that stay but could not be reached any more, with the removed ids they need."""
        return {}

    def begin(self, removed_ids: Set[int]) -> None:
        """Removes entries."""
        kept = {row.piece: row.id for row in self.rows.rows if row.id not in removed_ids}
        self.pieces = {piece: id for piece, id in self.pieces.items() if kept.get(piece) == id}

    # Addition

    def add(self, piece: bytes) -> None:
        """Adds an entry, and the entries that it needs, so that its text is one token."""
        if piece not in self.pieces:
            self.append(NewEntry(piece))

    def append(self, entry: NewEntry) -> None:
        """Adds an entry to the new entries."""
        self.new_entries[entry.piece] = entry
        self.pieces[entry.piece] = -1

    def merges(self) -> list[tuple[bytes, bytes, bytes]]:
        """Returns the merges to append to a list of merges: left piece, right piece, and merged piece."""
        return []

    # Segmentation

    def spell(self, spec: Spec, pieces: Sequence[bytes]) -> list[tuple[int, ...]]:
        """Returns the ids to which the model of a Spec encodes each piece; no ids if it cannot encode a piece."""
        return spell_by_model(spec, pieces)


def spell_by_model(spec: Spec, pieces: Sequence[bytes]) -> list[tuple[int, ...]]:
    """Encodes pieces by the model alone, without the other steps of the pipeline."""
    tokenizer = Tokenizer(Spec(spec.vocab, spec.model, unknown=spec.unknown))
    unknown_ids = {*spec.vocab.ids[has_kind(spec.vocab.kinds, Kind.UNKNOWN)].tolist()}
    try:
        all_ids: Iterable[list[int]] = tokenizer.encode_batch(pieces, threads=1).to_list()
    except EncodeError:
        all_ids = [_ids_or_nothing(tokenizer, piece) for piece in pieces]
    return [() if unknown_ids.intersection(ids) else tuple(ids) for ids in all_ids]


def _ids_or_nothing(tokenizer: Tokenizer, piece: bytes) -> list[int]:
    try:
        return tokenizer.encode(piece)
    except EncodeError:
        return []


def is_one_character(piece: bytes) -> bool:
    """Reports whether a piece is one character of UTF-8."""
    try:
        return len(piece.decode()) == 1
    except UnicodeDecodeError:
        return False


def _has_space_mark(spec: Spec) -> bool:
    """Reports whether the vocabulary writes spaces as U+2581."""
    steps = (*spec.normalize, *spec.split)
    return any(
        (isinstance(step, SentencePieceNormalize) and step.escape_whitespaces)
        or isinstance(step, UgmNormalize)
        or step == Replace(" ", SPACE_MARK)
        or (isinstance(step, Metaspace) and step.replacement == SPACE_MARK)
        for step in steps
    )


def _bytes_of_characters(piece: bytes) -> bytes:
    text = piece.decode(errors="replace")
    return bytes(BYTES[char] for char in text) if all(char in BYTES for char in text) else piece
