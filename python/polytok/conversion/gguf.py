"""Models of other formats as llama.cpp has them in a GGUF file.

llama.cpp's families are fixed programs: what a family does cannot be told otherwise, only some flags can. So most
conversions lose something, and here is said what.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np

from ..errors import FormatError
from ..space_mark import SPACE_MARK, SPACE_MARK_BYTES
from ..spec import (
    BertNormalize,
    Bpe,
    Kind,
    LlamaCppDecode,
    Longest,
    NormalizeStep,
    PatternSplit,
    PrefixSpace,
    Replace,
    ReplaceInvalid,
    SentencePieceNormalize,
    Spec,
    SpecialToken,
    Template,
    UgmNormalize,
    Unigram,
    Vocab,
    WordPiece,
    WpmNormalize,
    described,
)
from .base import Converted, some
from .byte_bpe import pipeline_losses
from .derivation import derivations, merge_alike
from .gguf_split import nearest
from .merges import known_merges, live_merges
from .ranks import unmade
from .rows import appended, sorted_by_id, with_texts
from .sentencepiece import BPE, to_sentencepiece
from .special import flag_losses, matching_losses, only_tokens

_SPM = Bpe("score", symbols="chars", reserved=True)
_WORDS = (PatternSplit("\0", "removed", is_regex=False),)
NEVER_IN_TEXT = b"\xff"


def to_gguf(spec: Spec) -> Converted:
    """As a GGUF file's Spec."""
    if isinstance(spec.decode, LlamaCppDecode):
        return Converted(spec)
    model = spec.model
    if isinstance(model, Bpe) and model.symbols == "bytes":
        return _bpe(spec)
    if isinstance(model, WordPiece):
        return _wpm(spec)
    if isinstance(model, Longest):
        return _rwkv(spec)
    source = to_sentencepiece(spec, "llama.cpp")
    if source.spec.model == BPE:
        return source.then(_spm(source.spec))
    if source.spec.model == Unigram():
        return source.then(_ugm(source.spec))
    raise FormatError(f"llama.cpp has no model like this: {described(source.spec.model)}")


# Byte-level BPE


def _bpe(spec: Spec) -> Converted:
    model = spec.model
    assert isinstance(model, Bpe)
    vocab, special = sorted_by_id(only_tokens(spec)), spec.special
    model = known_merges(model, vocab)
    merges = live_merges(vocab, model).merges
    chosen = nearest(spec)
    losses = [*matching_losses(spec, "longest_first"), *chosen.losses, *flag_losses(special, always=True)]
    losses += pipeline_losses(spec)
    losses += ["decode: spaces before punctuation go (clean_spaces)"] if chosen.clean_spaces else []
    if model.whole_piece_first != chosen.whole_piece_first and (pieces := unmade(vocab, model)):
        what = "no longer found as whole pieces" if model.whole_piece_first else "found as whole pieces"
        losses.append(f"model: {len(pieces)} entries that no merge makes are {what} ({some(pieces)})")
    converted = replace(
        spec,
        vocab=_with_special(vocab, special),
        model=Bpe("merges", merges=merges, whole_piece_first=chosen.whole_piece_first),
        special=tuple(_bare(token) for token in sorted(special, key=lambda token: token.id)),
        matching="longest_first",
        normalize=(ReplaceInvalid(lenient=True),),
        split=chosen.steps,
        unknown="drop",
        decode=LlamaCppDecode("bpe", clean_spaces=chosen.clean_spaces),
        trim=None,
        extra={**spec.extra, "gguf": {"pre_tokenizer": chosen.name}},
    )
    notes = ["normalize: bytes that are not UTF-8 become U+FFFD"]
    return _with_template(Converted(converted, tuple(losses), tuple(notes)))


def _with_special(vocab: Vocab, special: tuple[SpecialToken, ...]) -> Vocab:
    """Special tokens are rows, and ids have no holes."""
    taken = set(vocab.ids.tolist())
    texts: dict[int, SpecialToken] = {}
    for token in special:
        if texts.setdefault(token.id, token) is not token:
            raise FormatError(f"two special tokens have the id {token.id}: {texts[token.id].text}, {token.text}")
    kinds = {number: Kind.CONTROL if token.special else Kind.USER_DEFINED for number, token in texts.items()}
    rows = [(token.text.encode(), number, kinds[number]) for number, token in texts.items() if number not in taken]
    size = max((*taken, *texts), default=-1) + 1
    if size > 2 * (len(taken) + len(texts)):
        raise FormatError(f"ids go up to {size - 1}, but GGUF has a row for each, and most would be empty")
    rows += [(b"[PAD%d]" % n, n, Kind.UNUSED) for n in range(size) if n not in taken and n not in texts]
    longer = appended(vocab, rows)
    marked = longer.kinds.copy()
    for number, kind in kinds.items():
        marked[number] = kind
    return replace(longer, kinds=marked)


def _bare(token: SpecialToken) -> SpecialToken:
    """Without the flags that a file cannot say."""
    return SpecialToken(token.text, token.id, token.special)


def _with_template(converted: Converted) -> Converted:
    """The template as far as flags say it: BOS before and EOS behind."""
    spec = converted.spec
    before, after = spec.post.before, spec.post.after
    roles = {"bos": before, "eos": after}
    names = dict(spec.names)
    for role, ids in roles.items():
        if len(ids) == 1:
            names[role] = ids[0]
    said = Template.around(before[:1], after[:1])
    losses = () if said == spec.post else ("post: more than one id before and behind a text cannot be said",)
    return converted.then(Converted(replace(spec, post=said, names=names), losses))


# SentencePiece


def _spm(spec: Spec) -> Converted:
    step = spec.normalize[0]
    assert isinstance(step, SentencePieceNormalize) and isinstance(spec.model, Bpe)
    normalize: tuple[NormalizeStep, ...] = (Replace(" ", SPACE_MARK),)
    if step.add_dummy_prefix:
        normalize = (PrefixSpace(), *normalize)
    converted = replace(
        spec,
        model=_SPM,
        special=_special_rows(spec),
        matching="longest_first",
        normalize=normalize,
        unknown="bytes",
        decode=LlamaCppDecode("spm", strip_space=step.add_dummy_prefix),
    )
    losses = [*_spm_losses(spec, step), *_reserved(spec)]
    notes = ["normalize: bytes that are not UTF-8 stay as they are", "decode: control pieces print their names"]
    return _with_template(Converted(converted, tuple(losses), tuple(notes)))


def _spm_losses(spec: Spec, step: SentencePieceNormalize) -> Iterator[str]:
    if step.charsmap:
        yield "normalize: the character map is not applied"
    if step.remove_extra_whitespaces:
        yield "normalize: spaces at both ends and in runs stay"
    if step.whitespace_as_suffix or not step.escape_whitespaces:
        yield "normalize: spaces are not written as the pieces have them"
    if user_defined := _count(spec.vocab, Kind.USER_DEFINED):
        yield f"special: {user_defined} user-defined pieces are cut out first, and text behind them starts anew"
    if unused := _count(spec.vocab, Kind.UNUSED):
        yield f"vocab: {unused} unused pieces come out of text"
    if spec.unknown != "bytes" and _count(spec.vocab, Kind.BYTE) < 256:
        yield "unknown: characters without entry need byte pieces"


def _reserved(spec: Spec) -> Iterator[str]:
    """Whether merging with rows of every kind is provably the same."""
    assert isinstance(spec.model, Bpe)
    rows = merge_alike(derivations(spec.vocab, spec.model), derivations(spec.vocab, _SPM))
    if len(rows):
        pieces = [spec.vocab.piece(int(row)) for row in rows]
        yield f"model: {len(pieces)} entries merge in another way, as all kinds of pieces take part ({some(pieces)})"


def _special_rows(spec: Spec) -> tuple[SpecialToken, ...]:
    """llama.cpp cuts out control and unknown pieces if asked to, user-defined ones always."""
    wanted = {Kind.UNKNOWN: True, Kind.CONTROL: True, Kind.USER_DEFINED: False}
    rows = [(row, wanted[Kind(kind)]) for row, kind in enumerate(spec.vocab.kinds.tolist()) if kind in wanted]
    return tuple(SpecialToken(spec.vocab.piece(row).decode(errors="replace"), row, special) for row, special in rows)


def _count(vocab: Vocab, kind: Kind) -> int:
    return int(np.count_nonzero(vocab.kinds == kind))


def _ugm(spec: Spec) -> Converted:
    step = spec.normalize[0]
    assert isinstance(step, SentencePieceNormalize)
    if step.whitespace_as_suffix or not step.escape_whitespaces:
        raise FormatError("llama.cpp puts spaces before words, as U+2581")
    if spec.unknown == "bytes":
        raise FormatError("llama.cpp's Unigram has no byte fallback")
    converted = replace(
        spec,
        model=Unigram("llama.cpp"),
        special=_special_rows(spec),
        matching="longest_first",
        normalize=(UgmNormalize(step.charsmap, step.add_dummy_prefix, step.remove_extra_whitespaces),),
        unknown="unk",
        decode=LlamaCppDecode("ugm", strip_space=step.add_dummy_prefix),
    )
    return _with_template(Converted(converted, tuple(_ugm_losses(spec, step))))


def _ugm_losses(spec: Spec, step: SentencePieceNormalize) -> Iterator[str]:
    yield "model: scores are summed in float64, not float32: segmentations that are equal but for rounding may swap"
    if step.add_dummy_prefix and not step.remove_extra_whitespaces:
        yield "normalize: the space in front stands behind those at the start, and a text of spaces gets none"
    if not step.add_dummy_prefix and step.remove_extra_whitespaces:
        yield "normalize: a space is put before the first word"
    if user_defined := _count(spec.vocab, Kind.USER_DEFINED):
        yield f"special: {user_defined} user-defined pieces are cut out first, and text behind them starts anew"
    if unused := _count(spec.vocab, Kind.UNUSED):
        yield f"vocab: {unused} unused pieces come out of text"
    yield "decode: the unknown piece prints nothing or its name"


# WordPiece and RWKV


def _wpm(spec: Spec) -> Converted:
    model, step = spec.model, next((each for each in spec.normalize if isinstance(each, BertNormalize)), None)
    assert isinstance(model, WordPiece)
    losses = []
    if step is None:
        raise FormatError("llama.cpp's WordPiece comes with BERT's normalizer, and there is none here")
    if not (step.clean_text and step.handle_chinese_chars):
        losses.append("normalize: control characters go and ideographs stand alone, whatever the flags say")
    losses.append("decode: spaces stand where llama.cpp puts them")
    losses.append("normalize: accents go by the first character of each decomposition, letters by simple lower case")
    if model.max_chars is not None:
        losses.append(f"model: words of more than {model.max_chars} characters are not unknown for their length")
    special = {token.text: token for token in spec.special}
    texts = [_phantom(piece, model.continuing_prefix, special) for piece in spec.vocab.pieces()]
    if len(set(texts)) < len(texts):
        raise FormatError("two entries have the same text when their prefix is taken off")
    kinds = spec.vocab.kinds.copy()
    converted = replace(
        spec,
        vocab=replace(with_texts(spec.vocab, texts), kinds=kinds),
        model=WordPiece(continuing_prefix="", max_chars=None, phantom_space=True),
        matching="longest_first",
        special=tuple(_bare(token) for token in sorted(spec.special, key=lambda token: token.id)),
        normalize=(ReplaceInvalid(lenient=True), WpmNormalize(step.lowercase, step.strip_accents)),
        split=_WORDS,
        unknown="unk",
        post=Template.around(spec.post.before, spec.post.after),
        decode=LlamaCppDecode("wpm", clean_spaces=True),
    )
    return Converted(
        converted, (*losses, *flag_losses(spec.special, always=True), *matching_losses(spec, "longest_first"))
    )


def _phantom(piece: bytes, prefix: str, special: dict[str, SpecialToken]) -> bytes:
    """``##ing`` is ``ing``, ``in`` is ``▁in``, special tokens stay."""
    if piece.decode(errors="replace") in special:
        return piece
    return piece.removeprefix(prefix.encode()) if piece.startswith(prefix.encode()) else SPACE_MARK_BYTES + piece


def with_every_id(vocab: Vocab, named: Mapping[int, str]) -> Vocab:
    """The rows by id. llama.cpp finds every row in a text, so that ids without one get texts that no text has."""
    taken = set(vocab.ids.tolist())
    size = max((*taken, *named), default=-1) + 1
    if size > 2 * len(taken):
        raise FormatError(f"ids go up to {size - 1}, but GGUF has a row for each, and most would be empty")
    missing = [number for number in range(size) if number not in taken]
    rows = [(NEVER_IN_TEXT + named.get(number, f"[PAD{number}]").encode(), number, Kind.NORMAL) for number in missing]
    return appended(sorted_by_id(vocab), rows)


def _rwkv(spec: Spec) -> Converted:
    named = {token.id: token.text for token in spec.special}
    converted = replace(
        spec, vocab=with_every_id(spec.vocab, named), special=(), matching="longest_first", unknown="error",
        decode=LlamaCppDecode("rwkv"), post=Template(),
    )  # fmt: skip
    notes = [f"special: {some(named.values())} are not recognised in texts"] if named else []
    return Converted(converted, (), tuple(notes))
