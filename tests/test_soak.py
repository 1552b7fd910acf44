"""Runs a soak for seconds, and tests that it reports changed ids, differences between methods, and growth."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from bench.soak import process, report, run
from bench.soak.calls import Difference
from bench.soak.run import Result, Row, Settings, soak

import format_samples
from polytok import Tokenizer

MIB = 1 << 20
ROW = Row(0.0, 200 * MIB, 100 * MIB, 50 * MIB, 6, 6, 0, "hash")

pytestmark = pytest.mark.skipif(not process.is_known(), reason="the system has no /proc")


@pytest.fixture(scope="module")
def vocabularies(tmp_path_factory: pytest.TempPathFactory) -> list[str | Path]:
    """Returns native files of small vocabularies of all formats, and the embedded vocabulary."""
    folder = tmp_path_factory.mktemp("vocabularies")
    paths: list[str | Path] = ["default"]
    for name, create_spec in format_samples.SMALL.items():
        paths.append(folder / f"{name}.ptok")
        Tokenizer(create_spec()).save(paths[-1])
    return paths


def test_a_short_soak_passes(vocabularies: list[str | Path], tmp_path: Path) -> None:
    rows: list[Row] = []
    result = soak(Settings(vocabularies, seconds=2.0, interval=0.5, threads=3), rows.append)
    assert report.failures(result) == [] and result.rows == rows and rows
    assert result.calls and len({row.ids_hash for row in rows}) == 1
    report.write(result, tmp_path / "soak")
    assert "Nothing failed." in (tmp_path / "soak" / "soak.md").read_text()
    assert "<svg" in (tmp_path / "soak" / "soak.svg").read_text()


def test_changed_ids_are_reported(vocabularies: list[str | Path], monkeypatch: pytest.MonkeyPatch) -> None:
    hashes = iter(range(1000))
    monkeypatch.setattr(run, "ids_hash", lambda tokenizer, texts: str(next(hashes)))
    result = soak(Settings(vocabularies[:1], seconds=5.0, interval=0.1, threads=1))
    assert "default, loaded now: the ids have changed" in report.failures(result)


def test_a_difference_ends_the_soak(vocabularies: list[str | Path], monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise Difference("count differs from encode")

    monkeypatch.setattr(run, "draw_call", lambda rng: ("fail", fail))
    result = soak(Settings(vocabularies[:1], seconds=60.0, interval=0.1, threads=2))
    assert report.failures(result)[0] == "Difference: count differs from encode"


def rows_with(**columns: list[int]) -> list[Row]:
    changes = [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]
    return [replace(ROW, seconds=60.0 * place, **change) for place, change in enumerate(changes)]


def test_growth_is_reported() -> None:
    flat = rows_with(free_memory=[100 * MIB + MIB * (place % 3) for place in range(40)])
    assert report.failures(Result(rows=flat)) == []
    warm_up = rows_with(free_memory=[MIB * min(100, 10 * place) for place in range(40)])
    assert report.failures(Result(rows=warm_up)) == []
    leak = rows_with(free_memory=[100 * MIB + MIB * place for place in range(40)])
    assert report.failures(Result(rows=leak)) == ["memory grew by 19.0 MiB in the second half, of 130 MiB"]
    lost = rows_with(live_memory=[50 * MIB + MIB * place for place in range(40)])
    assert report.failures(Result(rows=lost)) == ["allocated memory grew by 19.0 MiB in the second half, of 80 MiB"]
    files = rows_with(open_files=[6 + place for place in range(40)])
    assert report.failures(Result(rows=files)) == ["open files: 26 after the first half, 45 at the end"]
