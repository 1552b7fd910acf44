"""Runs tiktoken's own tests against polytok.compat.tiktoken."""

from __future__ import annotations

import shutil
from hashlib import sha1
from pathlib import Path

from peers.suites import PEERS, check_suite, needs_peers, run_suite
from reference_specs import DATA

ADDRESS = "https://openaipublic.blob.core.windows.net/encodings/"
EXAMPLES = "25"
"""The number of examples of each property; tiktoken's default is 100."""


def make_cache(folder: Path) -> Path:
    """Makes a cache of tiktoken from the published files."""
    folder.mkdir()
    for name in ("r50k_base", "p50k_base", "cl100k_base", "o200k_base"):
        file = f"{name}.tiktoken"
        shutil.copyfile(DATA / "vocab/tiktoken" / file, folder / sha1((ADDRESS + file).encode()).hexdigest())
    return folder


@needs_peers
def test_tiktokens_suite(tmp_path: Path) -> None:
    # 25 functions, 33 cases with their parameters.
    environment = {"TIKTOKEN_CACHE_DIR": str(make_cache(tmp_path / "cache")), "TIKTOKEN_MAX_EXAMPLES": EXAMPLES}
    result = run_suite(PEERS / "tiktoken-0.14.0", ["tiktoken"], tmp_path / "report.xml", environment=environment)
    check_suite(result, passes=33)
