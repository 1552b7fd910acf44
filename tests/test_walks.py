"""The walks of `polytok.reference`: the queue of BPE against its definition, and the models against the engine."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random
from typing import Any

import numpy as np
import pytest

from polytok import EncodeError, SpecError, Tokenizer
from polytok.reference import models
from polytok.reference.bpe import merge
from polytok.reference.bpe_queue import Lookup, Merging, Pair
from polytok.reference.walks import Symbol, UnigramWalk
from polytok.spec import (
    Bpe,
    Kind,
    Plamo2,
    Spec,
    Unigram,
    Vocab,
    WordLevel,
    WordPiece,
)

LETTERS = ["a", "b", "c", "é", "日", "▁", "x", "\U0001f999"]
BYTES = [f"<0x{byte:02X}>" for byte in range(256)]
Rows = list[tuple[bytes, int, float, int]]


def random_words(rng: Random, count: int, letters: list[str], longest: int = 5) -> list[str]:
    return sorted({"".join(rng.choices(letters, k=rng.randrange(1, longest + 1))) for _ in range(count)})


@pytest.mark.parametrize("seed", range(60))
def test_the_queue_merges_as_the_definition_says(seed: int) -> None:
    rng = Random(seed)
    words = {word: rng.choice([1.0, 2.0, rng.uniform(0, 9)]) for word in random_words(rng, 25, LETTERS[:3])}

    def order_of(text: str) -> Callable[[Any, Any], float | None]:
        return lambda left, right: words.get(text[left[0] : right[1]])

    def look_up(text: str) -> Lookup:
        def pair(left: Symbol, right: Symbol) -> Pair | None:
            order = words.get(text[left.start : right.end])
            return None if order is None else Pair(order, order, None, b"")

        return pair

    for _ in range(40):
        text = "".join(rng.choices(LETTERS[:3], k=rng.randrange(30)))
        spans = [(at, at + 1) for at in range(len(text))]
        expected = merge(spans, order_of(text), lambda left, right: (left[0], right[1]))
        merging = Merging([Symbol(at, None, at, at + 1) for at in range(len(text))], look_up(text))
        assert [(symbol.start, symbol.end) for symbol in merging.final] == expected


def kinds(rng: Random) -> Kind:
    return rng.choice([Kind.NORMAL] * 6 + [Kind.CONTROL, Kind.USER_DEFINED, Kind.UNUSED])


def rows_of(rng: Random, words: list[str], *, has_bytes: bool, has_unknown: bool) -> Rows:
    """Returns rows of words with random scores and kinds; now and then two rows have the same text."""
    texts = [*(BYTES if has_bytes else []), *words]
    if rng.random() < 0.3:
        texts.append(rng.choice(words))
    rows: Rows = [(b"<unk>", 0, rng.choice([0.0, -3.0]), Kind.UNKNOWN)] if has_unknown else []
    for text in texts:
        kind = Kind.BYTE if text in BYTES else kinds(rng)
        score = rng.choice([-1.0, -2.0, round(rng.uniform(-12, 2), 2)])
        rows.append((text.encode(), len(rows), score, kind))
    return rows


def wordpiece_specs(rng: Random) -> Iterator[Spec]:
    words = random_words(rng, 20, LETTERS[:5], 3)
    texts = [rng.choice(["", "##", "▁"]) + word for word in words] + ["▁"] * rng.randrange(2)
    rows = rows_of(rng, texts, has_bytes=False, has_unknown=True)
    is_llama = rng.random() < 0.4
    model = WordPiece("" if is_llama else "##", None if is_llama else rng.choice([3, 100]), phantom_space=is_llama)
    yield Spec(Vocab.from_rows(rows), model, unknown="unk")
    yield Spec(Vocab.from_rows(rows), WordLevel(), unknown="unk")


def unigram_specs(rng: Random) -> Iterator[Spec]:
    for rules in ("huggingface", "llama.cpp"):
        words = [*random_words(rng, 25, LETTERS, 4), *rng.sample(BYTES, 40)]
        rows = rows_of(rng, words, has_bytes=rng.random() < 0.3, has_unknown=True)
        fallback = rules == "huggingface" and rng.random() < 0.5
        yield Spec(Vocab.from_rows(rows), Unigram(rules, byte_fallback=fallback), unknown="unk")  # type: ignore[arg-type]


def plamo2_specs(rng: Random) -> Iterator[Spec]:
    rows = rows_of(rng, random_words(rng, 20, LETTERS, 4), has_bytes=True, has_unknown=True)
    odd_scores = (-1000.0, -2000.0, -3000.0, 0.00005, float("nan"))
    rows = [
        (text, id, rng.choice([score, *odd_scores]) if rng.random() < 0.3 else score, kind)
        for text, id, score, kind in rows
    ]
    yield Spec(Vocab.from_rows(rows), Plamo2(), unknown="bytes")


def listed_merges(rng: Random, rows: Rows, prefix: str) -> list[tuple[int, int, int]]:
    """Returns merges that build entries from two entries, the second one without its prefix; a few are listed twice."""
    ids = {text: id for text, id, _, _ in rows}
    merges = []
    for text, id, _, _ in rows:
        for at in range(1, len(text)):
            left, right = text[:at], prefix.encode() + text[at:]
            if left in ids and right in ids and rng.random() < 0.8:
                merges.append((ids[left], ids[right], id))
    rng.shuffle(merges)
    return merges + rng.sample(merges, min(2, len(merges)))


def scalar_specs(rng: Random) -> Iterator[Spec]:
    prefix, suffix = rng.choice(["", "##"]), rng.choice(["", "</w>"])
    words = random_words(rng, 25, LETTERS[:5], 3)
    affixed = [rng.choice(["", prefix]) + word + rng.choice(["", suffix]) for word in [*words, *LETTERS[:4]]]
    rows = rows_of(rng, sorted({*words, *affixed}), has_bytes=rng.random() < 0.5, has_unknown=True)
    merges = listed_merges(rng, rows, prefix)
    model = Bpe(
        "merges",
        "scalars",
        rng.random() < 0.3,
        merges=np.array(merges, dtype=np.uint32).reshape(-1, 3),
        continuing_prefix=prefix,
        word_suffix=suffix,
        byte_fallback=rng.random() < 0.5,
        fuse_unknown=rng.random() < 0.5,
    )
    yield Spec(Vocab.from_rows(rows), model, unknown=rng.choice(["unk", "unk", "drop", "error"]))


def llama_cpp_specs(rng: Random) -> Iterator[Spec]:
    rows = rows_of(rng, random_words(rng, 30, LETTERS, 4), has_bytes=True, has_unknown=True)
    yield Spec(Vocab.from_rows(rows), Bpe("score", symbols="chars", reserved=True), unknown="bytes")


MAKERS = [wordpiece_specs, unigram_specs, plamo2_specs, scalar_specs, llama_cpp_specs]


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("seed", range(25))
def test_random_models_have_the_ids_of_the_engine(make: Callable[[Random], Iterator[Spec]], seed: int) -> None:
    rng = Random(seed)
    for spec in make(rng):
        try:
            tokenizer = Tokenizer(spec)
        except SpecError:
            continue
        pieces = [piece for piece in spec.vocab.pieces() if not piece.startswith(b"<")]
        for _ in range(60):
            letters = [*LETTERS, "q", "日本"]
            parts = [rng.choice(letters).encode() if rng.random() < 0.6 else rng.choice(pieces) for _ in range(8)]
            text = b"".join(parts[: rng.randrange(1, 9)]).decode(errors="ignore").encode()
            if text:
                assert ids_by_walk(spec, text) == ids_by_engine(tokenizer, text), (spec, text)


def ids_by_engine(tokenizer: Tokenizer, text: bytes) -> list[int] | None:
    try:
        return tokenizer.encode(text)
    except EncodeError:
        return None


def ids_by_walk(spec: Spec, text: bytes) -> list[int] | None:
    try:
        return models.ids_of(spec, text, models.walk(spec, text).segments)[0]
    except EncodeError:
        return None


def test_runners_up_are_the_next_best_segmentations() -> None:
    texts = {"a": -1.0, "b": -1.2, "ab": -1.9, "ba": -2.1, "aba": -3.0}
    rows: Rows = [(b"<unk>", 0, 0.0, Kind.UNKNOWN)]
    rows += [(text.encode(), 1 + number, score, Kind.NORMAL) for number, (text, score) in enumerate(texts.items())]
    spec = Spec(Vocab.from_rows(rows), Unigram(), unknown="unk")
    walk = models.walk(spec, b"aba")
    assert isinstance(walk, UnigramWalk)
    assert [(runner.ids, round(runner.score, 4)) for runner in walk.runners_up] == [
        *(((3, 1), -2.9), ((5,), -3.0), ((1, 4), -3.1), ((1, 2, 1), -3.2))[1:],
    ]
    assert [tuple(ids) for ids, _ in Tokenizer(spec).nbest("aba", 4)] == [
        tuple(walk.edges[index].id for index in walk.best),
        *(runner.ids for runner in walk.runners_up),
    ]
