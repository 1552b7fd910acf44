"""Tests polytok against its references with a comparison small enough for every test run."""

from __future__ import annotations

import os

import pytest

from parity import tasks
from parity.report import Results
from parity.vocabularies import all_vocabularies
from reference_specs import DATA, needs_data


def test_the_data_is_present_in_ci() -> None:
    assert DATA.is_dir() or os.environ.get("CI") != "true", f"no data in {DATA}: set POLYTOK_DATA"


@needs_data
def test_every_vocabulary_file_is_compared() -> None:
    compared_files = {name for vocabulary in all_vocabularies().values() for name in vocabulary.files}
    names = ("sentencepiece", "tiktoken", "tekken", "rwkv", "llama2c", "gguf", "huggingface")
    folders = [DATA / "vocab" / name for name in names]
    vectors = (".inp", ".out")  # compared in test_gguf.py
    assert compared_files == {
        path.name for folder in folders for path in folder.iterdir() if path.suffix not in vectors
    }


@needs_data
@pytest.mark.parametrize("name", all_vocabularies() if DATA.is_dir() else [])
def test_polytok_agrees_with_its_references(name: str) -> None:
    results = Results()
    for task in tasks.all_tasks(tasks.SLICE):
        if task.vocabulary == name:
            results.add(tasks.run(task))
    assert results.differences == 0, "\n".join(results.examples())
    assert sum(outcome.texts for outcome in results.rows.values()) > 1000
