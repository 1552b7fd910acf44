"""text → special → normalize → split → model → post → ids, as code."""

from __future__ import annotations

from polytok.errors import SpecError
from polytok.reference import bpe, char, llama2c, longest, unigram, word
from polytok.reference.invalid_utf8 import rejoin, take_back, valid_length
from polytok.reference.post import post
from polytok.reference.sentencepiece_normalize import normalize
from polytok.reference.special import Allowed, allowed_tokens, cut
from polytok.reference.split import split
from polytok.reference.stages import Aligned, RefToken, Segment
from polytok.reference.vocabulary import vocabulary
from polytok.spec import Bpe, Char, Longest, PatternSplit, PrefixSpace, SentencePieceNormalize, Spec, Unigram


def encode(spec: Spec, text: str | bytes, *, special: Allowed = (), add_special: bool = False) -> list[int]:
    """The ids of a text. ``special`` are the special tokens allowed in it; ``add_special`` adds the template."""
    return [token.id for token in tokens(spec, text, special=special, add_special=add_special)]


def tokens(spec: Spec, text: str | bytes, *, special: Allowed = (), add_special: bool = False) -> list[RefToken]:
    """The tokens of a text, with byte spans in the original."""
    data = text.encode() if isinstance(text, str) else text
    words = vocabulary(spec.vocab)
    out: list[RefToken] = []
    for id, start, end in cut(data, allowed_tokens(spec, special)):
        if id is None:
            out += (
                token._replace(start=token.start + start, end=token.end + start)
                for token in _text(spec, data[start:end])
            )
        else:
            out.append(RefToken(id, data[start:end], start, end))
    if add_special:
        before = [RefToken(id, words.piece_of(id), 0, 0) for id in spec.post.before]
        after = [RefToken(id, words.piece_of(id), len(data), len(data)) for id in spec.post.after]
        out = before + out + after
    return out


def _text(spec: Spec, text: bytes) -> list[RefToken]:
    """A text without special tokens: normalize, split, model, post."""
    normal = _normalize(spec, text)
    valid = valid_length(normal.text) if spec.split else len(normal.text)
    out: list[RefToken] = []
    last: list[RefToken] = []
    for piece in split(_patterns(spec), normal.part(0, valid)):
        last = _piece(spec, piece)
        out += last
    if valid < len(normal.text):
        kept = len(out) - take_back(out, len(last))
        joined = rejoin(out[kept:], normal.part(valid, len(normal.text)))
        out[kept:] = _piece(spec, joined)
    return out


def _patterns(spec: Spec) -> list[str]:
    """Apply the split patterns; these twins drop text that no pattern matches."""
    for step in spec.split:
        if not isinstance(step, PatternSplit) or step.behavior != "matches":
            raise SpecError(f"the twins do not split by {step!r}")
    return [step.pattern for step in spec.split if isinstance(step, PatternSplit)]


def _normalize(spec: Spec, text: bytes) -> Aligned:
    """The text rewritten by the Spec's one step, if it has one."""
    match spec.normalize:
        case ():
            return Aligned.of(text)
        case (PrefixSpace(),):
            return Aligned(b" " + text, [0, *range(len(text) + 1)]) if text else Aligned.of(text)
        case (SentencePieceNormalize() as step,):
            return normalize(step, text, vocabulary(spec.vocab).user_defined)
    raise SpecError(f"the twins do not normalize by {spec.normalize!r:.100}")


def _piece(spec: Spec, piece: Aligned) -> list[RefToken]:
    """One piece: model and post."""
    is_llama2c = isinstance(spec.model, Bpe) and spec.model.symbols == "groups"
    return post(vocabulary(spec.vocab), piece, _model(spec, piece.text), spec.unknown, may_be_control=is_llama2c)


def _model(spec: Spec, text: bytes) -> list[Segment]:
    """The model's segments of one piece."""
    words = vocabulary(spec.vocab)
    if isinstance(spec.model, Bpe):
        return _bpe(spec, spec.model, text)
    if isinstance(spec.model, Longest):
        return longest.segment(words, text)
    if isinstance(spec.model, Unigram):
        return unigram.segment(words, text, spec.line)
    if isinstance(spec.model, Char):
        return char.segment(words, text, spec.line)
    return word.segment(words, text, spec.line)


def _bpe(spec: Spec, model: Bpe, text: bytes) -> list[Segment]:
    """BPE by its three priorities; a whole piece that is an entry can take precedence."""
    words = vocabulary(spec.vocab)
    if model.whole_piece_first and text in words.normal:
        return [Segment(words.normal[text], 0, len(text))]
    if model.priority == "merges":
        return bpe.by_merges(words, text, model)
    if model.priority == "rank":
        return bpe.by_rank(words, text)
    if model.symbols == "groups":
        return llama2c.segment(words, text, any(isinstance(step, PrefixSpace) for step in spec.normalize))
    return bpe.by_score(words, text, spec.line)
