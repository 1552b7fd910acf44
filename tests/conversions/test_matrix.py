"""Tests that no conversion is worse than in docs/generated/conversions.md, and that every loss is reported."""

from __future__ import annotations

import pytest

from conversions import matrix
from conversions.page import PAGE
from reference_specs import DATA, needs_data

TEXTS = 150
_SLOW = {
    *("sentencepiece/test_model.model", "tekken/mistral2410_rebuilt.json", "huggingface/gpt2.json"),
    *("huggingface/xlnet_base_cased.json", "gguf/ggml-vocab-gpt-2.gguf", "gguf/ggml-vocab-llama-spm.gguf"),
}
SOURCES = [
    pytest.param(name, marks=[pytest.mark.slow] if name in _SLOW else [])
    for name in matrix.SLICE
    if (DATA / "vocab" / name).exists()
]


@needs_data
def test_the_page_has_every_vocabulary_and_format() -> None:
    rows = {source for source, _ in matrix.documented_verdicts(PAGE)}
    assert rows == set(matrix.sources())
    assert {target for _, target in matrix.documented_verdicts(PAGE)} == set(matrix.targets())


@needs_data
@pytest.mark.parametrize("source", SOURCES)
def test_no_cell_is_worse_than_documented(source: str) -> None:
    documented = matrix.documented_verdicts(PAGE)
    tokenizer = matrix.load(source)
    texts = matrix.texts_for(tokenizer, TEXTS)
    for target in matrix.targets():
        cell = matrix.convert(source, tokenizer, target, texts)
        assert not cell.package_difference, cell
        assert cell.reasons or not (cell.ids_differ or cell.texts_differ), cell
        assert matrix.VERDICTS.index(cell.verdict) >= matrix.VERDICTS.index(documented[source, target]), cell
