"""Computes the fingerprint of a Spec: a hash of all its data that affects ids.

The hash covers the vocabulary (bytes, ids, kinds, the restriction; scores if the model uses them), the model with its
merges, special tokens and their matching, the normalizer and split steps, the treatment of unknown text, the template,
and the SentencePiece release. The hash omits data that affects only decoding, spans or people: ``decode``, ``trim``,
``names``, ``origin``, ``extra``.

Tokenizers with the same fingerprint return the same ids for every text. Tokenizers
that return the same ids can have different fingerprints, because two Specs can express the same behaviour differently
(for example, a special token as a row or beside the rows), and because the order of rows is hashed. Fields with their
default value are not hashed, so a Spec keeps its fingerprint when later releases add fields.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from hashlib import blake2b, sha256
from typing import TYPE_CHECKING

from .plain import fields_to_plain
from .spec import Bpe, Char, Longest, Model, Spec, Word, WordLevel, WordPiece

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

_FIELDS_WITHOUT_EFFECT = frozenset({"vocab", "decode", "trim", "names", "origin", "extra"})
_DIGEST_SIZE = 16


def fingerprint(spec: Spec) -> bytes:
    """Returns the fingerprint of a Spec, 16 bytes."""
    digest = blake2b(digest_size=_DIGEST_SIZE, person=b"polytok encoding")
    for name, data in _hashed_parts(spec):
        digest.update(name.encode() + b"\0" + len(data).to_bytes(8, "little"))
        digest.update(data)
    return digest.digest()


def _hashed_parts(spec: Spec) -> Iterator[tuple[str, bytes]]:
    merges = spec.model.merges if isinstance(spec.model, Bpe) else None
    model = replace(spec.model, merges=None) if isinstance(spec.model, Bpe) else spec.model
    plain_fields = fields_to_plain(
        replace(spec, model=model), store_bytes=lambda data: sha256(data).hexdigest(), leave_out=_FIELDS_WITHOUT_EFFECT
    )
    yield "spec", json.dumps(plain_fields, sort_keys=True, separators=(",", ":")).encode()
    if merges is not None:
        yield "merges", _little_endian_bytes(merges)
    vocab = spec.vocab
    yield "blob", vocab.blob
    yield "offsets", _little_endian_bytes(vocab.offsets)
    yield "ids", _little_endian_bytes(vocab.ids)
    yield "kinds", _little_endian_bytes(vocab.kinds)
    if vocab.active_kinds is not None:
        yield "active_kinds", _little_endian_bytes(vocab.active_kinds)
    if _can_use_scores(spec.model):
        yield f"scores {vocab.scores.dtype.name}", _little_endian_bytes(vocab.scores)


def _can_use_scores(model: Model) -> bool:
    """Reports whether ids can depend on scores; returns False only for models that provably ignore scores."""
    if isinstance(model, Bpe):
        return model.priority == "score"
    return not isinstance(model, (Longest, Word, Char, WordPiece, WordLevel))


def _little_endian_bytes(column: npt.NDArray[np.generic]) -> bytes:
    import numpy as np

    return np.ascontiguousarray(column, dtype=column.dtype.newbyteorder("<")).tobytes()
