"""Finds ids that are missing or duplicate."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import numpy as np

from ..columns import has_kind
from ..spec import Insert, Kind, Spec
from .finding import Finding, Severity, format_examples

_SPARSE_FACTOR = 2


def find_ids_out_of_range(spec: Spec) -> Iterator[Finding]:
    """Finds roles and templates that name an id without an entry."""
    known_ids = {*spec.vocab.ids.tolist(), *(token.id for token in spec.special)}
    parts = (*spec.post.single, *spec.post.pair)
    inserted_ids = {number for part in parts if isinstance(part, Insert) for number in part.ids}
    uses_of_unknown_ids = [f"{role} {number}" for role, number in spec.names.items() if number not in known_ids]
    uses_of_unknown_ids += [f"template {number}" for number in sorted(inserted_ids - known_ids)]
    if uses_of_unknown_ids:
        yield Finding(
            "id-out-of-range",
            Severity.ERROR,
            f"ids without an entry: {', '.join(uses_of_unknown_ids)}",
            "correct the ids in the file; a model would look up a row that does not exist",
        )


def find_special_clashes(spec: Spec) -> Iterator[Finding]:
    """Finds special tokens that share their id or their text with another token."""
    pieces = spec.vocab.pieces()
    text_by_id = dict(zip(spec.vocab.ids.tolist(), pieces, strict=True))
    clashing_tokens = [
        token for token in spec.special if text_by_id.get(token.id, token.text.encode()) != token.text.encode()
    ]
    if clashing_tokens:
        yield Finding(
            "special-id-taken",
            Severity.ERROR,
            f"{len(clashing_tokens)} special tokens have the id of an entry with another text "
            f"({format_examples(f'{token.text} {token.id}' for token in clashing_tokens)})",
            "give the special tokens the ids that they have in the model, after the vocabulary",
        )
    ids = Counter(token.id for token in spec.special)
    shared_texts = [token.text for token in spec.special if ids[token.id] > 1]
    if shared_texts:
        yield Finding(
            "special-id-shared",
            Severity.NOTE,
            (
                f"{len(shared_texts)} special tokens share an id ({format_examples(shared_texts)}), which decodes to "
                "only one of the texts"
            ),
            "nothing, if the texts are names of one token",
        )
    normal_rows = np.flatnonzero(has_kind(spec.vocab.kinds, Kind.NORMAL)).tolist()
    row_by_piece = {pieces[row]: row for row in normal_rows}
    duplicate_texts = [
        token.text
        for token in spec.special
        if token.special
        and (row := row_by_piece.get(token.text.encode())) is not None
        and spec.vocab.ids[row] != token.id
    ]
    if duplicate_texts:
        yield Finding(
            "special-text-twice",
            Severity.WARNING,
            (
                f"{len(duplicate_texts)} special tokens are ordinary entries too, with another id "
                f"({format_examples(duplicate_texts)})"
            ),
            "the id depends on whether special tokens are recognized; keep only one of the two entries",
        )


def find_sparse_ids(spec: Spec) -> Iterator[Finding]:
    """Finds many unused ids below the largest id."""
    used_ids = np.unique(np.concatenate([spec.vocab.ids, np.array([t.id for t in spec.special], dtype=np.uint32)]))
    if not len(used_ids):
        return
    missing_count = int(used_ids[-1]) + 1 - len(used_ids)
    if missing_count >= len(used_ids) * _SPARSE_FACTOR:
        yield Finding(
            "sparse-ids",
            Severity.WARNING,
            f"ids go up to {used_ids[-1]}, but only {len(used_ids)} ids are used",
            "one very large id makes all tables by id large; check the special tokens with the largest ids",
        )
