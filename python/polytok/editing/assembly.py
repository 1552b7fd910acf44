"""Builds the Spec of an edited vocabulary: its rows, merges and special tokens with their new ids."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..conversion.rows import offsets_of
from ..conversion.special import with_huggingface_ids
from ..records import replace
from ..spec import Bpe, Insert, Kind, Spec, SpecialToken, Template, TemplatePart, Vocab, merges_bytes
from .extras import updated_extra
from .families import Family
from .numbering import Numbering
from .rows import Row, Rows

if TYPE_CHECKING:
    import numpy.typing as npt

_FIRST_BYTES_OF_PADDING = 255
"""The byte 0xFF, with which the merges of reserved entries begin in a file that has only merges."""


def assembled(rows: Rows, family: Family, numbering: Numbering) -> Spec:
    """Returns the Spec of the edited vocabulary."""
    spec, kept = rows.spec, numbering.kept
    new_rows = _rows(rows, family, numbering)
    merges = _merges(rows, family, numbering, new_rows)
    if rows.layout.format == "minbpe":
        new_rows += _padding_rows_of_merges(new_rows, merges, numbering.reserved)
    vocab = _vocab(new_rows, spec)
    special = (
        *(replace(token, id=kept[token.id]) for token in spec.special),
        *_new_special_tokens(rows, numbering),
    )
    if rows.layout.format == "gguf":
        special = tuple(sorted(special, key=lambda token: token.id))
        vocab = _with_kinds_of_special_tokens(vocab, special, spec)
    if rows.layout.format == "huggingface":
        vocab = with_huggingface_ids(vocab, special, byte_level=merges_bytes(spec.model))
    model = spec.model
    if isinstance(model, Bpe) and model.merges is not None:
        model = replace(model, merges=merges)
    new_spec = replace(
        spec,
        vocab=vocab,
        model=model,
        special=special,
        post=_template(spec.post, kept),
        names={role: kept[id] for role, id in spec.names.items()},
        origin=replace(spec.origin, name=None),
    )
    return replace(new_spec, extra=updated_extra(rows, numbering, new_spec))


def _rows(rows: Rows, family: Family, numbering: Numbering) -> list[Row]:
    """Returns the rows that stay, those of new entries and special tokens, and reserved rows, with their new ids."""
    layout, kept = rows.layout, numbering.kept
    result = [Row(row.piece, kept[row.id], row.score, row.kind) for row in rows.rows if row.id in kept]
    new_entries = family.new_entries
    result += [Row(piece, id, new_entries[piece].score, Kind.NORMAL) for piece, id in numbering.pieces.items()]
    kind = _kind_of_special_rows(rows)
    if kind is not None:
        result += [Row(text.encode(), id, 0.0, kind) for text, id in numbering.special.items()]
    if layout.format != "minbpe":
        result += [Row(layout.reserved_piece(id), id, 0.0, layout.reserved_kind) for id in numbering.reserved]
    return result


def _kind_of_special_rows(rows: Rows) -> Kind | None:
    """Returns the kind of the rows of special tokens; None if the format has no such rows."""
    format, model = rows.layout.format, rows.spec.model
    if format == "gguf":
        return Kind.NORMAL if model.kind in ("wordpiece", "longest") else Kind.CONTROL
    if format == "sentencepiece" or model.kind in ("word", "char"):
        return Kind.CONTROL
    if format == "wordpiece":
        return Kind.NORMAL
    return None


def _new_special_tokens(rows: Rows, numbering: Numbering) -> list[SpecialToken]:
    if rows.layout.format == "sentencepiece":  # the kind of the row is enough
        return []
    return [SpecialToken(text, id) for text, id in numbering.special.items()]


def _vocab(new_rows: Sequence[Row], spec: Spec) -> Vocab:
    """Returns the rows as columns, in the order of their ids."""
    rows_by_id = sorted(new_rows, key=lambda row: row.id)
    scores: Any = np.array([row.score for row in rows_by_id], dtype=spec.vocab.scores.dtype)
    pieces = [row.piece for row in rows_by_id]
    return Vocab(
        blob=b"".join(pieces),
        offsets=offsets_of(pieces),
        ids=np.array([row.id for row in rows_by_id], dtype=np.uint32),
        scores=scores,
        kinds=np.array([row.kind for row in rows_by_id], dtype=np.uint8),
    )


def _with_kinds_of_special_tokens(vocab: Vocab, special: Sequence[SpecialToken], spec: Spec) -> Vocab:
    """Returns the vocabulary with the kinds that the rows of special tokens have when a GGUF file is read."""
    if spec.model.kind in ("wordpiece", "longest"):
        return vocab
    kinds = vocab.kinds.copy()
    for token in special:  # the rows of a GGUF file are numbered by their ids
        if kinds[token.id] != Kind.UNKNOWN:
            kinds[token.id] = Kind.CONTROL if token.special else Kind.USER_DEFINED
    return replace(vocab, kinds=kinds)


def _merges(rows: Rows, family: Family, numbering: Numbering, new_rows: Sequence[Row]) -> npt.NDArray[np.uint32]:
    """Returns the merges that stay, followed by the new ones, with their new ids."""
    model, kept = rows.spec.model, numbering.kept
    if not isinstance(model, Bpe) or model.merges is None:
        return np.zeros((0, 3), dtype=np.uint32)
    kept_merges = [[kept[id] for id in ids] for ids in model.merges.tolist() if all(id in kept for id in ids)]
    id_of_piece = {row.piece: row.id for row in reversed(new_rows)}
    new_merges = [[id_of_piece[piece] for piece in pieces] for pieces in family.merges()]
    all_merges = np.array([*kept_merges, *new_merges], dtype=np.uint32).reshape(-1, 3)
    if rows.layout.format != "minbpe":
        return all_merges
    return _with_merges_of_padding(all_merges, numbering.reserved)


def _with_merges_of_padding(merges: npt.NDArray[np.uint32], reserved_ids: Sequence[int]) -> npt.NDArray[np.uint32]:
    """Adds a merge for each reserved id to a list whose merges are numbered by their positions.

    Each is a pair of the byte 0xFF, which is not part of UTF-8, and another entry.
    """
    listed_pairs = {(left, right) for left, right, _ in merges.tolist()}
    rights = (right for right in range(2**32) if (_FIRST_BYTES_OF_PADDING, right) not in listed_pairs)
    padding = [[_FIRST_BYTES_OF_PADDING, right, id] for right, id in zip(rights, sorted(reserved_ids), strict=False)]
    all_merges = np.array([*merges.tolist(), *padding], dtype=np.uint32).reshape(-1, 3)
    return np.ascontiguousarray(all_merges[np.argsort(all_merges[:, 2], kind="stable")])


def _padding_rows_of_merges(
    new_rows: Sequence[Row], merges: npt.NDArray[np.uint32], reserved_ids: Sequence[int]
) -> list[Row]:
    """Returns the rows of the merges of reserved ids."""
    piece_of_id = {row.id: row.piece for row in new_rows}
    reserved = set(reserved_ids)
    padding: list[Row] = []
    for left, right, id in merges.tolist():
        if id in reserved:
            piece_of_id[id] = piece_of_id[left] + piece_of_id[right]
            padding.append(Row(piece_of_id[id], id, 0.0, Kind.NORMAL))
    return padding


def _template(template: Template, kept: dict[int, int]) -> Template:
    """Returns a template with the new ids."""

    def renumbered(parts: tuple[TemplatePart, ...]) -> tuple[TemplatePart, ...]:
        return tuple(
            replace(part, ids=tuple(kept[id] for id in part.ids)) if isinstance(part, Insert) else part
            for part in parts
        )

    return replace(template, single=renumbered(template.single), pair=renumbered(template.pair))
