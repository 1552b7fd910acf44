"""Models of Hugging Face's and llama.cpp's as SentencePiece models.

BPE: a score is the place in the list of merges. That this merges every text alike is checked for each entry; what does
not is told. Kinds are taken from what the special tokens and the texts of the entries say.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from ..errors import FormatError
from ..space_mark import SPACE_MARK
from ..spec import (
    Bpe,
    Kind,
    Metaspace,
    NormalizeStep,
    Precompiled,
    PrefixSpace,
    Prepend,
    Replace,
    ReplaceInvalid,
    SentencePieceDecode,
    SentencePieceNormalize,
    Spec,
    Template,
    UgmNormalize,
    Unigram,
    Vocab,
    described,
)
from .base import Converted, some
from .derivation import How, derivations, merge_alike
from .rows import appended, sorted_by_id

_BPE = Bpe("score", symbols="chars")
_BYTE = re.compile(rb"<0x[0-9A-F]{2}>")
_ROLES = {"unk": b"<unk>", "bos": b"<s>", "eos": b"</s>", "pad": b"<pad>"}
_TRIM = Replace(r"\A +| +\z", "", is_regex=True)
_COLLAPSE = Replace(" {2,}", " ", is_regex=True)


def from_huggingface(spec: Spec) -> Converted:
    """BPE over characters, or Unigram, with U+2581 for spaces."""
    model = spec.model
    has_bytes = bool(getattr(model, "byte_fallback", False))
    vocab = _numbered(_with_kinds(spec, has_bytes))
    normalize, losses = _normalizer(spec)
    losses += [f"special: {len(texts)} tokens lose flags ({some(texts)})"] if (texts := _flagged(spec)) else []
    if isinstance(model, Bpe):
        vocab, more = _scored(vocab, model)
        target: Bpe | Unigram = _BPE
    else:
        vocab, more = _narrowed(vocab)
        target = Unigram()
    if not (vocab.kinds == Kind.UNKNOWN).any():
        raise FormatError("a SentencePiece model needs an unknown piece, and there is no unknown token here")
    return _model(spec, vocab, target, normalize, has_bytes, [*losses, *more])


def from_llama_cpp(spec: Spec) -> Converted:
    """llama.cpp's SPM and UGM."""
    losses: list[str] = []
    if isinstance(spec.model, Bpe):
        space = any(isinstance(step, PrefixSpace) for step in spec.normalize)
        normalize = SentencePieceNormalize(add_dummy_prefix=space, remove_extra_whitespaces=False)
        rows = merge_alike(derivations(spec.vocab, spec.model), derivations(spec.vocab, _BPE))
        if len(rows):
            pieces = [spec.vocab.piece(int(row)) for row in rows]
            losses.append(f"model: {len(pieces)} entries merge in another way, without control pieces ({some(pieces)})")
        target: Bpe | Unigram = _BPE
    else:
        step = spec.normalize[0]
        assert isinstance(step, UgmNormalize)
        spaces = step.add_space_prefix or step.remove_extra_whitespaces
        normalize = SentencePieceNormalize(step.charsmap, spaces, step.remove_extra_whitespaces)
        losses.append("model: scores are summed in float32, not float64: segmentations that differ by rounding swap")
        target = Unigram()
    if any(token.lstrip or token.rstrip for token in spec.special):
        losses.append("special: white space around special tokens stays")
    if always := [token.text for token in spec.special if not token.special]:
        losses.append(f"special: text behind {len(always)} user-defined tokens does not start anew ({some(always)})")
    has_bytes = int(np.count_nonzero(spec.vocab.kinds == Kind.BYTE)) == 256
    return _model(spec, _one_unknown(spec), target, normalize, has_bytes, losses)


def _one_unknown(spec: Spec) -> Vocab:
    """SentencePiece has one unknown piece; others are only put in by id, as control symbols are."""
    kinds = spec.vocab.kinds.copy()
    unknown = spec.names.get("unk", 0)
    kinds[(kinds == Kind.UNKNOWN) & (spec.vocab.ids != unknown)] = Kind.CONTROL
    kinds[spec.vocab.ids == unknown] = Kind.UNKNOWN
    return replace(spec.vocab, kinds=kinds)


def _model(
    spec: Spec,
    vocab: Vocab,
    model: Bpe | Unigram,
    step: SentencePieceNormalize,
    has_bytes: bool,
    losses: list[str],
) -> Converted:
    names = _names(vocab)
    before = (names["bos"],) if "bos" in names else ()
    notes = ["decode: control pieces print nothing, and bytes that are not UTF-8 one U+FFFD each"]
    if spec.post != Template.around(before=before):
        notes.append("post: what stands around a text is not in the file; BOS is put before it where there is one")
    converted = Spec(
        vocab=vocab,
        model=model,
        normalize=(step,),
        unknown="bytes" if has_bytes else "unk",
        post=Template.around(before=before),
        decode=SentencePieceDecode(step.add_dummy_prefix, step.remove_extra_whitespaces),
        names=names,
        origin=spec.origin,
        extra=spec.extra,
    )
    return Converted(converted, tuple(losses), tuple(notes))


def _names(vocab: Vocab) -> dict[str, int]:
    """The roles that SentencePiece finds by the usual texts."""
    row_of = {piece: row for row, piece in enumerate(vocab.pieces())}
    found = {}
    for role, text in _ROLES.items():
        row = row_of.get(text)
        if role == "unk":
            row = int(np.flatnonzero(vocab.kinds == Kind.UNKNOWN)[0]) if (vocab.kinds == Kind.UNKNOWN).any() else None
        if row is not None and vocab.kinds[row] in (Kind.UNKNOWN, Kind.CONTROL):
            found[role] = row
    return found


def _with_kinds(spec: Spec, has_bytes: bool) -> Vocab:
    """Rows for all special tokens, and kinds: special ones are control symbols, others user-defined."""
    number_of = dict(zip(spec.vocab.pieces(), spec.vocab.ids.tolist(), strict=True))
    kind_of = {token.text.encode(): Kind.CONTROL if token.special else Kind.USER_DEFINED for token in spec.special}
    special = [(token.text.encode(), token.id) for token in spec.special]
    missing = [(text, number, int(kind_of[text])) for text, number in special if text not in number_of]
    vocab = appended(spec.vocab, missing)
    kinds = vocab.kinds.copy()
    for row, piece in enumerate(vocab.pieces()):
        if kinds[row] == Kind.UNKNOWN:
            continue
        if piece in kind_of:
            kinds[row] = kind_of[piece]
        elif has_bytes and _BYTE.fullmatch(piece):
            kinds[row] = Kind.BYTE
    return replace(vocab, kinds=kinds)


def _numbered(vocab: Vocab) -> Vocab:
    """By id, with unused rows where an id has none."""
    missing = sorted(set(range(int(vocab.ids.max(initial=0)) + 1)) - set(vocab.ids.tolist()))
    if len(missing) > len(vocab):
        raise FormatError(f"ids go up to {vocab.ids.max()}, but most have no entry, and a model numbers its pieces")
    return sorted_by_id(appended(vocab, [(b"[PAD%d]" % number, number, int(Kind.UNUSED)) for number in missing]))


def _flagged(spec: Spec) -> list[str]:
    return [t.text for t in spec.special if t.single_word or t.lstrip or t.rstrip]


def _scored(vocab: Vocab, model: Bpe) -> tuple[Vocab, list[str]]:
    if model.continuing_prefix or model.word_suffix or model.whole_piece_first or not model.fuse_unknown:
        raise FormatError(
            f"SentencePiece does not put affixes on or look pieces up, and joins unknowns: {described(model)}"
        )
    listed = replace(model, symbols="chars")
    before = derivations(vocab, listed)
    scores = np.zeros(len(vocab), dtype=np.float32)
    merged = before.rows(How.MERGED)
    order = merged[np.argsort(before.priority[merged], kind="stable")]
    scores[order] = -np.arange(1, len(order) + 1, dtype=np.float32)
    single = np.flatnonzero((before.how == How.INITIAL) & (vocab.kinds == Kind.NORMAL))
    scores[single] = -np.arange(len(order) + 1, len(order) + 1 + len(single), dtype=np.float32)
    scored = replace(vocab, scores=scores)
    rows = merge_alike(before, derivations(scored, _BPE))
    pieces = [vocab.piece(int(row)) for row in rows if vocab.kinds[row] == Kind.NORMAL]
    losses = [f"model: {len(pieces)} entries are merged in another way by scores ({some(pieces)})"] if pieces else []
    return scored, losses


def _narrowed(vocab: Vocab) -> tuple[Vocab, list[str]]:
    scores = vocab.scores.astype(np.float32)
    losses = ["model: scores are summed in float32, not float64: segmentations that differ by rounding swap"]
    if not np.array_equal(scores.astype(np.float64), vocab.scores):
        losses.append("vocab: scores are rounded to float32")
    return replace(vocab, scores=scores), losses


def _normalizer(spec: Spec) -> tuple[SentencePieceNormalize, list[str]]:
    """SentencePiece's normalizer that comes nearest, and what it does not do."""
    losses = list(_unlike(spec.normalize, spec))
    charsmap = next((step.charsmap for step in spec.normalize if isinstance(step, Precompiled)), b"")
    if charsmap:
        losses.append("normalize: the character map is applied to the longest match, not to grapheme clusters")
    metaspace = next((step for step in spec.split if isinstance(step, Metaspace)), None)
    prepends = Prepend(SPACE_MARK) in spec.normalize
    if metaspace is None and Replace(" ", SPACE_MARK) not in spec.normalize:
        raise FormatError("a SentencePiece model writes spaces as U+2581, and nothing here does")
    if metaspace is not None and metaspace.prepend != "never":
        losses.append("normalize: a space is put before texts that start with a space too")
        prepends = True
    if metaspace is not None and metaspace.split and (across := _across(spec.vocab)):
        losses.append(f"split: {len(across)} entries with a space inside can come out of a text ({some(across)})")
    collapses = _TRIM in spec.normalize and _COLLAPSE in spec.normalize
    return SentencePieceNormalize(charsmap, prepends, collapses), losses


def _across(vocab: Vocab) -> list[str]:
    return [text for piece in vocab.pieces() if SPACE_MARK in (text := piece.decode(errors="replace"))[1:]]


def _unlike(steps: tuple[NormalizeStep, ...], spec: Spec) -> Iterator[str]:
    known: tuple[NormalizeStep, ...] = (
        ReplaceInvalid(),
        Prepend(SPACE_MARK),
        Replace(" ", SPACE_MARK),
        _TRIM,
        _COLLAPSE,
    )
    for step in steps:
        if step not in known and not isinstance(step, Precompiled):
            yield f"normalize: {step.kind} is not done"
    for cut in spec.split:
        if not isinstance(cut, Metaspace):
            yield f"split: {cut.kind} is not done"
