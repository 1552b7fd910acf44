"""Special tokens where a format does not number them as the Spec does."""

from __future__ import annotations

from collections.abc import Iterable

from ..errors import FormatError
from ..spec import Spec, SpecialToken, Vocab
from .base import some
from .byte_level import row_of_text
from .rows import appended


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


def numbered_as_huggingface(vocab: Vocab, special: Iterable[SpecialToken], *, byte_level: bool) -> Vocab:
    """The vocabulary, with rows for the special tokens where tokenizers would number them in another way.

    tokenizers ignores the ids in a file: a special token has the id of the row with its text, else the next free one.
    """
    tokens = sorted(special, key=lambda token: token.id)
    known = dict(zip(vocab.pieces(), vocab.ids.tolist(), strict=True))
    rows = [(token, row_of_text(token.text) if byte_level else (token.text.encode(), 1)) for token in tokens]
    clash = [token.text for token, (text, _) in rows if known.get(text, token.id) != token.id]
    if clash:
        raise FormatError(f"special tokens that are entries with another id cannot be numbered ({some(clash)})")
    if _natural(len(vocab), known, rows):
        return vocab
    taken = set(vocab.ids.tolist())
    missing = [(text, token.id, kind) for token, (text, kind) in rows if text not in known]
    shared = [text.decode() for text, number, _ in missing if number in taken]
    if shared or len({number for _, number, _ in missing}) != len(missing):
        raise FormatError(f"two texts for one id cannot be said ({some(shared or [text for text, _, _ in missing])})")
    return appended(vocab, missing)


def _natural(size: int, known: dict[bytes, int], rows: list[tuple[SpecialToken, tuple[bytes, int]]]) -> bool:
    largest = -1
    for token, (text, _) in rows:
        number = known.get(text)
        if number is None:
            number = max(largest + 1, size)
        if number != token.id:
            return False
        largest = max(largest, number)
    return True
