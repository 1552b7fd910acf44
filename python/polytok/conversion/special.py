"""Converts special tokens for formats that handle them differently."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from ..errors import FormatError
from ..spec import Kind, Spec, SpecialToken, Vocab
from .base import first_items
from .byte_level import row_of_text
from .rows import select_rows, with_rows


def matching_losses(spec: Spec, target_matching: str) -> tuple[str, ...]:
    """Returns a loss if special tokens overlap and the target format chooses between them by another rule."""
    if spec.matching == target_matching:
        return ()
    texts = sorted((token.text for token in spec.special), key=len)
    overlapping_texts = [
        text for n, text in enumerate(texts) if any(_can_overlap(text, longer_text) for longer_text in texts[n + 1 :])
    ]
    if not overlapping_texts:
        return ()
    return (
        (
            f"special: {len(overlapping_texts)} texts overlap others ({first_items(overlapping_texts)}); "
            "the target may choose another one"
        ),
    )


def _can_overlap(text: str, other_text: str) -> bool:
    if text in other_text:
        return True
    overlap_lengths = range(1, len(text))
    return any(text.endswith(other_text[:n]) or text.startswith(other_text[-n:]) for n in overlap_lengths)


def only_text_rows(spec: Spec) -> Vocab:
    """Keeps the rows that ordinary text can be encoded to: no special tokens, only the kind NORMAL."""
    special = {(token.text.encode(), token.id) for token in spec.special}
    rows = zip(spec.vocab.pieces(), spec.vocab.ids.tolist(), spec.vocab.kinds.tolist(), strict=True)
    kept_rows = [
        row for row, (text, number, kind) in enumerate(rows) if kind == Kind.NORMAL and (text, number) not in special
    ]
    if len(kept_rows) == len(spec.vocab):
        return spec.vocab
    return select_rows(spec.vocab, np.array(kept_rows, dtype=np.int64))


def flag_losses(special: Iterable[SpecialToken], *, always: bool = False) -> Iterator[str]:
    """Yields the losses of flags that a format lacks. With ``always``, a token can be marked as always recognized."""
    tokens = list(special)
    for flag in ("single_word", "lstrip", "rstrip"):
        if texts := [token.text for token in tokens if getattr(token, flag)]:
            yield f"special: {flag} of {len(texts)} tokens cannot be expressed ({first_items(texts)})"
    if not always and (texts := [token.text for token in tokens if not token.special]):
        yield f"special: {len(texts)} tokens are recognized only if the caller allows them ({first_items(texts)})"


def with_huggingface_ids(vocab: Vocab, special: Iterable[SpecialToken], *, byte_level: bool) -> Vocab:
    """Adds rows for the special tokens if tokenizers would otherwise assign other ids to them.

    tokenizers ignores the ids in a file: a special token has the id of the row with its text, else the next free id.
    """
    tokens = sorted(special, key=lambda token: token.id)
    known_ids = dict(zip(_row_keys(vocab, byte_level), vocab.ids.tolist(), strict=True))
    rows = [(token, row_of_text(token.text) if byte_level else (token.text.encode(), 1)) for token in tokens]
    clashing_texts = [token.text for token, row in rows if known_ids.get(row, token.id) != token.id]
    if clashing_texts:
        raise FormatError(
            "special tokens cannot keep their ids, because entries with the same texts have other ids "
            f"({first_items(clashing_texts)})"
        )
    if _are_ids_assigned_alike(len(vocab), known_ids, rows):
        return vocab
    used_ids = set(vocab.ids.tolist())
    missing_rows = [(row[0], token.id, row[1]) for token, row in rows if row not in known_ids]
    shared_id_texts = [text.decode() for text, number, _ in missing_rows if number in used_ids]
    if shared_id_texts or len({number for _, number, _ in missing_rows}) != len(missing_rows):
        raise FormatError(
            f"one id cannot have two texts ({first_items(shared_id_texts or [text for text, _, _ in missing_rows])})"
        )
    return with_rows(vocab, missing_rows)


RowKey = tuple[bytes, int]
"""The bytes and the kind of a row. In a byte-level vocabulary, the kind marks texts outside GPT-2's table."""


def _row_keys(vocab: Vocab, byte_level: bool) -> list[RowKey]:
    kinds = vocab.kinds.tolist() if byte_level else [1] * len(vocab)
    return list(zip(vocab.pieces(), kinds, strict=True))


def _are_ids_assigned_alike(size: int, known_ids: dict[RowKey, int], rows: list[tuple[SpecialToken, RowKey]]) -> bool:
    largest_id = -1
    for token, row in rows:
        number = known_ids.get(row)
        if number is None:
            number = max(largest_id + 1, size)
        if number != token.id:
            return False
        largest_id = max(largest_id, number)
    return True
