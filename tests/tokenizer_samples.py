"""Builds small tokenizers for the tests of the public API."""

from __future__ import annotations

from dataclasses import replace

from format_samples import unigram_spec
from polytok.spec import Bpe, Kind, PatternSplit, Spec, SpecialToken, Vocab


def word_unigram() -> Spec:
    """Returns a Unigram model whose texts of two letters have several segmentations."""
    rows = [(b"<unk>", 0, 0.0, Kind.UNKNOWN)]
    scores = {b"a": -1.0, b"b": -1.2, b"ab": -1.9, b"ba": -2.1, b"aba": -3.0}
    rows += [(piece, 1 + n, score, Kind.NORMAL) for n, (piece, score) in enumerate(scores.items())]
    return replace(unigram_spec(), vocab=Vocab.from_rows(rows), normalize=(), unknown="unk")


def rank_spec(*words: bytes, special: dict[str, int] | None = None) -> Spec:
    """Returns a rank Spec of all bytes and these words; it splits only between letters and other characters."""
    rows = [(bytes([byte]), byte, 0.0, Kind.NORMAL) for byte in range(256)]
    rows += [(word, 256 + number, 0.0, Kind.NORMAL) for number, word in enumerate(words)]
    return Spec(
        vocab=Vocab.from_rows(rows),
        model=Bpe("rank", whole_piece_first=True),
        split=(PatternSplit(r"\p{L}+|[^\p{L}]+"),),
        special=tuple(SpecialToken(text, number) for text, number in (special or {}).items()),
    )
