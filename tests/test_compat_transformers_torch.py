"""Tests transformers on polytok with PyTorch: the workers of a DataLoader, and the collators (``make test-torch``)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import transformers_bank as bank
from polytok.compat import transformers as face

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")


def load(folder: Path) -> Any:
    import polytok

    polytok.load("default").save(folder / "tokenizer.json")
    tokens = {"eos_token": "<|endoftext|>", "pad_token": "<|endoftext|>", "mask_token": "<|mask|>"}
    config = {"tokenizer_class": "PreTrainedTokenizerFast", **tokens}
    (folder / "tokenizer_config.json").write_text(json.dumps(config))
    return transformers.AutoTokenizer.from_pretrained(folder)


class _Rows:
    """A dataset whose workers tokenize."""

    def __init__(self, tokenizer: Any) -> None:
        self.tokenizer = tokenizer

    def __len__(self) -> int:
        return 4 * len(bank.TEXTS)

    def __getitem__(self, index: int) -> Any:
        return self.tokenizer(f"{index} {bank.TEXTS[index % len(bank.TEXTS)]}", truncation=True, max_length=20)


def batches(tokenizer: Any, context: str, collate: Any) -> list[Any]:
    loader = torch.utils.data.DataLoader(
        _Rows(tokenizer), batch_size=3, num_workers=2, collate_fn=collate, multiprocessing_context=context
    )
    return [{name: values.tolist() for name, values in batch.items()} for batch in loader]


@pytest.mark.parametrize("context", ["fork", "spawn"])
def test_the_workers_of_a_loader(tmp_path: Path, context: str) -> None:
    results = []
    original = load(tmp_path)
    with face.patched():
        ours = load(tmp_path)
        assert isinstance(ours._tokenizer, face.Backend)
        for tokenizer in (original, ours):
            results.append(batches(tokenizer, context, transformers.DataCollatorWithPadding(tokenizer)))
    assert len(results[0]) == 10
    assert results[0] == results[1]


def test_masking_for_a_language_model(tmp_path: Path) -> None:
    results = []
    original = load(tmp_path)
    with face.patched():
        for tokenizer in (original, load(tmp_path)):
            rows = [tokenizer(text, return_special_tokens_mask=True) for text in bank.TEXTS]
            for options in ({"mlm": False}, {"mlm": True, "seed": 5, "pad_to_multiple_of": 8}):
                collate = transformers.DataCollatorForLanguageModeling(tokenizer, **options)
                results.append({name: values.tolist() for name, values in collate(rows).items()})
    assert results[:2] == results[2:]
