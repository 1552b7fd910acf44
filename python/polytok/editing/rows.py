"""The rows of a vocabulary, divided into entries that can be edited and rows that stay."""

from __future__ import annotations

from typing import NamedTuple

from ..errors import ArgumentError
from ..spec import Insert, Kind, Spec, merges_bytes
from ..utf8 import text_or_bytes
from .layouts import Layout, layout_of


class Row(NamedTuple):
    """A row of the vocabulary."""

    piece: bytes
    id: int
    score: float
    kind: int


class Rows:
    """The rows of a vocabulary.

    ``entries`` maps the entries that can be edited to their ids; special tokens, unknown and byte pieces are not among
    them. ``all_ids`` maps every piece to its id. ``rows`` has all rows except reserved ones, whose ids are free.
    ``outside_ids`` are the ids of special tokens without a row, and ``renamed_special_tokens`` reports whether an edit
    has given some of them other texts.
    """

    def __init__(self, spec: Spec) -> None:
        vocab = spec.vocab
        if vocab.active_kinds is not None:
            raise ArgumentError("a vocabulary that is restricted to a part cannot be edited: load it again")
        self.spec = spec
        self.renamed_special_tokens = False
        self.layout: Layout = layout_of(spec)
        self.rows: list[Row] = []
        self.entries: dict[bytes, int] = {}
        self.all_ids: dict[bytes, int] = {}
        self.fixed_ids = _fixed_ids(spec)
        columns = (vocab.pieces(), vocab.ids.tolist(), vocab.scores.tolist(), vocab.kinds.tolist())
        for row in map(Row, *columns):
            if row.id not in self.fixed_ids and self.layout.is_reserved(row.piece, row.id):
                continue
            self.rows.append(row)
            self.all_ids.setdefault(row.piece, row.id)
            if row.kind == Kind.NORMAL and row.id not in self.fixed_ids and not _is_byte_piece(spec, row.piece):
                self.entries.setdefault(row.piece, row.id)
        row_ids = {row.id for row in self.rows}
        self.outside_ids = {token.id for token in spec.special} - row_ids
        self.old_size = 1 + max((*vocab.ids.tolist(), *self.outside_ids), default=-1)


def _fixed_ids(spec: Spec) -> set[int]:
    """Returns the ids that have a role: special tokens, byte pieces, and the ids of the template and of the names."""
    kinds = (Kind.UNKNOWN, Kind.CONTROL, Kind.USER_DEFINED, Kind.BYTE)
    row_ids = {id for id, kind in zip(spec.vocab.ids.tolist(), spec.vocab.kinds.tolist(), strict=True) if kind in kinds}
    parts = (*spec.post.single, *spec.post.pair)
    template_ids = {id for part in parts if isinstance(part, Insert) for id in part.ids}
    return row_ids | {token.id for token in spec.special} | template_ids | set(spec.names.values())


def _is_byte_piece(spec: Spec, piece: bytes) -> bool:
    """Reports whether a row represents a byte. Hugging Face's files do not give such rows a kind."""
    has_fallback = spec.unknown == "bytes" or bool(getattr(spec.model, "byte_fallback", False))
    return has_fallback and len(piece) == 6 and piece[:3] == b"<0x" and piece[5:] == b">"


def covers_unknown_text(spec: Spec) -> bool:
    """Reports whether text without an entry is encoded to bytes, so that no entry is needed for any character."""
    if merges_bytes(spec.model):
        return False  # the bytes themselves are entries, and they are needed
    return spec.unknown == "bytes" or bool(getattr(spec.model, "byte_fallback", False))


def shown_entry(entry: bytes) -> str:
    """Returns an entry as a message shows it: as text if it is UTF-8, else as bytes."""
    return repr(text_or_bytes(entry))
