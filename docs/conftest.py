"""Examples write their files into a folder of their own. The page on PyTorch is tested where PyTorch is installed."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

collect_ignore = [] if importlib.util.find_spec("torch") else ["pytorch.md"]


@pytest.fixture(autouse=True)
def _change_to_temporary_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
