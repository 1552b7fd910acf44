"""Finds duplicate entries, entries that no text produces, and bytes without an entry."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from ..columns import has_kind
from ..conversion.derivation import DerivationKind, derivations
from ..errors import PolytokError
from ..spec import Bpe, BytesDecode, Kind, Longest, Spec, Template, Unigram, merges_bytes
from ..tokenizer import Tokenizer
from ..utf8 import text_or_bytes
from .finding import Finding, Severity, format_examples

_TEXT_KINDS = (Kind.NORMAL, Kind.USER_DEFINED)
_MAX_TIED_ENTRIES = 1
_MAX_UNREACHABLE_SHARE = 0.05
ADDED_WORDS_ADVICE = (
    "To use words that you added, list them in added_tokens of tokenizer.json, or as user-defined symbols of a "
    "SentencePiece model, instead of the vocabulary alone"
)


def find_duplicates(spec: Spec) -> Iterator[Finding]:
    """Finds entries with the same text. The model can use only one of them."""
    repeated_pieces = [spec.vocab.piece(row) for row in _duplicate_rows(spec)]
    if repeated_pieces:
        yield Finding(
            "duplicate-entry",
            Severity.WARNING,
            (
                f"{len(repeated_pieces)} entries have the text of an earlier entry "
                f"({format_examples(map(text_or_bytes, repeated_pieces))}); no text produces them"
            ),
            "give these entries other texts, or remove them and renumber the model's rows",
        )


def _duplicate_rows(spec: Spec) -> list[int]:
    first_rows: dict[bytes, int] = {}
    pieces, normal_rows = spec.vocab.pieces(), np.flatnonzero(has_kind(spec.vocab.kinds, Kind.NORMAL))
    return [row for row in normal_rows.tolist() if first_rows.setdefault(pieces[row], row) != row]


def duplicate_ids(spec: Spec) -> list[int]:
    """Returns the ids of the entries with the text of an earlier entry."""
    ids: list[int] = spec.vocab.ids[_duplicate_rows(spec)].tolist()
    return ids


def find_unreachable(spec: Spec) -> Iterator[Finding]:
    """Finds entries that the model provably never produces.

    In BPE, such an entry is not the result of merging its own text, and then it is not the result of merging any longer
    text either (see conversion/derivation.py). Models that look up whole pieces first are excluded. In Unigram, a
    sequence of other entries has the same text and a better score. Other models are not examined.

    Published vocabularies have a few such entries. A large share of them is a warning, because then the file has lost
    merges or scores, and texts get more tokens than in training.
    """
    rows = _unreachable_rows(spec)
    if rows:
        pieces = [text_or_bytes(spec.vocab.piece(row)) for row in rows]
        is_damaged = len(rows) > _MAX_UNREACHABLE_SHARE * len(spec.vocab)
        yield Finding(
            "unreachable-entry",
            Severity.WARNING if is_damaged else Severity.NOTE,
            f"{len(rows)} of {len(spec.vocab)} entries are produced from no text ({format_examples(pieces)}), because "
            + ("other entries have a better score" if isinstance(spec.model, Unigram) else "no merge builds them"),
            "get the file again from its source; it has probably lost merges or scores"
            if is_damaged
            else "nothing, if they are inserted by id; otherwise they are rows of the model that are never trained. "
            f"{ADDED_WORDS_ADVICE}",
        )


def _unreachable_rows(spec: Spec) -> list[int]:
    model = spec.model
    if isinstance(model, Bpe) and model.symbols != "groups":
        if model.whole_piece_first or model.continuing_prefix or model.word_suffix:
            return []
        rows = derivations(spec.vocab, model).rows(DerivationKind.NEVER_MERGED).tolist()
        excluded_texts = {token.text.encode() for token in spec.special}
        excluded_texts |= {b"<0x%02X>" % byte for byte in range(256)} if model.byte_fallback else set()
        return [row for row in rows if _is_normal(spec, row) and spec.vocab.piece(row) not in excluded_texts]
    if isinstance(model, Unigram):
        return _never_best_rows(spec)
    return []


def unreachable_ids(spec: Spec) -> list[int]:
    """Returns the ids of the entries that the model provably never produces."""
    ids: list[int] = spec.vocab.ids[_unreachable_rows(spec)].tolist()
    return ids


def _is_normal(spec: Spec, row: int) -> bool:
    return bool(spec.vocab.kinds[row] == Kind.NORMAL)


def _never_best_rows(spec: Spec) -> list[int]:
    """Returns the rows of Unigram entries whose own text is encoded to other entries, by the model without normalizer
    and split."""
    bare_tokenizer = Tokenizer(replace(spec, normalize=(), split=(), special=(), post=Template(), decode=BytesDecode()))
    rows = [row for row, _ in _text_rows(spec) if _is_normal(spec, row)]
    encodings = bare_tokenizer.encode_batch([spec.vocab.piece(row) for row in rows])
    return [row for row, ids in zip(rows, encodings, strict=True) if ids.tolist() != [int(spec.vocab.ids[row])]]


def find_bytes_without_entry(spec: Spec) -> Iterator[Finding]:
    """Finds bytes without an entry in a model over bytes."""
    if not (merges_bytes(spec.model) or isinstance(spec.model, Longest)):
        return
    bytes_with_entry = {piece[0] for _, piece in _text_rows(spec) if len(piece) == 1}
    missing_bytes = [byte for byte in range(256) if byte not in bytes_with_entry]
    # 0xC0, 0xC1 and 0xF5 to 0xFF never occur in UTF-8.
    needed_bytes = [byte for byte in missing_bytes if byte not in (0xC0, 0xC1) and byte < 0xF5]
    if needed_bytes:
        verb = "byte that occurs in UTF-8 has" if len(needed_bytes) == 1 else "bytes that occur in UTF-8 have"
        yield Finding(
            "missing-byte",
            Severity.WARNING,
            f"{len(needed_bytes)} {verb} no entry ({format_examples(map(_shown_byte, needed_bytes))})",
            "texts in which no longer entry covers these bytes are refused; add each byte: polytok edit --add-entry"
            if isinstance(spec.model, Longest)
            else "texts with these bytes are refused or lose them; add the bytes as entries",
        )


def _shown_byte(byte: int) -> str:
    """Returns a byte in hexadecimal, with its character if it is a visible one of ASCII."""
    return f"0x{byte:02X}" + (f" {chr(byte)}" if 0x21 <= byte < 0x7F else "")


def find_missing_byte_pieces(spec: Spec) -> Iterator[Finding]:
    """Finds a vocabulary with byte fallback in which a byte has no piece."""
    if spec.unknown != "bytes" or (isinstance(spec.model, Bpe) and spec.model.symbols == "groups"):
        return
    count = int(np.count_nonzero(has_kind(spec.vocab.kinds, Kind.BYTE)))
    if count < 256:
        yield Finding(
            "missing-byte-piece",
            Severity.WARNING,
            f"unknown characters are encoded as byte pieces, but only {count} of 256 are present",
            "add the missing pieces <0x00> to <0xFF>, or turn byte fallback off",
        )


def find_equal_scores(spec: Spec) -> Iterator[Finding]:
    """Finds entries with equal scores that compete with each other in BPE by scores."""
    if not isinstance(spec.model, Bpe) or spec.model.priority != "score" or spec.model.symbols == "groups":
        return
    merged_rows = derivations(spec.vocab, spec.model).rows(DerivationKind.MERGED)
    rows = merged_rows[has_kind(spec.vocab.kinds[merged_rows], Kind.NORMAL)].tolist()
    # In many good models, runs of the same character (such as spaces) have equal scores; the order of merging does not
    # affect the result.
    pieces = spec.vocab.pieces()
    mixed_rows = [row for row in rows if len(set(pieces[row].decode(errors="replace"))) > 1]
    scores, counts = np.unique(spec.vocab.scores[mixed_rows], return_counts=True)
    tied_entry_count = int(counts[counts > 1].sum())
    if tied_entry_count > _MAX_TIED_ENTRIES:
        yield Finding(
            "equal-scores",
            Severity.WARNING,
            (
                f"{tied_entry_count} entries share their score with others (such as {scores[counts > 1][0]:g}), so "
                "their position in the text decides"
            ),
            "give entries that were added later scores below all others, in the order in which they must merge",
        )


def find_missing_unknown(spec: Spec) -> Iterator[Finding]:
    """Finds a Spec that encodes unknown text to the unknown piece, but has no unknown piece."""
    if spec.unknown == "unk" and not has_kind(spec.vocab.kinds, Kind.UNKNOWN).any():
        yield Finding(
            "no-unknown-piece",
            Severity.ERROR,
            "unknown text is encoded to the unknown piece, but the vocabulary has none",
            "name the unknown token in the file, or use byte fallback",
        )


def find_compile_error(spec: Spec) -> Iterator[Finding]:
    """Finds a Spec that cannot be compiled to a tokenizer."""
    try:
        Tokenizer(spec)
    except PolytokError as error:
        yield Finding("not-usable", Severity.ERROR, str(error), "the file is damaged; get it again from its source")


def _text_rows(spec: Spec) -> Iterator[tuple[int, bytes]]:
    rows = zip(spec.vocab.pieces(), spec.vocab.kinds.tolist(), strict=True)
    return ((row, piece) for row, (piece, kind) in enumerate(rows) if kind in _TEXT_KINDS)
