"""Tests written tokenizer.json files with ``transformers``, an optional package because of its size."""

from __future__ import annotations

from pathlib import Path

import pytest

from conversions import matrix
from polytok import conversion
from reference_specs import needs_data

transformers = pytest.importorskip("transformers")


@needs_data
@pytest.mark.parametrize("source", ["tiktoken/r50k_base.tiktoken", "sentencepiece/llama2.model"])
def test_transformers_encodes_the_same(source: str, tmp_path: Path) -> None:
    tokenizer = matrix.load(source)
    path = tmp_path / "tokenizer.json"
    path.write_bytes(conversion.write(tokenizer.spec, "huggingface", strict=True).data)
    transformers_tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_file=str(path), clean_up_tokenization_spaces=False, split_special_tokens=True
    )
    for text in matrix.texts_for(tokenizer, 200):
        ids = tokenizer.encode(text)
        assert transformers_tokenizer.encode(text, add_special_tokens=False) == ids
        assert transformers_tokenizer.decode(ids) == tokenizer.decode(ids)
