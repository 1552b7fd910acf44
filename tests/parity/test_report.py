"""Tests that docs/parity.md agrees with the full table and with the list of known differences."""

from __future__ import annotations

from pathlib import Path

import pytest

from parity import report
from parity.checks import Outcome
from parity.known import KNOWN_DIFFERENCES


def test_the_page_has_the_sums_of_the_table_and_the_known_differences() -> None:
    cells, _ = report.unchanged_rows(report.TABLE.read_text("utf-8"), only="no vocabulary has this name")
    page = report.PAGE.read_text("utf-8")
    assert report.sums_table(cells) in page
    assert report.known_table() in page


def test_a_run_of_some_vocabularies_replaces_their_rows_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("PAGE", "TABLE"):
        copy = tmp_path / name
        copy.write_text(getattr(report, name).read_text("utf-8"), "utf-8")
        monkeypatch.setattr(report, name, copy)
    other_rows, _ = report.unchanged_rows(report.TABLE.read_text("utf-8"), only="llama2c")
    results = report.Results()
    results.add([Outcome("llama2c", "a reference", "lines", texts=1234, tokens=5678, refusals=["a | b"])])
    report.write_pages(results, only="llama2c")
    rows, refusals = report.unchanged_rows(report.TABLE.read_text("utf-8"), only="no vocabulary has this name")
    assert rows == sorted([*other_rows, ("llama2c", "a reference", "lines", "1,234", "5,678", "0", "0")])
    assert refusals == ["* llama2c, a reference: `a | b`"]
    assert "| a reference | 1 | 1,234 | 5,678 | 0 | 0 |" in report.PAGE.read_text("utf-8")


def test_no_known_difference_is_listed_twice() -> None:
    names = {(difference.reference, difference.input) for difference in KNOWN_DIFFERENCES}
    assert len(names) == len(KNOWN_DIFFERENCES)
