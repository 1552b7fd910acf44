"""Duplicate entries, entries that no text reaches, and bytes without an entry."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from ..conversion.derivation import How, derivations
from ..errors import PolytokError
from ..spec import Bpe, BytesDecode, Kind, Longest, Spec, Template, Unigram
from ..tokenizer import Tokenizer
from .finding import Finding, Severity, examples, shown

_TEXTUAL = (Kind.NORMAL, Kind.USER_DEFINED)
_MOST_TIES = 1


def duplicates(spec: Spec) -> Iterator[Finding]:
    """Entries with the same text; only one of them can ever be used."""
    first: dict[bytes, int] = {}
    normal = ((row, piece) for row, piece in _ordinary(spec) if _counts(spec, row))
    twice = [piece for row, piece in normal if first.setdefault(piece, row) != row]
    if twice:
        yield Finding(
            "duplicate-entry",
            Severity.WARNING,
            f"{len(twice)} entries have the text of an earlier one ({examples(map(shown, twice))}); none becomes them",
            "give them texts of their own, or drop them and renumber the model's rows",
        )


def unreachable(spec: Spec) -> Iterator[Finding]:
    """Entries that the model provably produces from no text.

    BPE: merging the entry's own text ends in other entries, and then so does merging any text that contains it (see
    conversion/derivation.py), unless whole pieces are looked up first. Unigram: other entries form its text with a
    better score, and so they do inside any text. Other models are not examined.
    """
    rows = _never(spec)
    if rows:
        pieces = [shown(spec.vocab.piece(row)) for row in rows]
        yield Finding(
            "unreachable-entry",
            Severity.NOTE,
            f"{len(rows)} of {len(spec.vocab)} entries come out of no text ({examples(pieces)})",
            "nothing, if they are meant to be put in by id; else they are rows of the model that are never trained",
        )


def _never(spec: Spec) -> list[int]:
    model = spec.model
    if isinstance(model, Bpe) and model.symbols != "groups":
        if model.whole_piece_first or model.continuing_prefix or model.word_suffix:
            return []
        rows = derivations(spec.vocab, model).rows(How.NEVER).tolist()
        apart = {token.text.encode() for token in spec.special}
        apart |= {b"<0x%02X>" % byte for byte in range(256)} if model.byte_fallback else set()
        return [row for row in rows if _counts(spec, row) and spec.vocab.piece(row) not in apart]
    if isinstance(model, Unigram):
        return _never_best(spec)
    return []


def _counts(spec: Spec, row: int) -> bool:
    return bool(spec.vocab.kinds[row] == Kind.NORMAL)


def _never_best(spec: Spec) -> list[int]:
    """Unigram entries whose own text, given to the bare model, is segmented differently."""
    bare = Tokenizer(replace(spec, normalize=(), split=(), special=(), post=Template(), decode=BytesDecode()))
    rows = [row for row, _ in _ordinary(spec) if _counts(spec, row)]
    found = bare.encode_batch([spec.vocab.piece(row) for row in rows])
    return [row for row, ids in zip(rows, found, strict=True) if ids.tolist() != [int(spec.vocab.ids[row])]]


def bytes_without_entry(spec: Spec) -> Iterator[Finding]:
    """Bytes without an entry in a model over bytes."""
    over_bytes = (isinstance(spec.model, Bpe) and spec.model.symbols == "bytes") or isinstance(spec.model, Longest)
    if not over_bytes:
        return
    single = {piece[0] for _, piece in _ordinary(spec) if len(piece) == 1}
    missing = [byte for byte in range(256) if byte not in single]
    # 0xC0, 0xC1 and 0xF5 to 0xFF never occur in UTF-8.
    needed = [byte for byte in missing if byte not in (0xC0, 0xC1) and byte < 0xF5]
    if needed:
        yield Finding(
            "missing-byte",
            Severity.WARNING,
            f"{len(needed)} bytes that stand in UTF-8 have no entry ({examples(f'0x{byte:02X}' for byte in needed)})",
            "texts with them are refused or lose them; add the missing bytes as entries",
        )


def byte_pieces(spec: Spec) -> Iterator[Finding]:
    """Byte fallback without a piece for each byte."""
    if spec.unknown != "bytes" or (isinstance(spec.model, Bpe) and spec.model.symbols == "groups"):
        return
    count = int(np.count_nonzero(spec.vocab.kinds == Kind.BYTE))
    if count < 256:
        yield Finding(
            "missing-byte-piece",
            Severity.WARNING,
            f"unknown characters fall back to byte pieces, but there are {count} of 256",
            "add the missing pieces <0x00> to <0xFF>, or turn byte fallback off",
        )


def equal_scores(spec: Spec) -> Iterator[Finding]:
    """Equal scores of entries that compete in BPE by scores."""
    if not isinstance(spec.model, Bpe) or spec.model.priority != "score" or spec.model.symbols == "groups":
        return
    derived = derivations(spec.vocab, spec.model)
    rows = [row for row in derived.rows(How.MERGED).tolist() if spec.vocab.kinds[row] == Kind.NORMAL]
    # Runs of one character (spaces) share a score in many good models, and merge the same in any order.
    mixed = [row for row in rows if len(set(spec.vocab.piece(row).decode(errors="replace"))) > 1]
    values, counts = np.unique(spec.vocab.scores[mixed], return_counts=True)
    shared = int(counts[counts > 1].sum())
    if shared > _MOST_TIES:
        yield Finding(
            "equal-scores",
            Severity.WARNING,
            f"{shared} entries share their score with others (as {values[counts > 1][0]:g}), so that the place decides",
            "give entries that were added later scores below all others, in the order in which they are to merge",
        )


def no_unknown(spec: Spec) -> Iterator[Finding]:
    """Unknown text is mapped to a missing piece."""
    if spec.unknown == "unk" and not (spec.vocab.kinds == Kind.UNKNOWN).any():
        yield Finding(
            "no-unknown-piece",
            Severity.ERROR,
            "unknown text becomes the unknown piece, but the vocabulary has none",
            "name the unknown token in the file, or use byte fallback",
        )


def uncompilable(spec: Spec) -> Iterator[Finding]:
    """A Spec that cannot be compiled to a tokenizer."""
    try:
        Tokenizer(spec)
    except PolytokError as error:
        yield Finding("not-usable", Severity.ERROR, str(error), "the file is damaged; get it again from its source")


def _ordinary(spec: Spec) -> Iterator[tuple[int, bytes]]:
    rows = zip(spec.vocab.pieces(), spec.vocab.kinds.tolist(), strict=True)
    return ((row, piece) for row, (piece, kind) in enumerate(rows) if kind in _TEXTUAL)
