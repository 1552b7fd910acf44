"""A part of the comparison with the references, small enough for every run of the tests."""

from __future__ import annotations

import os

import pytest

from parity import tasks
from parity.report import Results
from parity.vocabularies import all_vocabularies
from reference_specs import DATA, needs_data


def test_the_data_is_there_where_it_must_be() -> None:
    assert DATA.is_dir() or os.environ.get("CI") != "true", f"no data in {DATA}: set POLYTOK_DATA"


@needs_data
def test_no_vocabulary_of_the_data_is_left_out() -> None:
    covered = {name for vocabulary in all_vocabularies().values() for name in vocabulary.files}
    names = ("sentencepiece", "tiktoken", "tekken", "rwkv", "llama2c", "gguf", "huggingface")
    folders = [DATA / "vocab" / name for name in names]
    vectors = (".inp", ".out")  # test_gguf.py
    assert covered == {path.name for folder in folders for path in folder.iterdir() if path.suffix not in vectors}


@needs_data
@pytest.mark.parametrize("name", all_vocabularies() if DATA.is_dir() else [])
def test_no_difference(name: str) -> None:
    results = Results()
    for task in tasks.all_tasks(tasks.SLICE):
        if task.vocabulary == name:
            results.add(tasks.run(task))
    assert results.differences == 0, "\n".join(results.examples())
    assert sum(outcome.texts for outcome in results.rows.values()) > 1000
