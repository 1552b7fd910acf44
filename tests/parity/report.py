"""Writes the results of a run: a table for the terminal and docs/generated/parity.md, and sums for docs/parity.md."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))  # the folder of bench/

from bench import markdown

from .checks import Outcome
from .known import KNOWN_DIFFERENCES

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs/parity.md"
TABLE = ROOT / "docs/generated/parity.md"
COLUMN_NAMES = ("vocabulary", "reference", "input", "texts", "tokens", "refused", "differences")


class Results:
    """The outcomes of a run, summed by row of the table."""

    def __init__(self) -> None:
        self.rows: dict[tuple[str, str, str], Outcome] = {}

    def add(self, outcomes: Sequence[Outcome]) -> None:
        for outcome in outcomes:
            key = (outcome.vocabulary, outcome.reference, outcome.what)
            if key in self.rows:
                self.rows[key].add(outcome)
            else:
                self.rows[key] = outcome

    def sorted(self) -> list[Outcome]:
        return [self.rows[key] for key in sorted(self.rows)]

    @property
    def differences(self) -> int:
        return sum(outcome.differences for outcome in self.rows.values())

    def cells(self) -> list[tuple[str, ...]]:
        return [
            (
                *(outcome.vocabulary, outcome.reference, outcome.what),
                *(f"{n:,}" for n in (outcome.texts, outcome.tokens, outcome.refused, outcome.differences)),
            )
            for outcome in self.sorted()
        ]

    def terminal(self) -> str:
        """Returns the table in aligned columns, with examples of differences and refused texts."""
        rows = [COLUMN_NAMES, *self.cells()]
        widths = [max(len(row[i]) for row in rows) for i in range(len(COLUMN_NAMES))]
        lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows]
        return "\n".join([*lines, "", *self.examples(), f"{self.differences} differences"])

    def examples(self) -> list[str]:
        return [
            f"{outcome.vocabulary}, {outcome.reference}, {outcome.what}: {example}"
            for outcome in self.sorted()
            for example in (*outcome.examples, *(f"refused: {text}" for text in outcome.refusals))
        ]

    def refusals(self) -> list[str]:
        return [
            f"* {outcome.vocabulary}, {outcome.reference}: `{text}`"
            for outcome in self.sorted()
            for text in outcome.refusals
        ]


def write_pages(results: Results, only: str = "") -> None:
    """Updates the tables of both pages; only rows of vocabularies whose name contains ``only`` are replaced."""
    cells, refusals = unchanged_rows(TABLE.read_text("utf-8"), only)
    cells = sorted([*cells, *results.cells()])
    markdown.replace_section(TABLE, "rows", rows_table(cells))
    markdown.replace_section(TABLE, "refusals", "\n".join(sorted([*refusals, *results.refusals()]) or ["* none"]))
    markdown.replace_section(PAGE, "sums", sums_table(cells))
    markdown.replace_section(PAGE, "known", known_table())


def unchanged_rows(table: str, only: str) -> tuple[list[tuple[str, ...]], list[str]]:
    """Returns the rows and refusals in a written table, except for vocabularies whose name contains ``only``."""
    lines = table.splitlines()
    cells = [tuple(line[2:-2].split(" | ")) for line in lines if line.startswith("| ") and not line.startswith("| ---")]
    refusals = [line for line in lines if line.startswith("* ") and line != "* none"]
    return (
        [row for row in cells if row != COLUMN_NAMES and only not in row[0]],
        [line for line in refusals if only not in line.partition(",")[0]],
    )


def rows_table(cells: Sequence[Sequence[str]]) -> str:
    return escaped_table(COLUMN_NAMES, cells)


def sums_table(cells: Sequence[Sequence[str]]) -> str:
    """Returns a table with a row for each reference: the number of its vocabularies and the sum of each column."""
    by_reference: dict[str, list[Sequence[str]]] = {}
    for row in cells:
        by_reference.setdefault(row[1], []).append(row)
    summed = [
        [
            reference,
            str(len({row[0] for row in group})),
            *(f"{sum(int(row[column].replace(',', '')) for row in group):,}" for column in range(3, len(COLUMN_NAMES))),
        ]
        for reference, group in sorted(by_reference.items())
    ]
    return escaped_table(("reference", "vocabularies", *COLUMN_NAMES[3:]), summed)


def known_table() -> str:
    return escaped_table(("reference", "input", "the reference", "polytok", "reason"), KNOWN_DIFFERENCES)


def escaped_table(column_names: Sequence[str], cells: Sequence[Sequence[str]]) -> str:
    return markdown.table(column_names, [[cell.replace("|", "\\|") for cell in row] for row in cells])
