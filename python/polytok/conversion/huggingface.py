"""Converts models of other formats to the components of Hugging Face's tokenizer.json.

Byte-level BPE: the merges are the derivations (see derivation.py), and patterns without gaps get the behavior isolated.
SentencePiece: the normalizer is converted to Prepend and Replace, the decoder to the chain of Llama's files. A pattern
splits off user-defined entries, which are matched before the model, and the model looks them up as whole pieces.
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
from .base import Converted, first_items
from .byte_bpe import pipeline_losses
from .byte_level import row_of_text
from .merges import known_merges, live_merges, merges_from_scores
from .patterns import as_isolated
from .ranks import unmerged_entries
from .rows import sorted_by_id, with_rows, with_texts
from .sentencepiece import BPE, to_sentencepiece
from .special import matching_losses, numbered_as_huggingface, only_tokens

_MAX_USER_DEFINED = 1000
_MAX_WORD_CHARS = 100_000
"""The limit for characters of a word, which tokenizers needs and llama.cpp does not have."""


def to_huggingface(spec: Spec) -> Converted:
    """Converts to the Spec of a tokenizer.json."""
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
    split = tuple(_convert_split_step(step) for step in spec.split)
    vocab = numbered_as_huggingface(_with_model_only_ids(vocab, spec), spec.special, byte_level=True)
    result_spec = replace(
        spec,
        vocab=vocab,
        model=model,
        matching="longest",
        normalize=(),
        split=split,
        decode=BytesDecode(skips_unknown=True),
        trim=None,
    )
    return Converted(replace(result_spec, unknown="error"), losses)


def _convert_split_step(step: SplitStep) -> SplitStep:
    if isinstance(step, PatternSplit):
        return as_isolated(replace(step, unicode=None))
    if isinstance(step, DigitGroups):
        raise FormatError("tokenizers has no split of digits into threes from the right")
    return step


def _with_model_only_ids(vocab: Vocab, spec: Spec) -> Vocab:
    """Returns the vocabulary with the rows that are neither tokens nor special: ids that only the model uses."""
    known_ids = {*vocab.ids.tolist(), *(token.id for token in spec.special)}
    rows = zip(spec.vocab.pieces(), spec.vocab.ids.tolist(), strict=True)
    other_rows = [(text.decode(errors="replace"), number) for text, number in rows if number not in known_ids]
    return with_rows(vocab, [(row[0], number, row[1]) for text, number in other_rows for row in (row_of_text(text),)])


def _wordpiece(spec: Spec) -> Converted:
    """Converts llama.cpp's WordPiece: ``##`` before later entries of a word replaces U+2581 before the first entry."""
    step = next((step for step in spec.normalize if isinstance(step, WpmNormalize)), WpmNormalize())
    special = {token.text.encode() for token in spec.special}
    texts = [piece if piece in special else _with_prefix(piece) for piece in spec.vocab.pieces()]
    if len(set(texts)) < len(texts):
        raise FormatError("two entries have the same text with their prefix")
    kinds = np.where(spec.vocab.kinds == Kind.UNKNOWN, Kind.UNKNOWN, Kind.NORMAL).astype(np.uint8)
    result_spec = replace(
        spec,
        vocab=replace(with_texts(spec.vocab, texts), kinds=kinds),
        model=WordPiece("##", _MAX_WORD_CHARS),
        matching="longest",
        normalize=(ReplaceInvalid(), BertNormalize(strip_accents=step.strip_accents, lowercase=step.lowercase)),
        split=(PatternSplit(SPACE, "removed"), PatternSplit(PUNCTUATION, "isolated")),
        decode=ChainDecode((WordPieceDecode(),)),
    )
    losses = (
        "normalize: accents are stripped from whole decompositions; lower case is Unicode's full mapping",
        f"model: words of more than {_MAX_WORD_CHARS} characters become unknown",
        "decode: tokenizers' rules decide where spaces are",
    )
    return Converted(result_spec, (*losses, *matching_losses(spec, "longest")))


def _with_prefix(piece: bytes) -> bytes:
    mark = SPACE_MARK_BYTES
    return piece.removeprefix(mark) if piece.startswith(mark) else b"##" + piece


def _from_sentencepiece(spec: Spec) -> Converted:
    step, decode = spec.normalize[0], spec.decode
    assert isinstance(step, SentencePieceNormalize) and isinstance(decode, SentencePieceDecode)
    if step.whitespace_as_suffix or not step.escape_whitespaces:
        raise FormatError(
            "tokenizers cannot express a space after the text, or spaces that are not replaced with U+2581"
        )
    user_defined = _pieces_of(spec.vocab, Kind.USER_DEFINED)
    if len(user_defined) > _MAX_USER_DEFINED:
        raise FormatError(f"{len(user_defined)} user-defined pieces are too many for a pattern")
    model_result = _bpe(spec, user_defined) if spec.model == BPE else _unigram(spec)
    result_spec = replace(
        model_result.spec,
        vocab=_only_unknown_kind(model_result.spec.vocab),
        special=_added_tokens(spec),
        normalize=_normalize(step),
        split=_split(spec, user_defined),
        unknown="unk",
        decode=ChainDecode(tuple(_decode(step, spec.unknown == "bytes"))),
    )
    losses = (*model_result.losses, *_losses(spec, step, decode))
    return Converted(result_spec, losses, (*model_result.notes, *_notes(spec, decode)))


def _bpe(spec: Spec, user_defined: list[str]) -> Converted:
    assert isinstance(spec.model, Bpe)
    merges = merges_from_scores(spec.vocab, spec.model)
    losses = list(merges.losses)
    if user_defined:
        unreached_entries = [
            piece
            for piece in unmerged_entries(spec.vocab, spec.model)
            if piece.decode(errors="replace") not in user_defined
        ]
        if unreached_entries:
            losses.append(
                f"model: {len(unreached_entries)} entries that no merge builds become whole pieces "
                f"({first_items(unreached_entries)})"
            )
        kinds = (Kind.CONTROL, Kind.BYTE, Kind.UNKNOWN)
        reserved_pieces = [piece for kind in kinds for piece in _pieces_of(spec.vocab, kind)]
        description = "reserved entries match a text that is the whole text between two user-defined pieces"
        losses.append(f"model: {len(reserved_pieces)} {description} ({first_items(reserved_pieces)})")
    if unused_pieces := _pieces_of(spec.vocab, Kind.UNUSED):
        losses.append(f"vocab: {len(unused_pieces)} unused pieces are not split again ({first_items(unused_pieces)})")
    model = Bpe(
        "merges",
        symbols="scalars",
        merges=merges.merges,
        whole_piece_first=bool(user_defined),
        byte_fallback=spec.unknown == "bytes",
        fuse_unknown=True,
    )
    unscored_vocab = replace(spec.vocab, scores=np.zeros_like(spec.vocab.scores))
    return Converted(replace(spec, vocab=unscored_vocab, model=model), tuple(losses))


def _unigram(spec: Spec) -> Converted:
    if spec.model != Unigram():
        raise FormatError(f"tokenizers has no model like this: {described(spec.model)}")
    losses = [
        "model: scores are summed in float64, not float32: segmentations whose scores differ only by rounding may "
        "change"
    ]
    kinds = (Kind.CONTROL, Kind.BYTE, Kind.UNKNOWN, Kind.UNUSED)
    if matching_pieces := [piece for kind in kinds for piece in _pieces_of(spec.vocab, kind)]:
        losses.append(
            f"model: {len(matching_pieces)} reserved entries match in a text ({first_items(matching_pieces)})"
        )
    vocab = replace(spec.vocab, scores=spec.vocab.scores.astype(np.float64))
    model = Unigram("huggingface", byte_fallback=spec.unknown == "bytes")
    return Converted(replace(spec, vocab=vocab, model=model), tuple(losses))


def _only_unknown_kind(vocab: Vocab) -> Vocab:
    """Returns the vocabulary with only two kinds of entries: unknown and normal."""
    kinds = np.where(vocab.kinds == Kind.UNKNOWN, Kind.UNKNOWN, Kind.NORMAL).astype(np.uint8)
    return replace(vocab, kinds=kinds, active_kinds=None)


def _added_tokens(spec: Spec) -> tuple[SpecialToken, ...]:
    """Returns the control pieces and the unknown piece as added tokens, then the Spec's own special tokens."""
    rows = np.flatnonzero((spec.vocab.kinds == Kind.CONTROL) | (spec.vocab.kinds == Kind.UNKNOWN)).tolist()
    special_texts = {token.text for token in spec.special}
    texts = ((spec.vocab.piece(row).decode(errors="replace"), int(spec.vocab.ids[row])) for row in rows)
    return (*(SpecialToken(text, number) for text, number in texts if text not in special_texts), *spec.special)


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
        return (PatternSplit("|".join(map(_escape, longest_first)), "isolated"),)
    has_inner_space = any(SPACE_MARK in piece[1:] for piece in _pieces_of(spec.vocab, Kind.NORMAL))
    if spec.model == BPE or has_inner_space:
        return ()
    return (Metaspace(SPACE_MARK, "never", split=True),)


def _escape(piece: str) -> str:
    """Returns a pattern that matches the piece in every regex engine: only operators and line breaks are escaped."""
    escaped_text = re.sub(r"[\\.^$|()\[\]{}*+?]", r"\\\g<0>", piece)
    return escaped_text.replace("\n", r"\n").replace("\r", r"\r").replace("\t", r"\t")


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
        yield "decode: of several spaces at the start only one is removed"
    if spec.unknown == "bytes":
        yield "decode: in a run of bytes that are not UTF-8, every byte becomes one U+FFFD"
    yield "decode: control pieces print their names, unless special tokens are skipped"


def _pieces_of(vocab: Vocab, kind: Kind) -> list[str]:
    return [vocab.piece(int(row)).decode(errors="replace") for row in np.flatnonzero(vocab.kinds == kind)]
