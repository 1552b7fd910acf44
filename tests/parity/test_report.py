"""The pages of the comparison say what the table and the list of known differences say."""

from __future__ import annotations

from pathlib import Path

import pytest

from parity import report
from parity.checks import Outcome
from parity.known import KNOWN


def test_the_page_has_the_sums_of_the_table_and_all_known_differences() -> None:
    cells, _ = report.kept(report.TABLE.read_text("utf-8"), only="no vocabulary has this name")
    page = report.PAGE.read_text("utf-8")
    assert report.sums(cells) in page
    assert report.known() in page


def test_a_run_of_some_vocabularies_replaces_their_rows_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("PAGE", "TABLE"):
        copy = tmp_path / name
        copy.write_text(getattr(report, name).read_text("utf-8"), "utf-8")
        monkeypatch.setattr(report, name, copy)
    before, _ = report.kept(report.TABLE.read_text("utf-8"), only="llama2c")
    results = report.Results()
    results.add([Outcome("llama2c", "a reference", "lines", texts=1234, tokens=5678, refusals=["a | b"])])
    report.write_pages(results, only="llama2c")
    after, refusals = report.kept(report.TABLE.read_text("utf-8"), only="no vocabulary has this name")
    assert after == sorted([*before, ("llama2c", "a reference", "lines", "1,234", "5,678", "0", "0")])
    assert refusals == ["* llama2c, a reference: `a | b`"]
    assert "| a reference | 1 | 1,234 | 5,678 | 0 | 0 |" in report.PAGE.read_text("utf-8")


def test_known_differences_are_told_apart() -> None:
    assert len({(known.reference, known.input) for known in KNOWN}) == len(KNOWN)
