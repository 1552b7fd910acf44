"""Encodes a text: text → special → normalize → split → model → post → ids, as code."""

from __future__ import annotations

from collections.abc import Sequence

from polytok.errors import SpecError
from polytok.guard import guard_spec
from polytok.reference import models
from polytok.reference.invalid_utf8 import join_remainder, tokens_to_remove, valid_length
from polytok.reference.post import post_process
from polytok.reference.sentencepiece_normalize import normalize
from polytok.reference.special import Allowed, Trust, allowed_tokens, split_at_special_tokens, tokens_of_plain_text
from polytok.reference.split import split
from polytok.reference.stages import Aligned, RefToken
from polytok.reference.utf8 import Counts
from polytok.reference.vocabulary import vocabulary
from polytok.spec import Bpe, Char, PatternSplit, PrefixSpace, SentencePieceNormalize, Spec, Unigram


def encode(
    spec: Spec,
    text: str | bytes,
    *,
    special: Allowed = (),
    add_special: bool = False,
    trusted: Sequence[tuple[int, int]] | None = None,
) -> list[int]:
    """Returns the ids of a text.

    ``special`` names the special tokens that are recognized in the text; ``add_special`` adds the ids of the template.
    ``trusted`` has the start and the end of each trusted run of the text in bytes. Then all special tokens are
    recognized in these runs, and elsewhere only those that mark no structure (`polytok.Parts`).
    """
    return [token.id for token in tokens(spec, text, special=special, add_special=add_special, trusted=trusted)]


def tokens(
    spec: Spec,
    text: str | bytes,
    *,
    special: Allowed = (),
    add_special: bool = False,
    trusted: Sequence[tuple[int, int]] | None = None,
) -> list[RefToken]:
    """Returns the tokens of a text, with byte spans in the original text."""
    data = text.encode() if isinstance(text, str) else text
    vocab = vocabulary(spec.vocab)
    tokens: list[RefToken] = []
    trust = None if trusted is None else Trust.of_runs(data, trusted)
    special_tokens = allowed_tokens(spec, special if trust is None else "all")
    if trust and all(trust.mask):
        trust = None
    text_spec = spec if trust is None else _spec_of_plain_text(spec)
    plain_tokens = tokens_of_plain_text(spec) if trust else ()
    for id, start, end in split_at_special_tokens(data, special_tokens, trust, plain_tokens):
        if id is None:
            tokens += (
                token._replace(start=token.start + start, end=token.end + start)
                for token in _encode_text(text_spec, data[start:end], trust and trust.part(start, end))
            )
        else:
            tokens.append(RefToken(id, data[start:end], start, end))
    if add_special:
        before = [RefToken(id, vocab.piece_of(id), 0, 0) for id in spec.post.before]
        after = [RefToken(id, vocab.piece_of(id), len(data), len(data)) for id in spec.post.after]
        tokens = before + tokens + after
    return tokens


def _spec_of_plain_text(spec: Spec) -> Spec:
    """Returns a Spec whose model forms no special token from plain text. SentencePiece's models have rules of their own
    for user-defined pieces, which count only in trusted text."""
    if isinstance(spec.model, (Unigram, Char)) or (isinstance(spec.model, Bpe) and spec.model.symbols == "chars"):
        return spec
    return guard_spec(spec) or spec


def _encode_text(spec: Spec, text: bytes, trust: Trust | None) -> list[RefToken]:
    """Returns the tokens of a text that contains no special token: normalize, split, model, post."""
    normalized = _normalize(spec, text, trust)
    if trust and not spec.split:
        return _encode_piece(spec, normalized, trust.of_rewritten(normalized)) if normalized.text else []
    valid_bytes = valid_length(normalized.text) if spec.split else len(normalized.text)
    tokens: list[RefToken] = []
    last_tokens: list[RefToken] = []
    for piece in split(_patterns(spec), normalized.part(0, valid_bytes)):
        last_tokens = _encode_piece(spec, piece)
        tokens += last_tokens
    if valid_bytes < len(normalized.text):
        tokens_kept = len(tokens) - tokens_to_remove(tokens, len(last_tokens))
        joined_piece = join_remainder(tokens[tokens_kept:], normalized.part(valid_bytes, len(normalized.text)))
        tokens[tokens_kept:] = _encode_piece(spec, joined_piece)
    return tokens


def _patterns(spec: Spec) -> list[str]:
    """Returns the split patterns of a Spec. The twins drop text that no pattern matches."""
    for step in spec.split:
        if not isinstance(step, PatternSplit) or step.behavior != "matches":
            raise SpecError(f"the twins do not split by {step!r}")
    return [step.pattern for step in spec.split if isinstance(step, PatternSplit)]


def _normalize(spec: Spec, text: bytes, trust: Trust | None) -> Aligned:
    """Returns the text, rewritten by the Spec's normalizer step if the Spec has one."""
    match spec.normalize:
        case ():
            return Aligned.from_text(text)
        case (PrefixSpace(),):
            return Aligned(b" " + text, [0, *range(len(text) + 1)]) if text else Aligned.from_text(text)
        case (SentencePieceNormalize() as step,):
            return normalize(step, text, vocabulary(spec.vocab).user_defined, _counts(trust))
    raise SpecError(f"the twins do not normalize by {spec.normalize!r:.100}")


def _encode_piece(spec: Spec, piece: Aligned, trust: Trust | None = None) -> list[RefToken]:
    """Returns the tokens of one piece: model and post."""
    if not piece.text:
        return []
    is_llama2c = isinstance(spec.model, Bpe) and spec.model.symbols == "groups"
    return post_process(
        vocabulary(spec.vocab),
        piece,
        models.segment(spec, piece.text, _counts(trust)),
        spec.unknown,
        can_be_control=is_llama2c,
    )


def _counts(trust: Trust | None) -> Counts | None:
    """Returns the function that reports whether a user-defined piece counts."""
    return None if trust is None else trust.counts
