"""Converts models of Hugging Face and llama.cpp to SentencePiece models.

BPE: the score of an entry is the negative position of its merge in the list. For each entry, the
conversion checks that the new model merges like the original model; a difference is a loss. The kind of an entry
follows from the special tokens and from its text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from ..columns import has_kind
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
from .base import Converted, counted_entries, first_items
from .derivation import DerivationKind, derivations, rows_merged_differently
from .rows import sorted_by_id, with_rows

_BPE_MODEL = Bpe("score", symbols="chars")
_BYTE_PIECE = re.compile(rb"<0x[0-9A-F]{2}>")
_TEXT_OF_ROLE = {"unk": b"<unk>", "bos": b"<s>", "eos": b"</s>", "pad": b"<pad>"}
_TRIM_SPACES = Replace(r"\A +| +\z", "", is_regex=True)
_COLLAPSE_SPACES = Replace(" {2,}", " ", is_regex=True)


def from_huggingface(spec: Spec) -> Converted:
    """Converts Hugging Face's Unigram, or its BPE over characters; spaces must be written as U+2581."""
    model = spec.model
    has_byte_pieces = bool(getattr(model, "byte_fallback", False))
    vocab = _with_all_ids(_with_kinds(spec, has_byte_pieces))
    normalize, losses = _closest_normalizer(spec)
    losses += (
        [f"special: {len(texts)} tokens lose flags ({first_items(texts)})"]
        if (texts := _special_texts_with_flags(spec))
        else []
    )
    if isinstance(model, Bpe):
        vocab, score_losses = _with_merge_scores(vocab, model)
        target_model: Bpe | Unigram = _BPE_MODEL
    else:
        vocab, score_losses = _with_float32_scores(vocab)
        target_model = Unigram()
    if not has_kind(vocab.kinds, Kind.UNKNOWN).any():
        raise FormatError("a SentencePiece model needs an unknown piece, but this tokenizer has no unknown token")
    return _to_sentencepiece_spec(spec, vocab, target_model, normalize, has_byte_pieces, [*losses, *score_losses])


def from_llama_cpp(spec: Spec) -> Converted:
    """Converts llama.cpp's SPM (BPE with scores) and UGM (Unigram)."""
    losses: list[str] = []
    if isinstance(spec.model, Bpe):
        has_prefix_space = any(isinstance(step, PrefixSpace) for step in spec.normalize)
        normalize = SentencePieceNormalize(add_dummy_prefix=has_prefix_space, remove_extra_whitespaces=False)
        rows = rows_merged_differently(derivations(spec.vocab, spec.model), derivations(spec.vocab, _BPE_MODEL))
        if len(rows):
            pieces = [spec.vocab.piece(int(row)) for row in rows]
            change = "differently without control pieces"
            losses.append(f"model: {counted_entries(pieces, f'merges {change}', f'merge {change}')}")
        target_model: Bpe | Unigram = _BPE_MODEL
    else:
        step = spec.normalize[0]
        assert isinstance(step, UgmNormalize)
        adds_prefix = step.add_space_prefix or step.remove_extra_whitespaces
        normalize = SentencePieceNormalize(step.charsmap, adds_prefix, step.remove_extra_whitespaces)
        losses.append(
            "model: scores are summed in float32, not float64: segmentations whose scores differ only by rounding "
            "may change"
        )
        target_model = Unigram()
    if any(token.lstrip or token.rstrip for token in spec.special):
        losses.append("special: white space around special tokens stays")
    if always_matched_texts := [token.text for token in spec.special if not token.special]:
        losses.append(
            f"special: text after {len(always_matched_texts)} user-defined tokens is not encoded as a new text "
            f"({first_items(always_matched_texts)})"
        )
    has_byte_pieces = int(np.count_nonzero(has_kind(spec.vocab.kinds, Kind.BYTE))) == 256
    return _to_sentencepiece_spec(spec, _with_one_unknown(spec), target_model, normalize, has_byte_pieces, losses)


def _with_one_unknown(spec: Spec) -> Vocab:
    """Keeps one unknown piece, as SentencePiece needs; the other unknown pieces get the kind CONTROL."""
    kinds = spec.vocab.kinds.copy()
    unknown_id = spec.names.get("unk", 0)
    kinds[has_kind(kinds, Kind.UNKNOWN) & (spec.vocab.ids != unknown_id)] = Kind.CONTROL
    kinds[spec.vocab.ids == unknown_id] = Kind.UNKNOWN
    return replace(spec.vocab, kinds=kinds)


def _to_sentencepiece_spec(
    spec: Spec,
    vocab: Vocab,
    model: Bpe | Unigram,
    step: SentencePieceNormalize,
    has_byte_pieces: bool,
    losses: list[str],
) -> Converted:
    names = _ids_of_roles(vocab)
    ids_before = (names["bos"],) if "bos" in names else ()
    notes = ["decode: control pieces print nothing, and bytes that are not UTF-8 one U+FFFD each"]
    if spec.post != Template.around(before=ids_before):
        notes.append("post: the template is not in the file; only BOS is added, if the vocabulary has it")
    sentencepiece_spec = Spec(
        vocab=vocab,
        model=model,
        normalize=(step,),
        unknown="bytes" if has_byte_pieces else "unk",
        post=Template.around(before=ids_before),
        decode=SentencePieceDecode(step.add_dummy_prefix, step.remove_extra_whitespaces),
        names=names,
        origin=spec.origin,
        extra=spec.extra,
    )
    return Converted(sentencepiece_spec, tuple(losses), tuple(notes))


def _ids_of_roles(vocab: Vocab) -> dict[str, int]:
    """Returns the ids of the roles that SentencePiece finds by their usual texts."""
    row_of_piece = {piece: row for row, piece in enumerate(vocab.pieces())}
    ids = {}
    for role, text in _TEXT_OF_ROLE.items():
        row = row_of_piece.get(text)
        if role == "unk":
            unknown_rows = np.flatnonzero(has_kind(vocab.kinds, Kind.UNKNOWN))
            row = int(unknown_rows[0]) if len(unknown_rows) else None
        if row is not None and vocab.kinds[row] in (Kind.UNKNOWN, Kind.CONTROL):
            ids[role] = row
    return ids


def _with_kinds(spec: Spec, has_byte_pieces: bool) -> Vocab:
    """Adds the missing rows of special tokens; rows of special tokens get the kind CONTROL or USER_DEFINED."""
    id_of_piece = dict(zip(spec.vocab.pieces(), spec.vocab.ids.tolist(), strict=True))
    kind_of_text = {token.text.encode(): Kind.CONTROL if token.special else Kind.USER_DEFINED for token in spec.special}
    special = [(token.text.encode(), token.id) for token in spec.special]
    missing_rows = [(text, number, int(kind_of_text[text])) for text, number in special if text not in id_of_piece]
    vocab = with_rows(spec.vocab, missing_rows)
    kinds = vocab.kinds.copy()
    for row, piece in enumerate(vocab.pieces()):
        if kinds[row] == Kind.UNKNOWN:
            continue
        if piece in kind_of_text:
            kinds[row] = kind_of_text[piece]
        elif has_byte_pieces and _BYTE_PIECE.fullmatch(piece):
            kinds[row] = Kind.BYTE
    return replace(vocab, kinds=kinds)


def _with_all_ids(vocab: Vocab) -> Vocab:
    """Sorts the rows by id, and adds an unused row for each id without a row."""
    missing_ids = sorted(set(range(int(vocab.ids.max(initial=0)) + 1)) - set(vocab.ids.tolist()))
    if len(missing_ids) > len(vocab):
        raise FormatError(f"ids go up to {vocab.ids.max()}, but most have no entry; a model needs a piece for every id")
    return sorted_by_id(with_rows(vocab, [(b"[PAD%d]" % number, number, int(Kind.UNUSED)) for number in missing_ids]))


def _special_texts_with_flags(spec: Spec) -> list[str]:
    return [t.text for t in spec.special if t.single_word or t.lstrip or t.rstrip]


def _with_merge_scores(vocab: Vocab, model: Bpe) -> tuple[Vocab, list[str]]:
    if model.continuing_prefix or model.word_suffix or model.whole_piece_first or not model.fuse_unknown:
        raise FormatError(
            f"SentencePiece adds no affixes, looks up no whole pieces, and joins unknown text: {described(model)}"
        )
    list_model = replace(model, symbols="chars")
    list_derivations = derivations(vocab, list_model)
    scores = np.zeros(len(vocab), dtype=np.float32)
    merged_rows = list_derivations.rows(DerivationKind.MERGED)
    rows_by_priority = merged_rows[np.argsort(list_derivations.priority[merged_rows], kind="stable")]
    scores[rows_by_priority] = -np.arange(1, len(rows_by_priority) + 1, dtype=np.float32)
    symbol_rows = np.flatnonzero(
        has_kind(list_derivations.kind, DerivationKind.SYMBOL) & has_kind(vocab.kinds, Kind.NORMAL)
    )
    scores[symbol_rows] = -np.arange(
        len(rows_by_priority) + 1, len(rows_by_priority) + 1 + len(symbol_rows), dtype=np.float32
    )
    scored_vocab = replace(vocab, scores=scores)
    rows = rows_merged_differently(list_derivations, derivations(scored_vocab, _BPE_MODEL))
    pieces = [vocab.piece(int(row)) for row in rows if vocab.kinds[row] == Kind.NORMAL]
    change = "merged differently by scores"
    losses = [f"model: {counted_entries(pieces, f'is {change}', f'are {change}')}"] if pieces else []
    return scored_vocab, losses


def _with_float32_scores(vocab: Vocab) -> tuple[Vocab, list[str]]:
    scores = vocab.scores.astype(np.float32)
    losses = [
        "model: scores are summed in float32, not float64: segmentations whose scores differ only by rounding may "
        "change"
    ]
    if not np.array_equal(scores.astype(np.float64), vocab.scores):
        losses.append("vocab: scores are rounded to float32")
    return replace(vocab, scores=scores), losses


def _closest_normalizer(spec: Spec) -> tuple[SentencePieceNormalize, list[str]]:
    """Returns the most similar normalizer that SentencePiece has, with the losses."""
    losses = list(_unsupported_step_losses(spec.normalize, spec))
    charsmap = next((step.charsmap for step in spec.normalize if isinstance(step, Precompiled)), b"")
    if charsmap:
        losses.append("normalize: the character map is applied to the longest match, not to grapheme clusters")
    metaspace = next((step for step in spec.split if isinstance(step, Metaspace)), None)
    adds_space_prefix = Prepend(SPACE_MARK) in spec.normalize
    if metaspace is None and Replace(" ", SPACE_MARK) not in spec.normalize:
        raise FormatError("a SentencePiece model needs spaces as U+2581, which this tokenizer does not use")
    if metaspace is not None and metaspace.prepend != "never":
        losses.append("normalize: a space is added before texts that start with a space, too")
        adds_space_prefix = True
    if metaspace is not None and metaspace.split and (entries_with_space := _entries_with_inner_space(spec.vocab)):
        change = "with a space inside can be produced from a text"
        losses.append(f"split: {counted_entries(entries_with_space, change, change)}")
    collapses_spaces = _TRIM_SPACES in spec.normalize and _COLLAPSE_SPACES in spec.normalize
    return SentencePieceNormalize(charsmap, adds_space_prefix, collapses_spaces), losses


def _entries_with_inner_space(vocab: Vocab) -> list[str]:
    return [text for piece in vocab.pieces() if SPACE_MARK in (text := piece.decode(errors="replace"))[1:]]


def _unsupported_step_losses(steps: tuple[NormalizeStep, ...], spec: Spec) -> Iterator[str]:
    supported_steps: tuple[NormalizeStep, ...] = (
        ReplaceInvalid(),
        Prepend(SPACE_MARK),
        Replace(" ", SPACE_MARK),
        _TRIM_SPACES,
        _COLLAPSE_SPACES,
    )
    for step in steps:
        if step not in supported_steps and not isinstance(step, Precompiled):
            yield f"normalize: {step.kind} is not applied"
    for split_step in spec.split:
        if not isinstance(split_step, Metaspace):
            yield f"split: {split_step.kind} is not applied"
