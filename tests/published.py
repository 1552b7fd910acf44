"""The vocabularies of the test data as parameters of tests.

A test runs with each vocabulary that has rules of its own. Vocabularies with the rules of another one are for
`make test-slow` and `make parity`, and for tests/parity/test_parity.py, which has all.
"""

from __future__ import annotations

from collections.abc import Iterable
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


def marked(vocabularies: Iterable[str | Path]) -> list[pytest.ParameterSet]:
    """Returns names or files of vocabularies as parameters of a test; those that repeat another's rules are slow."""
    return [
        pytest.param(vocabulary, marks=[pytest.mark.slow] if _name(vocabulary) in REPEATING else [])
        for vocabulary in vocabularies
    ]


def _name(vocabulary: str | Path) -> str:
    return vocabulary.stem if isinstance(vocabulary, Path) else vocabulary.removesuffix(".json")


every_vocabulary = pytest.mark.parametrize("name", marked(all_vocabularies() if DATA.is_dir() else []))
every_file = pytest.mark.parametrize("path", marked(real_files()), ids=lambda path: f"{path.parent.name}-{path.name}")
