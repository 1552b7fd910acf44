"""The vocabularies of the test data as parameters of tests.

A test runs with each vocabulary that has rules of its own, and a test that takes long with one vocabulary of each kind.
The others are for `make test-slow` and `make parity`, and for tests/parity/test_parity.py, which has all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import pytest

from incremental_samples import real_files
from parity.vocabularies import all_vocabularies
from reference_specs import DATA

REPEATING = {
    *("grok1", "mistral01", "mistral03"),  # as llama2
    *("p50k_base", "p50k_edit", "o200k_harmony", "llama3.0", "llama4"),  # as r50k_base, o200k_base and llama3
    "minbpe regex",  # as minbpe regex, special
    "gpt_neox",  # as 20B_tokenizer
    *("ggml-vocab-mpt", "ggml-vocab-phi-3"),  # as ggml-vocab-gpt-2 and ggml-vocab-llama-spm
}
"""The names of vocabularies with the rules of another one."""

KINDS = {
    *("llama2", "xlnet_base_cased"),  # SentencePiece's BPE and Unigram, as .model and as tokenizer.json
    *("cl100k_base", "gpt2", "mistral2410", "mistral2410_rebuilt"),  # bytes: ranks, merges, tekken
    *("rwkv_vocab_v20230424", "bert_base_cased"),  # longest match: of bytes, and in words
    *("llama2c", "tokenizer", "minbpe regex, special"),
    *("ggml-vocab-llama-spm", "ggml-vocab-falcon", "ggml-vocab-bert-bge"),
}
"""The names of one vocabulary of each kind; "tokenizer" is the file of llama2c."""


def marked(vocabularies: Iterable[str | Path]) -> list[pytest.ParameterSet]:
    """Returns names or files of vocabularies as parameters of a test; those that repeat another's rules are slow."""
    return _slow_where(vocabularies, lambda name: name in REPEATING)


def marked_kinds(vocabularies: Iterable[str | Path]) -> list[pytest.ParameterSet]:
    """Returns names or files of vocabularies as parameters of a test; all but one of each kind are slow."""
    return _slow_where(vocabularies, lambda name: name not in KINDS)


def _slow_where(vocabularies: Iterable[str | Path], is_slow: Callable[[str], bool]) -> list[pytest.ParameterSet]:
    return [
        pytest.param(vocabulary, marks=[pytest.mark.slow] if is_slow(_name(vocabulary)) else [])
        for vocabulary in vocabularies
    ]


def _name(vocabulary: str | Path) -> str:
    return vocabulary.stem if isinstance(vocabulary, Path) else vocabulary.removesuffix(".json")


def marked_pairs(vocabularies: Sequence[str], others: Sequence[str]) -> list[pytest.ParameterSet]:
    """Returns all pairs of a vocabulary and another parameter of a test.

    Two of three pairs are slow. The rest has each vocabulary that `marked` keeps, and each other parameter.
    """
    return [
        pytest.param(*vocabulary.values, other, marks=[*vocabulary.marks, *([pytest.mark.slow] * ((row + at) % 3 > 0))])
        for row, vocabulary in enumerate(marked(vocabularies))
        for at, other in enumerate(others)
    ]


NAMES = list(all_vocabularies()) if DATA.is_dir() else []

every_vocabulary = pytest.mark.parametrize("name", marked(NAMES))
every_kind = pytest.mark.parametrize("name", marked_kinds(NAMES))
every_file = pytest.mark.parametrize("path", marked(real_files()), ids=lambda path: f"{path.parent.name}-{path.name}")
every_kind_of_file = pytest.mark.parametrize(
    "path", marked_kinds(real_files()), ids=lambda path: f"{path.parent.name}-{path.name}"
)
