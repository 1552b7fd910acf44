"""Compares the entries of two vocabularies by their texts."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..columns import has_kind
from ..space_mark import SPACE_MARK_BYTES
from ..spec import Kind, Unigram
from ..tokenizer import Tokenizer
from ..vocab_table import VocabEntry, VocabTable


class MovedEntry(NamedTuple):
    """An entry of both vocabularies with different ids. ``is_normal`` is true if it is an ordinary entry of both."""

    piece: bytes
    left_id: int
    right_id: int
    is_normal: bool


class OtherKind(NamedTuple):
    """An entry of both vocabularies that is of another kind in the other vocabulary."""

    piece: bytes
    left: Kind
    right: Kind


class OtherScore(NamedTuple):
    """An entry of both Unigram vocabularies that has another score in the other vocabulary."""

    piece: bytes
    left: float
    right: float


class EntryDifferences(NamedTuple):
    """The entries of two vocabularies, special tokens included, by their texts.

    ``shared`` is the number of texts that are in both vocabularies. A text with spaces, whose entry in the other
    vocabulary has U+2581 instead of them, is in both; ``respelled`` is the number of these texts. If several entries
    have the same text, the first ordinary one counts. ``other_scores`` is empty unless both models are Unigram.
    """

    only_left: tuple[VocabEntry, ...]
    only_right: tuple[VocabEntry, ...]
    moved: tuple[MovedEntry, ...]
    other_kinds: tuple[OtherKind, ...]
    other_scores: tuple[OtherScore, ...]
    shared: int
    respelled: int


def compare_entries(left: Tokenizer, right: Tokenizer) -> EntryDifferences:
    """Returns the differences between the entries of two tokenizers."""
    tables = left.vocab(), right.vocab()
    left_rows, right_rows = map(_row_of_piece, tables)
    partners = {row: _row_in(right_rows, piece) for piece, row in left_rows.items()}
    only_left_rows = [row for row, partner in partners.items() if partner is None]
    pairs = [(row, partner) for row, partner in partners.items() if partner is not None]
    partner_rows = {partner for _, partner in pairs}
    only_right_rows = [row for row in right_rows.values() if row not in partner_rows]
    has_scores = isinstance(left.spec.model, Unigram) and isinstance(right.spec.model, Unigram)
    return EntryDifferences(
        _entries(tables[0], only_left_rows),
        _entries(tables[1], only_right_rows),
        _moved(*tables, pairs),
        _other_kinds(*tables, pairs),
        _other_scores(*tables, pairs) if has_scores else (),
        len(pairs),
        sum(tables[0].pieces[row] != tables[1].pieces[partner] for row, partner in pairs),
    )


def respelled(piece: bytes) -> bytes:
    """Returns a piece with its spaces as U+2581, or its U+2581 as spaces: llama2.c's files have the latter."""
    if SPACE_MARK_BYTES in piece:
        return piece.replace(SPACE_MARK_BYTES, b" ")
    return piece.replace(b" ", SPACE_MARK_BYTES)


def _row_of_piece(table: VocabTable) -> dict[bytes, int]:
    """Returns the row of each text: the first ordinary one, else the first."""
    rows: dict[bytes, int] = {}
    is_normal = has_kind(table.kinds, Kind.NORMAL).tolist()
    for row, piece in enumerate(table.pieces):
        if rows.setdefault(piece, row) != row and is_normal[row] and not is_normal[rows[piece]]:
            rows[piece] = row
    return rows


def _row_in(rows: dict[bytes, int], piece: bytes) -> int | None:
    row = rows.get(piece)
    return rows.get(respelled(piece)) if row is None else row


def _entries(table: VocabTable, rows: list[int]) -> tuple[VocabEntry, ...]:
    """Returns the entries of some rows, in the order of ids."""
    chosen_rows = set(rows)
    return tuple(entry for row, entry in enumerate(table if rows else ()) if row in chosen_rows)


def _moved(left: VocabTable, right: VocabTable, pairs: list[tuple[int, int]]) -> tuple[MovedEntry, ...]:
    is_normal = [has_kind(table.kinds, Kind.NORMAL).tolist() for table in (left, right)]
    left_ids, right_ids = left.ids.tolist(), right.ids.tolist()
    return tuple(
        MovedEntry(left.pieces[row], left_ids[row], right_ids[partner], is_normal[0][row] and is_normal[1][partner])
        for row, partner in pairs
        if left_ids[row] != right_ids[partner]
    )


def _other_kinds(left: VocabTable, right: VocabTable, pairs: list[tuple[int, int]]) -> tuple[OtherKind, ...]:
    left_kinds, right_kinds = left.kinds.tolist(), right.kinds.tolist()
    return tuple(
        OtherKind(left.pieces[row], Kind(left_kinds[row]), Kind(right_kinds[partner]))
        for row, partner in pairs
        if left_kinds[row] != right_kinds[partner]
    )


def _other_scores(left: VocabTable, right: VocabTable, pairs: list[tuple[int, int]]) -> tuple[OtherScore, ...]:
    """Returns the ordinary entries whose scores differ as float32, which SentencePiece's files store."""
    if left.scores is None or right.scores is None or not pairs:
        return ()
    rows, partners = np.array(pairs).T
    left_scores, right_scores = left.scores[rows].astype(np.float32), right.scores[partners].astype(np.float32)
    is_normal = has_kind(left.kinds[rows], Kind.NORMAL) & has_kind(right.kinds[partners], Kind.NORMAL)
    differing = np.flatnonzero(is_normal & (left_scores != right_scores))
    return tuple(
        OtherScore(left.pieces[rows[place]], float(left_scores[place]), float(right_scores[place]))
        for place in differing.tolist()
    )
