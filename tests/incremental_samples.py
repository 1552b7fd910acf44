"""Tokenizers and texts for the tests of cuts, and of texts that grow or change."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from random import Random

import format_samples
import polytok
from polytok import Kind, Parts, _core
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


def difficult_parts(tokenizer: polytok.Tokenizer, count: int, seed: int = 3) -> Iterator[Parts]:
    """Yields the texts of `difficult_texts` in parts, with special tokens that are whole, or in halves over a seam."""
    rng, marks = Random(seed), marks_of(tokenizer) or [""]
    for text in difficult_texts(tokenizer._core, count, seed):
        trust = rng.choice([0.0, 0.3, 0.5, 0.9, 1.0])
        pieces = divided(rng, text.decode()) + [rng.choice(marks) for _ in range(rng.randrange(4))]
        rng.shuffle(pieces)
        halves = [half for piece in pieces for half in (divided(rng, piece) if rng.random() < 0.3 else [piece])]
        yield Parts([(half, rng.random() < trust) for half in halves])


def divided(rng: Random, text: str) -> list[str]:
    """Returns a text in up to three pieces."""
    one, other = sorted(rng.randrange(len(text) + 1) for _ in range(2))
    return [text[:one], text[one:other], text[other:]]


def marks_of(tokenizer: polytok.Tokenizer) -> list[str]:
    """Returns the texts of all special, added and user-defined tokens."""
    vocab = tokenizer.spec.vocab
    pieces = [vocab.piece(row) for row, kind in enumerate(vocab.kinds.tolist()) if kind == Kind.USER_DEFINED]
    user_defined = [piece.decode("utf-8", "replace").replace("\u2581", " ") for piece in pieces]
    return [text for text in (*tokenizer.special_tokens, *user_defined) if text and "\ufffd" not in text]
