"""Converts models of other formats to the components of Hugging Face's tokenizer.json.

Byte-level BPE: the merges are those of the derivations (see derivation.py), and a pattern without gaps becomes
``isolated``. SentencePiece: the normalizer is converted to Prepend and Replace, and the decoder to the chain of Llama's
files. User-defined entries match before the model runs: a pattern splits them off, and the model looks up whole pieces
first.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from ..columns import has_kind
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
    merges_bytes,
)
from .base import Converted, first_items, unmerged_text
from .byte_bpe import pipeline_losses
from .byte_level import row_of_text
from .merges import effective_merges, merges_from_scores, with_known_merges
from .patterns import as_isolated
from .ranks import unmerged_entries
from .rows import sorted_by_id, with_rows, with_texts
from .sentencepiece import BPE_MODEL, to_sentencepiece
from .special import matching_losses, only_text_rows, with_huggingface_ids

_MAX_USER_DEFINED_PIECES = 1000
_MAX_WORD_CHARS = 100_000
"""The largest number of characters in a word: tokenizers needs a limit, and llama.cpp has none."""


def to_huggingface(spec: Spec) -> Converted:
    """Converts to the Spec of a tokenizer.json."""
    if spec.origin.format == "huggingface":
        return Converted(spec)
    model = spec.model
    if merges_bytes(model):
        return _convert_byte_level(spec)
    if isinstance(model, WordPiece) and model.phantom_space:
        return _convert_wordpiece(spec)
    if isinstance(model, (WordPiece, WordLevel)):
        return Converted(spec)
    if isinstance(model, Unigram) and model.rules == "huggingface":
        return Converted(spec)
    source = to_sentencepiece(spec, "tokenizers")
    return source.then(_convert_sentencepiece(source.spec))


def _convert_byte_level(spec: Spec) -> Converted:
    model = spec.model
    assert isinstance(model, Bpe)
    vocab = sorted_by_id(only_text_rows(spec))
    losses = (*matching_losses(spec, "longest"), *pipeline_losses(spec))
    merges = effective_merges(vocab, with_known_merges(model, vocab)).merges
    model = Bpe("merges", merges=merges, whole_piece_first=model.whole_piece_first)
    split = tuple(_convert_split_step(step) for step in spec.split)
    vocab = with_huggingface_ids(_with_model_only_ids(vocab, spec), spec.special, byte_level=True)
    huggingface_spec = replace(
        spec,
        vocab=vocab,
        model=model,
        matching="longest",
        normalize=(),
        split=split,
        decode=BytesDecode(skips_unknown=True),
        trim=None,
    )
    return Converted(replace(huggingface_spec, unknown="error"), losses)


def _convert_split_step(step: SplitStep) -> SplitStep:
    if isinstance(step, PatternSplit):
        return as_isolated(replace(step, unicode=None))
    if isinstance(step, DigitGroups):
        raise FormatError("tokenizers cannot split digits into groups of three from the right")
    return step


def _with_model_only_ids(vocab: Vocab, spec: Spec) -> Vocab:
    """Adds the Spec's rows that are neither ordinary nor special tokens: only the model uses their ids."""
    known_ids = {*vocab.ids.tolist(), *(token.id for token in spec.special)}
    rows = zip(spec.vocab.pieces(), spec.vocab.ids.tolist(), strict=True)
    other_rows = [(text.decode(errors="replace"), number) for text, number in rows if number not in known_ids]
    return with_rows(vocab, [(row[0], number, row[1]) for text, number in other_rows for row in (row_of_text(text),)])


def _convert_wordpiece(spec: Spec) -> Converted:
    """Converts llama.cpp's WordPiece: instead of U+2581 before a word's first entry, ``##`` is before its other
    entries."""
    step = next((step for step in spec.normalize if isinstance(step, WpmNormalize)), WpmNormalize())
    special = {token.text.encode() for token in spec.special}
    texts = [piece if piece in special else _with_wordpiece_prefix(piece) for piece in spec.vocab.pieces()]
    if len(set(texts)) < len(texts):
        raise FormatError("two entries have the same text after ## is added")
    kinds = np.where(has_kind(spec.vocab.kinds, Kind.UNKNOWN), Kind.UNKNOWN, Kind.NORMAL).astype(np.uint8)
    huggingface_spec = replace(
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
    return Converted(huggingface_spec, (*losses, *matching_losses(spec, "longest")))


def _with_wordpiece_prefix(piece: bytes) -> bytes:
    mark = SPACE_MARK_BYTES
    return piece.removeprefix(mark) if piece.startswith(mark) else b"##" + piece


def _convert_sentencepiece(spec: Spec) -> Converted:
    step, decode = spec.normalize[0], spec.decode
    assert isinstance(step, SentencePieceNormalize) and isinstance(decode, SentencePieceDecode)
    if step.whitespace_as_suffix or not step.escape_whitespaces:
        raise FormatError(
            "tokenizers cannot express a space after the text, or spaces that are not replaced with U+2581"
        )
    user_defined_pieces = _pieces_of(spec.vocab, Kind.USER_DEFINED)
    if len(user_defined_pieces) > _MAX_USER_DEFINED_PIECES:
        raise FormatError(f"{len(user_defined_pieces)} user-defined pieces are too many for one pattern")
    model_result = _convert_bpe(spec, user_defined_pieces) if spec.model == BPE_MODEL else _convert_unigram(spec)
    huggingface_spec = replace(
        model_result.spec,
        vocab=_with_two_kinds(model_result.spec.vocab),
        special=_added_tokens(spec),
        normalize=_normalizer_steps(step),
        split=_split_steps(spec, user_defined_pieces),
        unknown="unk",
        decode=ChainDecode(tuple(_decoder_steps(step, spec.unknown == "bytes"))),
    )
    losses = (*model_result.losses, *_sentencepiece_losses(spec, step, decode))
    return Converted(huggingface_spec, losses, (*model_result.notes, *_sentencepiece_notes(spec, decode)))


def _convert_bpe(spec: Spec, user_defined_pieces: list[str]) -> Converted:
    assert isinstance(spec.model, Bpe)
    merge_list = merges_from_scores(spec.vocab, spec.model)
    losses = list(merge_list.losses)
    if user_defined_pieces:
        unmerged_pieces = [
            piece
            for piece in unmerged_entries(spec.vocab, spec.model)
            if piece.decode(errors="replace") not in user_defined_pieces
        ]
        if unmerged_pieces:
            text = unmerged_text(unmerged_pieces, "becomes a whole piece", "become whole pieces")
            losses.append(f"model: {text}")
        kinds = (Kind.CONTROL, Kind.BYTE, Kind.UNKNOWN)
        reserved_pieces = [piece for kind in kinds for piece in _pieces_of(spec.vocab, kind)]
        description = "reserved entries match a text that is the whole text between two user-defined pieces"
        losses.append(f"model: {len(reserved_pieces)} {description} ({first_items(reserved_pieces)})")
    if unused_pieces := _pieces_of(spec.vocab, Kind.UNUSED):
        losses.append(f"vocab: {len(unused_pieces)} unused pieces are not split again ({first_items(unused_pieces)})")
    model = Bpe(
        "merges",
        symbols="scalars",
        merges=merge_list.merges,
        whole_piece_first=bool(user_defined_pieces),
        byte_fallback=spec.unknown == "bytes",
        fuse_unknown=True,
    )
    unscored_vocab = replace(spec.vocab, scores=np.zeros_like(spec.vocab.scores))
    return Converted(replace(spec, vocab=unscored_vocab, model=model), tuple(losses))


def _convert_unigram(spec: Spec) -> Converted:
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


def _with_two_kinds(vocab: Vocab) -> Vocab:
    """Gives every entry one of two kinds: unknown or normal."""
    kinds = np.where(has_kind(vocab.kinds, Kind.UNKNOWN), Kind.UNKNOWN, Kind.NORMAL).astype(np.uint8)
    return replace(vocab, kinds=kinds, active_kinds=None)


def _added_tokens(spec: Spec) -> tuple[SpecialToken, ...]:
    """Returns the control pieces and the unknown piece as added tokens, then the Spec's own special tokens."""
    rows = np.flatnonzero(has_kind(spec.vocab.kinds, Kind.CONTROL, Kind.UNKNOWN)).tolist()
    special_texts = {token.text for token in spec.special}
    texts = ((spec.vocab.piece(row).decode(errors="replace"), int(spec.vocab.ids[row])) for row in rows)
    return (*(SpecialToken(text, number) for text, number in texts if text not in special_texts), *spec.special)


def _normalizer_steps(step: SentencePieceNormalize) -> tuple[NormalizeStep, ...]:
    steps: list[NormalizeStep] = [ReplaceInvalid()]
    if step.charsmap:
        steps.append(Precompiled(step.charsmap))
    if step.remove_extra_whitespaces:
        steps += [Replace(r"\A +| +\z", "", is_regex=True), Replace(" {2,}", " ", is_regex=True)]
    if step.add_dummy_prefix:
        steps.append(Prepend(SPACE_MARK))
    return (*steps, Replace(" ", SPACE_MARK))


def _split_steps(spec: Spec, user_defined_pieces: list[str]) -> tuple[SplitStep, ...]:
    if user_defined_pieces:
        pieces_by_length = sorted(user_defined_pieces, key=len, reverse=True)
        return (PatternSplit("|".join(map(_escape_piece, pieces_by_length)), "isolated"),)
    has_inner_space = any(SPACE_MARK in piece[1:] for piece in _pieces_of(spec.vocab, Kind.NORMAL))
    if spec.model == BPE_MODEL or has_inner_space:
        return ()
    return (Metaspace(SPACE_MARK, "never", split=True),)


def _escape_piece(piece: str) -> str:
    """Returns a pattern that matches the piece in every regex engine. Only operators, tabs and line breaks are
    escaped."""
    escaped_text = re.sub(r"[\\.^$|()\[\]{}*+?]", r"\\\g<0>", piece)
    return escaped_text.replace("\n", r"\n").replace("\r", r"\r").replace("\t", r"\t")


def _decoder_steps(step: SentencePieceNormalize, has_byte_pieces: bool) -> Iterator[DecodeStep]:
    yield ReplaceDecode(SPACE_MARK, " ")
    if has_byte_pieces:
        yield ByteFallbackDecode()
    yield FuseDecode()
    if step.add_dummy_prefix:
        yield StripDecode(" ", 1, 0)


def _sentencepiece_losses(spec: Spec, step: SentencePieceNormalize, decode: SentencePieceDecode) -> Iterator[str]:
    if step.charsmap:
        yield "normalize: the character map is applied to whole grapheme clusters, then to characters"
    if decode.denormalize is not None:
        yield "decode: the denormalizer is not applied"
    if spec.unknown != "bytes":
        yield f"decode: the unknown piece prints its name, not {decode.unk_surface.decode(errors='replace')!r}"


def _sentencepiece_notes(spec: Spec, decode: SentencePieceDecode) -> Iterator[str]:
    if decode.remove_extra_whitespaces:
        yield "decode: of several spaces at the start only one is removed"
    if spec.unknown == "bytes":
        yield "decode: in a run of bytes that are not UTF-8, every byte becomes one U+FFFD"
    yield "decode: control pieces print their names, unless special tokens are skipped"


def _pieces_of(vocab: Vocab, kind: Kind) -> list[str]:
    return [vocab.piece(int(row)).decode(errors="replace") for row in np.flatnonzero(has_kind(vocab.kinds, kind))]
