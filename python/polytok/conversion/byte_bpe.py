"""Byte-pair encoding over bytes: what rank files and minbpe's models share, and how each is made of the other.

Both have the same pipeline (special tokens, one pattern whose matches are the pieces, merging of bytes, no rewriting);
they differ in where the priorities stand. Ids are never changed.
"""

from __future__ import annotations

from dataclasses import replace

from ..errors import FormatError
from ..spec import Bpe, BytesDecode, LlamaCppDecode, PatternSplit, ReplaceInvalid, Spec, SpecialToken, described
from .base import Converted, some
from .merges import known_merges, live_merges
from .patterns import as_matches
from .ranks import RANKS, to_ranks, unmade
from .rows import sorted_by_id
from .special import flag_losses, matching_losses, only_tokens


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
    return not spec.normalize and isinstance(spec.decode, BytesDecode) and len(patterns) == len(spec.split)


def plain_bytes(spec: Spec, format_name: str) -> Converted:
    """A Spec that merges bytes with nothing before it but one pattern, or FormatError."""
    model = spec.model
    if not isinstance(model, Bpe) or model.symbols != "bytes" or model.priority == "score":
        raise FormatError(f"{format_name} merges bytes; it cannot run this model: {described(model)}")
    split = as_matches(spec.split, format_name)
    vocab = only_tokens(spec)
    notes = []
    if left_out := len(spec.vocab) - len(vocab):
        notes.append(f"vocab: {left_out} rows are special tokens or come out of no text; they are not among the ranks")
    losses = (*pipeline_losses(spec), *flag_losses(spec.special), *matching_losses(spec, "longest"))
    plain = replace(
        spec,
        vocab=vocab,
        model=known_merges(model, vocab),
        special=tuple(SpecialToken(token.text, token.id) for token in spec.special),
        matching="longest",
        normalize=(),
        split=split,
        unknown="error",
        decode=BytesDecode(),
        trim=None,
    )
    return Converted(plain, losses, tuple(notes))


def pipeline_losses(spec: Spec) -> tuple[str, ...]:
    """What a format does not do that only splits, merges bytes and puts them together again."""
    losses = [f"normalize: {step.kind} is not done" for step in spec.normalize if not isinstance(step, ReplaceInvalid)]
    if losses and (normalized := [token.text for token in spec.special if token.normalized]):
        losses.append(f"special: {len(normalized)} tokens are not searched in normalized text ({some(normalized)})")
    versions = {getattr(step, "unicode", None) for step in spec.split} - {None}
    losses += [f"split: the characters are those of the newest Unicode, not of {version}" for version in versions]
    decode = spec.decode
    if isinstance(decode, LlamaCppDecode):
        losses += ["decode: spaces before punctuation stay (clean_spaces)"] if decode.clean_spaces else []
    elif not isinstance(decode, BytesDecode):
        losses.append(f"decode: the bytes as they are, not as {decode!r:.60} does")
    return tuple(losses)
