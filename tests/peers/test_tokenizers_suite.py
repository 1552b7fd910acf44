"""Runs the own tests of tokenizers against polytok.compat.tokenizers."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from peers.suites import PEERS, check_suite, needs_peers, run_suite

ALLOWED = {
    "TestTokenizer.test_multiprocessing_with_parallelism": "it expects a deadlock after a fork",
}
PASSES = 128


@needs_peers
def test_the_suite_of_tokenizers(tmp_path: Path) -> None:
    pytest.importorskip("tokenizers")
    folder = shutil.copytree(PEERS / "tokenizers-0.23.3", tmp_path / "suite")  # the tests write files beside them
    environment = {"HF_HUB_OFFLINE": "1"}
    # Tests that download something fail with the original too.
    original = run_suite(folder, [], tmp_path / "original.xml", environment=environment)
    result = run_suite(folder, ["tokenizers"], tmp_path / "face.xml", environment=environment)
    downloads = dict.fromkeys(original.failed, "needs a download")
    check_suite(result, passes=PASSES, allowed_failures={**downloads, **ALLOWED})
