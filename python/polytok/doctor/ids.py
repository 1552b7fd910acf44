"""Ids that are missing or duplicate."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import numpy as np

from ..spec import Insert, Kind, Spec
from .finding import Finding, Severity, examples

_SPARSE = 2


def out_of_range(spec: Spec) -> Iterator[Finding]:
    """Roles and templates that name an id without an entry."""
    known = {*spec.vocab.ids.tolist(), *(token.id for token in spec.special)}
    parts = (*spec.post.single, *spec.post.pair)
    inserted = {number for part in parts if isinstance(part, Insert) for number in part.ids}
    wrong = [f"{role} {number}" for role, number in spec.names.items() if number not in known]
    wrong += [f"template {number}" for number in sorted(inserted - known)]
    if wrong:
        yield Finding(
            "id-out-of-range",
            Severity.ERROR,
            f"ids that no entry has: {', '.join(wrong)}",
            "correct the ids in the file; a model would look up a row that it does not have",
        )


def special_clashes(spec: Spec) -> Iterator[Finding]:
    """Special tokens that share their id, or their text, with something else."""
    pieces = spec.vocab.pieces()
    text_of = dict(zip(spec.vocab.ids.tolist(), pieces, strict=True))
    taken = [token for token in spec.special if text_of.get(token.id, token.text.encode()) != token.text.encode()]
    if taken:
        yield Finding(
            "special-id-taken",
            Severity.ERROR,
            f"{len(taken)} special tokens have the id of an entry with another text "
            f"({examples(f'{token.text} {token.id}' for token in taken)})",
            "give the special tokens ids behind the vocabulary, as they have in the model",
        )
    ids = Counter(token.id for token in spec.special)
    shared = [token.text for token in spec.special if ids[token.id] > 1]
    if shared:
        yield Finding(
            "special-id-shared",
            Severity.NOTE,
            f"{len(shared)} special tokens share an id ({examples(shared)}); one of the texts is what it decodes to",
            "nothing, if the texts are names of the same token",
        )
    row_of = {piece: row for row, piece in enumerate(pieces) if spec.vocab.kinds[row] == Kind.NORMAL}
    doubled = [
        token.text
        for token in spec.special
        if token.special and (row := row_of.get(token.text.encode())) is not None and spec.vocab.ids[row] != token.id
    ]
    if doubled:
        yield Finding(
            "special-text-twice",
            Severity.WARNING,
            f"{len(doubled)} special tokens are ordinary entries too, with another id ({examples(doubled)})",
            "the id depends on whether special tokens are recognised; keep one of the two",
        )


def holes(spec: Spec) -> Iterator[Finding]:
    """Ids below the largest that nothing uses."""
    used = np.unique(np.concatenate([spec.vocab.ids, np.array([t.id for t in spec.special], dtype=np.uint32)]))
    if not len(used):
        return
    missing = int(used[-1]) + 1 - len(used)
    if missing >= len(used) * _SPARSE:
        yield Finding(
            "sparse-ids",
            Severity.WARNING,
            f"ids go up to {used[-1]}, but only {len(used)} of them are used",
            "a stray large id makes every table that is indexed by id large; check the largest special tokens",
        )
