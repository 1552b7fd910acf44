"""Tests the instruction budget: which cells are counted, and how two budgets are compared."""

from __future__ import annotations

import json
import os
import shutil
import sys
from dataclasses import replace
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))

from bench.budget import __main__ as budget
from bench.budget import callgrind, parts
from bench.budget.cells import CELLS, LOAD
from bench.cases import DATA
from bench.operations import OPERATIONS

ROOT = Path(__file__).parents[1]
OLD_BUDGET = budget.Budget("folder", 1000, 100, "texts", "ids", {"first": 50_000, "again": 20_000})
COUNTED_PROGRAM = """
from bench.budget.callgrind import CallgrindClient
client = CallgrindClient()
for name, times in (("short", 1000), ("long", 2000)):
    with client.count_section(name):
        for _ in range(times):
            pass
print("done")
"""


def budget_with_growth(**instructions: int) -> budget.Budget:
    return replace(OLD_BUDGET, instructions=OLD_BUDGET.instructions | instructions)


def test_every_cell_has_a_known_operation_and_a_unique_name() -> None:
    assert {cell.operation for cell in CELLS.values()} <= {*OPERATIONS, LOAD}
    assert len({(cell.vocabulary, cell.text, cell.operation, cell.document_bytes) for cell in CELLS.values()}) == len(
        CELLS
    )


@pytest.mark.skipif(not DATA.is_dir(), reason="needs the vocabularies")
def test_a_piece_is_a_match_of_the_pattern_or_a_token_or_an_entry() -> None:
    cells = [replace(CELLS[name]) for name in ("cl100k_base en numpy", "llama2 en numpy", "llama2 load")]
    for cell in cells:
        cell.__dict__["documents"] = ((), ("don't 12345",))
    assert [cell.count_pieces() for cell in cells] == [5, 9, 32000]
    assert cells[0].size == 11 and cells[0].input_digest == cells[1].input_digest != cells[2].input_digest


@pytest.mark.skipif(shutil.which("valgrind") is None or os.uname().machine != "x86_64", reason="needs valgrind")
def test_only_selected_cells_are_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "loops.py").write_text(COUNTED_PROGRAM)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), str(ROOT), os.environ.get("PYTHONPATH", "")]))
    first_count, second_count = callgrind.count_instructions("loops", []), callgrind.count_instructions("loops", [])
    assert first_count.output == "done\n" and first_count.instructions.keys() == {"short", "long"}
    assert 1.5 < first_count.instructions["long"] / first_count.instructions["short"] < 2.5
    assert all(abs(count - second_count.instructions[name]) < 100 for name, count in first_count.instructions.items())


def test_an_extension_module_alone_loads_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(budget, "count_budget", lambda name, build: name)
    names = ["rwkv en numpy", "rwkv load"]
    assert list(budget.count_budgets(tmp_path, names, processes=1)) == names
    assert list(budget.count_budgets(tmp_path / "_core.so", names, processes=1)) == names[:1]


def test_an_unknown_program_is_refused() -> None:
    with pytest.raises(OSError, match="not running under valgrind"):
        callgrind.CallgrindClient()


def test_a_file_of_callgrind_has_a_name_and_a_total() -> None:
    assert callgrind.parse_dump("desc: Trigger: Client Request: first\nsummary: 0\ntotals: 123\n") == ("first", 123)
    with pytest.raises(ValueError, match="no name"):
        callgrind.parse_dump("desc: Trigger: Program termination\ntotals: 0\n")


def test_rows_have_the_figures_and_the_growth() -> None:
    assert list(budget.budget_rows({"a": budget_with_growth(first=51_000)}, {"a": OLD_BUDGET})) == [
        ("a", "first", "51.00", "510.0", "50.00", "+2.00 %"),
        ("a", "again", "20.00", "200.0", "20.00", "+0.00 %"),
    ]
    (row,) = budget.budget_rows({"load": replace(OLD_BUDGET, instructions={"first": 10})}, {})
    assert row[-2:] == ("", "")


def test_the_gate_fails_for_growth_other_texts_other_output_and_missing_cells(
    capsys: pytest.CaptureFixture[str],
) -> None:
    old_budgets = dict.fromkeys("abcde", OLD_BUDGET)
    assert budget.print_verdict({"a": budget_with_growth(first=50_900)}, old_budgets, 2) == 0
    new_budgets = {
        "a": budget_with_growth(again=20_401),
        "b": replace(OLD_BUDGET, given="others"),
        "c": replace(OLD_BUDGET, returned="others"),
        "d": budget_with_growth(first=1),
        "e": replace(OLD_BUDGET, build="file"),
        "f": OLD_BUDGET,
    }
    assert budget.print_verdict(new_budgets, old_budgets, 2) == 1
    printed_text = capsys.readouterr().out
    for line in (
        "a: +2.0",
        "b: other texts",
        "c: other output",
        "e: a folder and",
        "f: no figure to compare with",
        "1 of 6",
    ):
        assert line in printed_text
    assert budget.print_verdict({}, old_budgets, 2) == 1 and budget.print_verdict(new_budgets, old_budgets, None) == 0


def test_by_default_the_cells_of_the_stored_budget_are_counted(tmp_path: Path) -> None:
    stored_cells = budget.list_cells(ROOT / "bench/budget.json")
    assert set(stored_cells) < set(CELLS) and len(stored_cells) == 6
    assert budget.list_cells(tmp_path) == list(CELLS)


DUMP = """desc: Trigger: Client Request: first
fl=(1) /src/polytok/crates/polytok-core/src/segmenter/blocks.rs
fn=(1) encode_blocks
10 5
fi=(2) /src/polytok/crates/polytok-core/src/cache/key.rs
+3 20
fe=(3) /rustc/1/library/core/src/cmp.rs
* 7
cfi=(4) /src/polytok/crates/polytok-core/src/model/bpe/short.rs
cfn=(2) merge
calls=2 30
12 1000

fl=(4)
fn=(2)
30 1000
fl=(3)
fn=(3) compare
-9 3
totals: 1035
"""


def test_instructions_are_assigned_to_the_parts_of_the_engine() -> None:
    assert parts.sum_by_part(DUMP) == {"rest": 8, "keys": 27, "new pieces": 1000}
    assert {parts.part_of(f"/src/{name}") for names in parts.PARTS.values() for name in names} == set(parts.PARTS)


def test_the_picture_shows_the_counted_figures(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    figures = json.loads(parts.FIGURES_PATH.read_text("utf-8"))
    for name in ("one.svg", "two.svg"):
        parts.draw(figures, tmp_path / name)
    svg = (tmp_path / "one.svg").read_text("utf-8")
    assert svg == (tmp_path / "two.svg").read_text("utf-8") and all(part in svg for part in parts.PARTS)
    assert f">{sum(figures['first'].values()) / 1024:.1f}<" in parts.PLOT_PATH.read_text("utf-8")
    assert all(set(figures_of_pass) == set(parts.PARTS) for figures_of_pass in figures.values())
