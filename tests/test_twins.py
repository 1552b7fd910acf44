"""Compares the engine with its twins in plain Python, on small random models of every kind."""

from __future__ import annotations

import random
from collections.abc import Iterator

import numpy as np
import pytest

import reference_specs as specs
import texts
from parity import checks, properties
from parity.checks import Outcome
from parity.references import Twin
from polytok import EncodeError, SpecError, Tokenizer, reference
from polytok.spec import (
    Bpe,
    Kind,
    Llama2cDecode,
    Longest,
    PatternSplit,
    PrefixSpace,
    SentencePieceVersion,
    Spec,
    SpecialToken,
    Template,
    Vocab,
)
from reference_specs import random_model

MODELS = 120
TEXTS = 25
ROWS = 20
LENGTH_LIMIT = 200


def check(spec: Spec, seed: int) -> int:
    """Checks encoding, decoding, special tokens and properties of one Spec; returns the number of texts."""
    try:
        tokenizer = Tokenizer(spec)
    except SpecError:
        return 0
    pieces = [piece for piece in spec.vocab.pieces() if piece]
    words = texts.VocabularyPieces([*pieces, *(piece.replace("▁".encode(), b" ") for piece in pieces)], pieces[:4])
    random_bytes = [
        *texts.generate_texts(seed, TEXTS, words),
        *texts.generate_texts(seed + 1, TEXTS // 3, words, has_invalid_utf8=True),
    ]
    outcome = Outcome(spec.model.kind, Twin.name, "random model")
    twin = Twin(spec, LENGTH_LIMIT)
    random_bytes = [text for text in random_bytes if twin.accepts(text)]
    checks.encoding(outcome, tokenizer, twin, random_bytes)
    all_ids = spec.vocab.ids.tolist() + [token.id for token in spec.special]
    special_ids = [int(id) for id, kind in zip(spec.vocab.ids, spec.vocab.kinds, strict=True) if kind != Kind.NORMAL]
    rows = list(texts.generate_ids(seed, ROWS, all_ids, special_ids))
    checks.decoding(outcome, tokenizer, twin, rows)
    properties.streams(outcome, tokenizer, rows, seed)
    properties.encodings(outcome, tokenizer, random_bytes, "no")
    for text in random_bytes:
        compare_special_tokens(outcome, tokenizer, spec, text, seed)
    assert not outcome.examples, spec
    return len(random_bytes)


def compare_special_tokens(outcome: Outcome, tokenizer: Tokenizer, spec: Spec, text: bytes, seed: int) -> None:
    names = list(tokenizer.special_tokens)
    allowed = [name for name in names if name and random.Random(seed).random() < 0.7]
    if not allowed:
        return
    try:
        expected = reference.encode(spec, text, special=allowed, add_special=True)
    except EncodeError:
        return
    if tokenizer.encode(text, special=allowed, add_special=True) != expected:
        outcome.add_difference(f"{text!r}, special={allowed}")


def sentencepiece_models(line: SentencePieceVersion, count: int = MODELS) -> Iterator[Spec]:
    rng = random.Random(20)
    for _ in range(count):
        rule = rng.choice(["identity", "nmt_nfkc", "nfkc_cf", "nmt_nfkc_cf"])
        blob = b"" if rule == "identity" else specs.charsmap(rule)
        yield specs.sentencepiece_spec(specs.golden_model_proto(random_model(rng), blob), line)


@pytest.mark.parametrize("line", ["0.2.1", "0.2.3"])
def test_sentencepiece(line: SentencePieceVersion) -> None:
    assert sum(check(spec, seed) for seed, spec in enumerate(sentencepiece_models(line))) > MODELS * TEXTS // 2


def random_pieces(rng: random.Random, count: int, alphabet: bytes) -> list[bytes]:
    """Returns distinct short texts over few bytes, so that many texts overlap."""
    pieces = {bytes(rng.choices(alphabet, k=rng.choice([2, 2, 3, 3, 4, 6]))) for _ in range(count)}
    return sorted(pieces)


PATTERNS = ["", r"\p{L}+|\s+|[^\s\p{L}]+", r" ?\w+|\s+(?!\S)|\s+", r"[ab]+"]
BYTES = [bytes([byte]) for byte in range(256)]


@pytest.mark.parametrize("alphabet", [b"ab", b"ab <>\xe4\xb8\x96", b" \xc3\xa9\xf0\x9f"])
def test_ranks(alphabet: bytes) -> None:
    rng = random.Random(21)
    for seed in range(MODELS // 3):
        ids = rng.sample(range(1000), 256 + 40)
        entries = [*BYTES, *random_pieces(rng, 30, alphabet)]
        vocab = Vocab.from_rows((piece, id, 0.0, Kind.NORMAL) for piece, id in zip(entries, ids, strict=False))
        pattern = rng.choice(PATTERNS)
        special = tuple(SpecialToken(text, 1000 + i) for i, text in enumerate(("<a", "<a>", "ab", "世")))
        split = (PatternSplit(pattern),) if pattern else ()
        spec = Spec(vocab, Bpe("rank", whole_piece_first=rng.random() < 0.7), special=special, split=split)
        check(spec, seed)


def test_merges() -> None:
    rng = random.Random(22)
    for seed in range(MODELS // 2):
        pieces = list(BYTES)
        merges = []
        for _ in range(34):
            frequent_ids = [*b"ab \xe4\xb8", *range(256, len(pieces))]
            left, right = rng.choice(frequent_ids), rng.choice(frequent_ids)
            if len(pieces[left]) + len(pieces[right]) <= 24:
                merges.append((left, right, len(pieces)))
                pieces.append(pieces[left] + pieces[right])
        vocab = Vocab.from_rows((piece, id, 0.0, Kind.NORMAL) for id, piece in enumerate(pieces))
        pattern = rng.choice(PATTERNS)
        spec = Spec(
            vocab,
            Bpe("merges", merges=np.array(merges, dtype=np.uint32)),
            special=(SpecialToken("<a", 1000), SpecialToken("<a>", 1001), SpecialToken("世", 1002)),
            split=(PatternSplit(pattern),) if pattern else (),
        )
        check(spec, seed)


def test_longest() -> None:
    rng = random.Random(23)
    for seed in range(MODELS // 2):
        singles = BYTES if rng.random() < 0.7 else BYTES[:200]  # some bytes are unknown
        entries = [*singles, *random_pieces(rng, 30, rng.choice([b"ab", b"ab \xe4\xb8\x96"]))]
        ids = rng.sample(range(1, 1000), len(entries))
        vocab = Vocab.from_rows((piece, id, 0.0, Kind.NORMAL) for piece, id in zip(entries, ids, strict=True))
        check(Spec(vocab, Longest(), special=(SpecialToken("<|endoftext|>", 0),)), seed)


def test_llama2c() -> None:
    rng = random.Random(24)
    for seed in range(MODELS):
        alphabet = rng.choice(["ab", "ab é", " a世\ufffd", "<0x41>a"])
        texts_of = {"".join(rng.choices(alphabet, k=rng.choice([1, 1, 2, 2, 3, 4]))).encode() for _ in range(30)}
        if rng.random() < 0.3:
            texts_of |= set(random_pieces(rng, 10, b"a \x80\xc3\xa9"))
        rows = [(b"<unk>", 0, 0.0, 2), (b"\n<s>\n", 1, 0.0, 3), (b"\n</s>\n", 2, 0.0, 3)]
        rows += [(b"<0x%02X>" % byte, byte + 3, 0.0, 6) for byte in range(256)]
        scores = (-1.0, -2.0, rng.uniform(-9, 9), -1e10, -2e10)
        rows += [(text, 259 + i, rng.choice(scores), 1) for i, text in enumerate(sorted(texts_of))]
        spec = Spec(
            Vocab.from_rows(rows),
            Bpe("score", symbols="groups"),
            normalize=(PrefixSpace(),),
            unknown="bytes",
            post=Template.around(before=(1,)),
            decode=Llama2cDecode(),
        )
        check(spec, seed)
