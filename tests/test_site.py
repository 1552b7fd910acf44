"""Tests the extension of griffe that prepares the sources for the site."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def test_data_classes_show_their_fields() -> None:
    griffe = pytest.importorskip("griffe")
    spec = importlib.util.spec_from_file_location("site_examples", ROOT / "scripts/site_examples.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    package = griffe.load(
        "polytok.spec.vocab",
        search_paths=[ROOT / "python"],
        extensions=griffe.load_extensions(module.Examples),
    )
    assert [parameter.name for parameter in package["Vocab"].parameters][:3] == ["self", "blob", "offsets"]
