"""Tokenizers and texts for the tests of cuts, and of texts that grow or change."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from random import Random

import format_samples
import polytok
from polytok import _core
from texts import VocabularyPieces, first_lines, generate_texts

SMALL = {
    "sentencepiece": format_samples.sentencepiece_spec,
    "unigram": format_samples.unigram_spec,
    "ranks": format_samples.rank_spec,
    "huggingface": format_samples.huggingface_spec,
    "longest": format_samples.longest_spec,
    "tekken": format_samples.tekken_spec,
}
CORPUS = format_samples.VOCAB.parent / "corpus"


def real_files() -> list[Path]:
    """Returns all vocabularies of the conformance data."""
    files = sorted(path for path in format_samples.VOCAB.rglob("*") if path.is_file())
    return [path for path in files if path.suffix not in (".inp", ".out")]


def vocabulary_pieces(core: _core.Tokenizer, special_tokens: list[bytes], seed: int = 3) -> VocabularyPieces:
    """Returns entries of a vocabulary as they appear in texts, and its special tokens."""
    rng = Random(seed)
    ids = [rng.randrange((core.max_id() or 0) + 1) for _ in range(1500)]
    pieces = [piece.replace("▁".encode(), b" ") for id in ids if (piece := _piece(core, id))]
    return VocabularyPieces(pieces, special_tokens[:40])


def _piece(core: _core.Tokenizer, id: int) -> bytes:
    try:
        return core.token_bytes(id)
    except polytok.TokenIdError:
        return b""


def difficult_texts(core: _core.Tokenizer, count: int, seed: int = 3) -> Iterator[bytes]:
    """Yields generated texts of a vocabulary, and lines of the corpus in many scripts."""
    special_tokens = [text for text, _ in core.special_tokens() if text]
    yield from generate_texts(seed, count, vocabulary_pieces(core, special_tokens, seed))
    yield from corpus_lines(count, seed)


def corpus_lines(count: int, seed: int = 3) -> list[bytes]:
    """Returns random lines of the corpus; none without the conformance data."""
    files = sorted(CORPUS.glob("*.txt")) if CORPUS.is_dir() else []
    lines = [line.decode(errors="ignore").encode() for path in files for line in first_lines(path, 100_000)]
    return Random(seed).sample(lines, min(count, len(lines)))
