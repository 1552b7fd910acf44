"""Tests other segmentations of a text: sampling, dropout, restriction."""

from __future__ import annotations

from collections import Counter
from math import exp, log

import pytest

import polytok
from format_samples import sentencepiece_spec
from polytok import Tokenizer
from tokenizer_samples import word_unigram


@pytest.fixture(scope="module")
def unigram() -> Tokenizer:
    return Tokenizer(word_unigram())


def probabilities(tokenizer: Tokenizer, text: str, alpha: float) -> dict[tuple[int, ...], float]:
    weights = {tuple(ids): exp(alpha * score) for ids, score in tokenizer.nbest(text, 100)}
    return {ids: weight / sum(weights.values()) for ids, weight in weights.items()}


def test_sampling_follows_the_scores_and_the_seed(unigram: Tokenizer) -> None:
    expected = probabilities(unigram, "abab", 0.5)
    assert len(expected) > 3
    sample_counts = Counter(tuple(unigram.sample("abab", alpha=0.5, seed=seed)) for seed in range(20_000))
    for ids, probability in expected.items():
        assert abs(sample_counts[ids] / 20_000 - probability) < 0.02
    assert unigram.sample("abab", alpha=0.5, seed=7) == unigram.sample("abab", alpha=0.5, seed=7)
    entropy = -sum(p * log(p) for p in probabilities(unigram, "abab", 1.0).values())
    assert unigram.entropy("abab", alpha=1.0) == pytest.approx(entropy, rel=1e-4)


def test_sampling_with_scores(unigram: Tokenizer) -> None:
    expected = probabilities(unigram, "abab", 1.0)
    for ids, score in unigram.sample_with_score("abab", num_samples=50, seed=1):
        assert score == pytest.approx(log(expected[tuple(ids)]), abs=1e-3)
    best, *other_samples = unigram.sample_with_score(
        "abab", num_samples=3, without_replacement=True, include_best=True, seed=2
    )
    assert best == (unigram.encode("abab"), 0.0)
    assert len({tuple(ids) for ids, _ in [best, *other_samples]}) == 1 + len(other_samples)
    with pytest.raises(polytok.ArgumentError):
        unigram.sample_with_score("abab", include_best=True)
    for invalid_count in (0, 10**6, 2**70):
        with pytest.raises(polytok.ArgumentError, match="num_samples"):
            unigram.sample_with_score("abab", num_samples=invalid_count)
    for invalid_count in (-1, 2**70):
        with pytest.raises(polytok.ArgumentError, match=r"n=-?\d+ is not"):
            unigram.nbest("abab", invalid_count)


def test_bpe_dropout() -> None:
    tokenizer = Tokenizer(sentencepiece_spec())
    text = "ab ab ab"
    assert tokenizer.sample(text, alpha=0.0, seed=0) == tokenizer.encode(text)
    pieces = [tokenizer.id_to_piece(id).decode() for id in tokenizer.sample(text, alpha=1.0, seed=0)]
    assert pieces == ["▁", "a", "b"] * 3
    distinct_samples = {tuple(tokenizer.sample(text, alpha=0.5, seed=seed)) for seed in range(50)}
    assert len(distinct_samples) > 5
    assert all(tokenizer.decode(ids) == text for ids in distinct_samples)
    with pytest.raises(polytok.ArgumentError):
        tokenizer.nbest(text, 2)


def test_restriction_returns_only_listed_entries() -> None:
    tokenizer = Tokenizer(sentencepiece_spec())
    assert tokenizer.id_to_piece(tokenizer.encode("ab")[0]) == "▁ab".encode()
    restricted_tokenizer = tokenizer.restrict({"▁a"})
    assert [restricted_tokenizer.id_to_piece(id).decode() for id in restricted_tokenizer.encode("ab")] == ["▁a", "b"]
    assert tokenizer.id_to_piece(tokenizer.encode("ab")[0]) == "▁ab".encode()
    with pytest.raises(polytok.ArgumentError):
        polytok.load("default").restrict({"a"})
