"""Special tokens where a format does not number them as the Spec does."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from ..errors import FormatError
from ..spec import Kind, Spec, SpecialToken, Vocab
from .base import some
from .byte_level import row_of_text
from .rows import appended, take


def matching_losses(spec: Spec, wanted: str) -> tuple[str, ...]:
    """Whether it matters which of several special tokens at one place counts: only if one stands in another."""
    if spec.matching == wanted:
        return ()
    texts = sorted((token.text for token in spec.special), key=len)
    inner = [text for n, text in enumerate(texts) if any(_overlap(text, longer) for longer in texts[n + 1 :])]
    if not inner:
        return ()
    return (f"special: {len(inner)} texts overlap others ({some(inner)}); which one counts is decided in another way",)


def _overlap(text: str, other: str) -> bool:
    if text in other:
        return True
    ends = range(1, len(text))
    return any(text.endswith(other[:n]) or text.startswith(other[-n:]) for n in ends)


def only_tokens(spec: Spec) -> Vocab:
    """The vocabulary of bytes without the rows that are special tokens or that no text reaches."""
    special = {(token.text.encode(), token.id) for token in spec.special}
    rows = zip(spec.vocab.pieces(), spec.vocab.ids.tolist(), spec.vocab.kinds.tolist(), strict=True)
    kept = [
        row for row, (text, number, kind) in enumerate(rows) if kind == Kind.NORMAL and (text, number) not in special
    ]
    if len(kept) == len(spec.vocab):
        return spec.vocab
    return take(spec.vocab, np.array(kept, dtype=np.int64))


def flag_losses(special: Iterable[SpecialToken], *, always: bool = False) -> Iterator[str]:
    """Flags that a format does not have; ``always`` says that it has tokens which are always recognised."""
    tokens = list(special)
    for flag in ("single_word", "lstrip", "rstrip"):
        if texts := [token.text for token in tokens if getattr(token, flag)]:
            yield f"special: {flag} of {len(texts)} tokens cannot be said ({some(texts)})"
    if not always and (texts := [token.text for token in tokens if not token.special]):
        yield f"special: {len(texts)} tokens are recognised only where they are asked for ({some(texts)})"


def numbered_as_huggingface(vocab: Vocab, special: Iterable[SpecialToken], *, byte_level: bool) -> Vocab:
    """The vocabulary, with rows for the special tokens where tokenizers would number them in another way.

    tokenizers ignores the ids in a file: a special token has the id of the row with its text, else the next free one.
    """
    tokens = sorted(special, key=lambda token: token.id)
    known = dict(zip(_keys(vocab, byte_level), vocab.ids.tolist(), strict=True))
    rows = [(token, row_of_text(token.text) if byte_level else (token.text.encode(), 1)) for token in tokens]
    clash = [token.text for token, row in rows if known.get(row, token.id) != token.id]
    if clash:
        raise FormatError(f"special tokens that are entries with another id cannot be numbered ({some(clash)})")
    if _natural(len(vocab), known, rows):
        return vocab
    taken = set(vocab.ids.tolist())
    missing = [(row[0], token.id, row[1]) for token, row in rows if row not in known]
    shared = [text.decode() for text, number, _ in missing if number in taken]
    if shared or len({number for _, number, _ in missing}) != len(missing):
        raise FormatError(f"two texts for one id cannot be said ({some(shared or [text for text, _, _ in missing])})")
    return appended(vocab, missing)


Row = tuple[bytes, int]
"""The bytes of a row and its kind: among bytes, a text that is not of GPT-2's table is another row."""


def _keys(vocab: Vocab, byte_level: bool) -> list[Row]:
    kinds = vocab.kinds.tolist() if byte_level else [1] * len(vocab)
    return list(zip(vocab.pieces(), kinds, strict=True))


def _natural(size: int, known: dict[Row, int], rows: list[tuple[SpecialToken, Row]]) -> bool:
    largest = -1
    for token, row in rows:
        number = known.get(row)
        if number is None:
            number = max(largest + 1, size)
        if number != token.id:
            return False
        largest = max(largest, number)
    return True
