"""Tests the corpus benchmark: the same documents in every format, and the comparison of jobs."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from bench.corpus import inputs
from bench.corpus.child import hash_ids
from bench.corpus.jobs import END_OF_TEXT_ID
from bench.corpus.plans import simulate
from bench.corpus.stages import read_blocks
from bench.corpus.watched import run_watched

KILOBYTES = 60


def test_jobs_over_many_files_can_be_simulated() -> None:
    figures = dict(simulate(2500, 0.01, 1 << 28))
    assert figures["tasks"] == "38" and figures["objects of shards"] == "76"
    # Three pages of inputs are listed; each record is removed at the end.
    assert figures["requests"].endswith("38 remove, 3 write")


@pytest.fixture
def _few_texts(monkeypatch: pytest.MonkeyPatch) -> None:
    def generate_chunks() -> Iterator[bytes]:
        while True:
            yield "".join(f"line {n} with é, 日本 and <|endoftext|>\n" for n in range(400)).encode()

    monkeypatch.setattr(inputs.texts, "generate_chunks", generate_chunks)
    monkeypatch.setattr(inputs.texts, "MEGABYTE", 1000)


@pytest.mark.usefixtures("_few_texts")
def test_every_format_has_the_same_documents(tmp_path: Path) -> None:
    expected = list(inputs.documents_of_size(KILOBYTES))
    assert len(expected) > 20 and not any("<|" in document for document in expected)
    for format in inputs.WRITERS:
        paths = inputs.write_files(tmp_path, format, KILOBYTES)
        texts = [text for documents in read_blocks(paths, format) for text in documents.texts.to_list()]
        assert [text.decode() for text in texts if text] == expected
        stamps = [path.stat().st_mtime_ns for path in paths]
        assert [path.stat().st_mtime_ns for path in inputs.write_files(tmp_path, format, KILOBYTES)] == stamps


def test_end_of_text_ids_are_not_compared() -> None:
    parts = [np.array([1, END_OF_TEXT_ID, 2], np.uint16), np.array([3], np.uint32)]
    assert hash_ids(iter(parts)) == hash_ids(iter([np.array([1, 2, 3], np.int64)]))
    assert hash_ids(iter(parts))[1] == 3
    assert hash_ids(iter(parts)) != hash_ids(iter([np.array([1, 3, 2], np.int64)]))


def test_the_memory_of_all_processes_is_measured() -> None:
    code = "import subprocess, sys; b = bytearray(60 << 20); subprocess.run([sys.executable, '-c', %r]); print('done')"
    child = "import time; b = bytearray(90 << 20)\nwhile time.process_time() < 0.3: pass\ntime.sleep(1)"
    usage = run_watched([sys.executable, "-c", code % child])
    assert usage.output == "done\n" and usage.processor_seconds >= 0.3
    assert max(size for _, size in usage.samples) > 150 << 20
