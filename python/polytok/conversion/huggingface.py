"""Models of other formats as Hugging Face's tokenizer.json has them.

Byte-level BPE: the merges are the derivations (see derivation.py), patterns that leave no gaps are isolated.
SentencePiece: the normalizer becomes Prepend and Replace, the decoder the chain that Llama's files have. Entries that
are matched before the model (user-defined) are cut out by a pattern, and looked up as whole pieces.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from ..errors import FormatError
from ..patterns import PUNCTUATION, SPACE
from ..space_mark import SPACE_MARK, SPACE_MARK_BYTES
from ..spec import (
    BertNormalize,
    Bpe,
    ByteFallbackDecode,
    BytesDecode,
    ChainDecode,
    DecodeStep,
    DigitGroups,
    FuseDecode,
    Kind,
    Metaspace,
    NormalizeStep,
    PatternSplit,
    Precompiled,
    Prepend,
    Replace,
    ReplaceDecode,
    ReplaceInvalid,
    SentencePieceDecode,
    SentencePieceNormalize,
    Spec,
    SpecialToken,
    SplitStep,
    StripDecode,
    Unigram,
    Vocab,
    WordLevel,
    WordPiece,
    WordPieceDecode,
    WpmNormalize,
    described,
)
from .base import Converted, some
from .byte_bpe import pipeline_losses
from .byte_level import row_of_text
from .merges import known_merges, live_merges, merges_from_scores
from .patterns import as_isolated
from .ranks import unmade
from .rows import appended, sorted_by_id, with_texts
from .sentencepiece import BPE, to_sentencepiece
from .special import matching_losses, numbered_as_huggingface, only_tokens

_MOST_USER_DEFINED = 1000
_LONGEST_WORD = 100_000
"""llama.cpp has no limit, and tokenizers needs one."""


def to_huggingface(spec: Spec) -> Converted:
    """As a tokenizer.json's Spec."""
    if spec.origin.format == "huggingface":
        return Converted(spec)
    model = spec.model
    if isinstance(model, Bpe) and model.symbols == "bytes":
        return _byte_level(spec)
    if isinstance(model, WordPiece) and model.phantom_space:
        return _wordpiece(spec)
    if isinstance(model, (WordPiece, WordLevel)):
        return Converted(spec)
    if isinstance(model, Unigram) and model.rules == "huggingface":
        return Converted(spec)
    source = to_sentencepiece(spec, "tokenizers")
    return source.then(_from_sentencepiece(source.spec))


def _byte_level(spec: Spec) -> Converted:
    model = spec.model
    assert isinstance(model, Bpe)
    vocab = sorted_by_id(only_tokens(spec))
    losses = (*matching_losses(spec, "longest"), *pipeline_losses(spec))
    merges = live_merges(vocab, known_merges(model, vocab)).merges
    model = Bpe("merges", merges=merges, whole_piece_first=model.whole_piece_first)
    split = tuple(_isolated(step) for step in spec.split)
    vocab = numbered_as_huggingface(_with_others(vocab, spec), spec.special, byte_level=True)
    converted = replace(
        spec,
        vocab=vocab,
        model=model,
        matching="longest",
        normalize=(),
        split=split,
        decode=BytesDecode(skips_unknown=True),
        trim=None,
    )
    return Converted(replace(converted, unknown="error"), losses)


def _isolated(step: SplitStep) -> SplitStep:
    if isinstance(step, PatternSplit):
        return as_isolated(replace(step, unicode=None))
    if isinstance(step, DigitGroups):
        raise FormatError("tokenizers has no split that cuts digits into threes from the right")
    return step


def _with_others(vocab: Vocab, spec: Spec) -> Vocab:
    """With the rows that are neither tokens nor special: ids that only a model has."""
    known = {*vocab.ids.tolist(), *(token.id for token in spec.special)}
    rows = zip(spec.vocab.pieces(), spec.vocab.ids.tolist(), strict=True)
    others = [(text.decode(errors="replace"), number) for text, number in rows if number not in known]
    return appended(vocab, [(row[0], number, row[1]) for text, number in others for row in (row_of_text(text),)])


def _wordpiece(spec: Spec) -> Converted:
    """llama.cpp's WordPiece: U+2581 before the starts of words becomes ``##`` before the rest."""
    step = next((each for each in spec.normalize if isinstance(each, WpmNormalize)), WpmNormalize())
    special = {token.text.encode() for token in spec.special}
    texts = [piece if piece in special else _with_prefix(piece) for piece in spec.vocab.pieces()]
    if len(set(texts)) < len(texts):
        raise FormatError("two entries have the same text when their prefix is put on")
    kinds = np.where(spec.vocab.kinds == Kind.UNKNOWN, Kind.UNKNOWN, Kind.NORMAL).astype(np.uint8)
    converted = replace(
        spec,
        vocab=replace(with_texts(spec.vocab, texts), kinds=kinds),
        model=WordPiece("##", _LONGEST_WORD),
        matching="longest",
        normalize=(ReplaceInvalid(), BertNormalize(strip_accents=step.strip_accents, lowercase=step.lowercase)),
        split=(PatternSplit(SPACE, "removed"), PatternSplit(PUNCTUATION, "isolated")),
        decode=ChainDecode((WordPieceDecode(),)),
    )
    losses = (
        "normalize: accents go by whole decompositions, letters by Unicode's lower case",
        f"model: words of more than {_LONGEST_WORD} characters become unknown",
        "decode: spaces stand where tokenizers puts them",
    )
    return Converted(converted, (*losses, *matching_losses(spec, "longest")))


def _with_prefix(piece: bytes) -> bytes:
    mark = SPACE_MARK_BYTES
    return piece.removeprefix(mark) if piece.startswith(mark) else b"##" + piece


def _from_sentencepiece(spec: Spec) -> Converted:
    step, decode = spec.normalize[0], spec.decode
    assert isinstance(step, SentencePieceNormalize) and isinstance(decode, SentencePieceDecode)
    if step.whitespace_as_suffix or not step.escape_whitespaces:
        raise FormatError("a space behind the text, or spaces that stay spaces, cannot be said")
    user_defined = _pieces_of(spec.vocab, Kind.USER_DEFINED)
    if len(user_defined) > _MOST_USER_DEFINED:
        raise FormatError(f"{len(user_defined)} user-defined pieces are too many for a pattern")
    made = _bpe(spec, user_defined) if spec.model == BPE else _unigram(spec)
    converted = replace(
        made.spec,
        vocab=_plain_kinds(made.spec.vocab),
        special=_special(spec),
        normalize=_normalize(step),
        split=_split(spec, user_defined),
        unknown="unk",
        decode=ChainDecode(tuple(_decode(step, spec.unknown == "bytes"))),
    )
    losses = (*made.losses, *_losses(spec, step, decode))
    return Converted(converted, losses, (*made.notes, *_notes(spec, decode)))


def _bpe(spec: Spec, user_defined: list[str]) -> Converted:
    assert isinstance(spec.model, Bpe)
    merges = merges_from_scores(spec.vocab, spec.model)
    losses = list(merges.losses)
    if user_defined:
        plain = replace(spec.model)
        unreached = [piece for piece in unmade(spec.vocab, plain) if piece.decode(errors="replace") not in user_defined]
        if unreached:
            losses.append(
                f"model: {len(unreached)} entries that no merge makes become whole pieces ({some(unreached)})"
            )
        kinds = (Kind.CONTROL, Kind.BYTE, Kind.UNKNOWN)
        reserved = [piece for kind in kinds for piece in _pieces_of(spec.vocab, kind)]
        what = "entries that text did not become match where they are all there is between user-defined ones"
        losses.append(f"model: {len(reserved)} {what} ({some(reserved)})")
    if unused := _pieces_of(spec.vocab, Kind.UNUSED):
        losses.append(f"vocab: {len(unused)} unused pieces are not taken apart again ({some(unused)})")
    model = Bpe(
        "merges",
        symbols="scalars",
        merges=merges.merges,
        whole_piece_first=bool(user_defined),
        byte_fallback=spec.unknown == "bytes",
        fuse_unknown=True,
    )
    unscored = replace(spec.vocab, scores=np.zeros_like(spec.vocab.scores))
    return Converted(replace(spec, vocab=unscored, model=model), tuple(losses))


def _unigram(spec: Spec) -> Converted:
    if spec.model != Unigram():
        raise FormatError(f"tokenizers has no model like this: {described(spec.model)}")
    losses = [
        "model: scores are summed in float64, not float32: segmentations that are equal but for rounding may swap"
    ]
    kinds = (Kind.CONTROL, Kind.BYTE, Kind.UNKNOWN, Kind.UNUSED)
    if matched := [piece for kind in kinds for piece in _pieces_of(spec.vocab, kind)]:
        losses.append(f"model: {len(matched)} entries that text did not become match in it ({some(matched)})")
    vocab = replace(spec.vocab, scores=spec.vocab.scores.astype(np.float64))
    model = Unigram("huggingface", byte_fallback=spec.unknown == "bytes")
    return Converted(replace(spec, vocab=vocab, model=model), tuple(losses))


def _plain_kinds(vocab: Vocab) -> Vocab:
    """Only the unknown token is told apart."""
    kinds = np.where(vocab.kinds == Kind.UNKNOWN, Kind.UNKNOWN, Kind.NORMAL).astype(np.uint8)
    return replace(vocab, kinds=kinds, active_kinds=None)


def _special(spec: Spec) -> tuple[SpecialToken, ...]:
    """The control pieces and the unknown one, as added tokens, before those that were special already."""
    rows = np.flatnonzero((spec.vocab.kinds == Kind.CONTROL) | (spec.vocab.kinds == Kind.UNKNOWN)).tolist()
    listed = {token.text for token in spec.special}
    texts = ((spec.vocab.piece(row).decode(errors="replace"), int(spec.vocab.ids[row])) for row in rows)
    return (*(SpecialToken(text, number) for text, number in texts if text not in listed), *spec.special)


def _normalize(step: SentencePieceNormalize) -> tuple[NormalizeStep, ...]:
    steps: list[NormalizeStep] = [ReplaceInvalid()]
    if step.charsmap:
        steps.append(Precompiled(step.charsmap))
    if step.remove_extra_whitespaces:
        steps += [Replace(r"\A +| +\z", "", is_regex=True), Replace(" {2,}", " ", is_regex=True)]
    if step.add_dummy_prefix:
        steps.append(Prepend(SPACE_MARK))
    return (*steps, Replace(" ", SPACE_MARK))


def _split(spec: Spec, user_defined: list[str]) -> tuple[SplitStep, ...]:
    if user_defined:
        longest_first = sorted(user_defined, key=len, reverse=True)
        return (PatternSplit("|".join(map(_escaped, longest_first)), "isolated"),)
    crosses = any(SPACE_MARK in piece[1:] for piece in _pieces_of(spec.vocab, Kind.NORMAL))
    if spec.model == BPE or crosses:
        return ()
    return (Metaspace(SPACE_MARK, "never", split=True),)


def _escaped(piece: str) -> str:
    """A text as a pattern that reads the same in every engine: only operators and line breaks are escaped."""
    escaped = re.sub(r"[\\.^$|()\[\]{}*+?]", r"\\\g<0>", piece)
    return escaped.replace("\n", r"\n").replace("\r", r"\r").replace("\t", r"\t")


def _decode(step: SentencePieceNormalize, has_bytes: bool) -> Iterator[DecodeStep]:
    yield ReplaceDecode(SPACE_MARK, " ")
    if has_bytes:
        yield ByteFallbackDecode()
    yield FuseDecode()
    if step.add_dummy_prefix:
        yield StripDecode(" ", 1, 0)


def _losses(spec: Spec, step: SentencePieceNormalize, decode: SentencePieceDecode) -> Iterator[str]:
    if step.charsmap:
        yield "normalize: the character map is applied to whole grapheme clusters, then to characters"
    if decode.denormalize is not None:
        yield "decode: the denormalizer is not applied"
    if spec.unknown != "bytes":
        yield f"decode: the unknown piece prints its name, not {decode.unk_surface.decode(errors='replace')!r}"


def _notes(spec: Spec, decode: SentencePieceDecode) -> Iterator[str]:
    if decode.remove_extra_whitespaces:
        yield "decode: of several spaces at the start only one is taken away"
    if spec.unknown == "bytes":
        yield "decode: bytes that are not UTF-8 become one U+FFFD each, with those around them"
    yield "decode: control pieces print their names, unless special tokens are skipped"


def _pieces_of(vocab: Vocab, kind: Kind) -> list[str]:
    return [vocab.piece(int(row)).decode(errors="replace") for row in np.flatnonzero(vocab.kinds == kind)]
