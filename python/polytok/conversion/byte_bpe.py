"""Byte-pair encoding over bytes: what rank files and minbpe's models share, and how each is made of the other.

Both have the same pipeline (special tokens, one pattern whose matches are the pieces, merging of bytes, no rewriting);
they differ in where the priorities stand. Ids are never changed.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..errors import FormatError
from ..spec import Bpe, BytesDecode, Kind, PatternSplit, Spec
from .base import Converted, some
from .merges import live_merges
from .patterns import as_matches
from .ranks import RANKS, to_ranks, unmade
from .rows import sorted_by_id


def to_rank_file(spec: Spec, format_name: str) -> Converted:
    """As the Spec of a rank file: tiktoken's, or tekken's, which differ in where special tokens stand."""
    if spec.model == RANKS and _is_plain(spec):
        return Converted(spec)
    plain = plain_bytes(spec, format_name)
    return plain.then(to_ranks(replace(plain.spec, vocab=sorted_by_id(plain.spec.vocab))))


def to_minbpe(spec: Spec) -> Converted:
    """As the Spec of a minbpe model."""
    model = spec.model
    if model == Bpe("merges", merges=getattr(model, "merges", None)) and _is_plain(spec):
        return Converted(spec)
    plain = plain_bytes(spec, "minbpe")
    model = plain.spec.model
    assert isinstance(model, Bpe)
    vocab = sorted_by_id(plain.spec.vocab)
    losses: tuple[str, ...] = ()
    if model.whole_piece_first and (pieces := unmade(vocab, model)):
        losses = (
            f"model: {len(pieces)} entries that no merge makes are no longer found as whole pieces ({some(pieces)})",
        )
    merged = Bpe("merges", merges=live_merges(vocab, model).merges)
    return plain.then(Converted(replace(plain.spec, vocab=vocab, model=merged, names={}), losses, _lost_names(spec)))


def _lost_names(spec: Spec) -> tuple[str, ...]:
    return (f"names: {dict(spec.names)} is not in the file",) if spec.names else ()


def _is_plain(spec: Spec) -> bool:
    patterns = [step for step in spec.split if isinstance(step, PatternSplit) and step.behavior == "matches"]
    return not spec.normalize and spec.decode == BytesDecode() and len(patterns) == len(spec.split)


def plain_bytes(spec: Spec, format_name: str) -> Converted:
    """A Spec that merges bytes with nothing before it but one pattern, or FormatError."""
    model = spec.model
    if not isinstance(model, Bpe) or model.symbols != "bytes" or model.priority == "score":
        raise FormatError(f"{format_name} merges bytes; it cannot run this model: {model!r:.100}")
    split = as_matches(spec.split, format_name)
    losses = [f"normalize: {step.kind} is not done" for step in spec.normalize]
    if spec.decode != BytesDecode():
        losses.append(f"decode: the bytes as they are, not as {spec.decode!r:.60} does")
    vocab, special = spec.vocab, spec.special
    ordinary = vocab.kinds == Kind.NORMAL
    if not ordinary.all():
        raise FormatError(f"{format_name} has ordinary entries only, but {np.count_nonzero(~ordinary)} rows are not")
    return Converted(
        replace(spec, vocab=vocab, special=special, normalize=(), split=split, decode=BytesDecode(), trim=None),
        tuple(losses),
    )
