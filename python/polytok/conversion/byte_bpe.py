"""Converts models that merge bytes to rank files and to minbpe's models.

Rank files and minbpe's models have the same pipeline: special tokens, one pattern whose matches are the pieces, merging
of bytes, and no normalizer. They differ only in the order in which pairs merge. Ids never change.
"""

from __future__ import annotations

from dataclasses import replace

from ..errors import FormatError
from ..spec import (
    Bpe,
    BytesDecode,
    LlamaCppDecode,
    PatternSplit,
    ReplaceInvalid,
    Spec,
    SpecialToken,
    described,
    merges_bytes,
)
from .base import Converted, first_items, unmerged_text
from .merges import effective_merges, with_known_merges
from .patterns import as_matches
from .ranks import RANK_MODEL, to_ranks, unmerged_entries
from .rows import sorted_by_id
from .special import flag_losses, matching_losses, only_text_rows


def to_rank_file(spec: Spec, format_name: str) -> Converted:
    """Converts to the Spec of a rank file of tiktoken or tekken; these formats differ in the ids of special tokens."""
    if spec.model == RANK_MODEL and _has_plain_pipeline(spec):
        return Converted(spec)
    conversion = to_plain_byte_bpe(spec, format_name)
    return conversion.then(to_ranks(replace(conversion.spec, vocab=sorted_by_id(conversion.spec.vocab))))


def to_minbpe(spec: Spec) -> Converted:
    """Converts to the Spec of a minbpe model."""
    model = spec.model
    if model == Bpe("merges", merges=getattr(model, "merges", None)) and _has_plain_pipeline(spec):
        return Converted(spec)
    conversion = to_plain_byte_bpe(spec, "minbpe")
    model = conversion.spec.model
    assert isinstance(model, Bpe)
    vocab = sorted_by_id(conversion.spec.vocab)
    losses: tuple[str, ...] = ()
    if model.whole_piece_first and (pieces := unmerged_entries(vocab, model)):
        one, many = "is not found as a whole piece", "are not found as whole pieces"
        losses = (f"model: {unmerged_text(pieces, one, many)}",)
    minbpe_model = Bpe("merges", merges=effective_merges(vocab, model).merges)
    return conversion.then(
        Converted(replace(conversion.spec, vocab=vocab, model=minbpe_model, names={}), losses, _name_losses(spec))
    )


def _name_losses(spec: Spec) -> tuple[str, ...]:
    roles = ", ".join(f"{role} (id {id})" for role, id in spec.names.items())
    return (f"names: {roles} {'are' if len(spec.names) > 1 else 'is'} not in the file",) if spec.names else ()


def _has_plain_pipeline(spec: Spec) -> bool:
    patterns = [step for step in spec.split if isinstance(step, PatternSplit) and step.behavior == "matches"]
    return not spec.normalize and isinstance(spec.decode, BytesDecode) and len(patterns) == len(spec.split)


def to_plain_byte_bpe(spec: Spec, format_name: str) -> Converted:
    """Converts to a Spec that only splits by one pattern and merges bytes; raises FormatError for any other model."""
    model = spec.model
    if not merges_bytes(model) or model.priority == "score":
        raise FormatError(f"{format_name} merges bytes; it cannot run this model: {described(model)}")
    split = as_matches(spec.split, format_name)
    vocab = only_text_rows(spec)
    notes = []
    if dropped_row_count := len(spec.vocab) - len(vocab):
        notes.append(
            f"vocab: {dropped_row_count} rows are special tokens, or no text is encoded to them; they have no rank"
        )
    losses = (*pipeline_losses(spec), *flag_losses(spec.special), *matching_losses(spec, "longest"))
    plain_spec = replace(
        spec,
        vocab=vocab,
        model=with_known_merges(model, vocab),
        special=tuple(SpecialToken(token.text, token.id) for token in spec.special),
        matching="longest",
        normalize=(),
        split=split,
        unknown="error",
        decode=BytesDecode(),
        trim=None,
    )
    return Converted(plain_spec, losses, tuple(notes))


def pipeline_losses(spec: Spec) -> tuple[str, ...]:
    """Returns the losses of a format that only splits text, merges bytes and concatenates them."""
    losses = [
        f"normalize: {step.kind} is not applied" for step in spec.normalize if not isinstance(step, ReplaceInvalid)
    ]
    if losses and (normalized_texts := [token.text for token in spec.special if token.normalized]):
        losses.append(
            f"special: {len(normalized_texts)} tokens are searched in the original text, not in normalized text "
            f"({first_items(normalized_texts)})"
        )
    versions = {getattr(step, "unicode", None) for step in spec.split} - {None}
    losses += [f"split: the Unicode tables are the newest, not those of {version}" for version in versions]
    decode = spec.decode
    if isinstance(decode, LlamaCppDecode):
        losses += ["decode: spaces before punctuation stay (clean_spaces)"] if decode.clean_spaces else []
    elif not isinstance(decode, BytesDecode):
        losses.append(f"decode: bytes are concatenated, not decoded by {decode!r:.60}")
    return tuple(losses)
