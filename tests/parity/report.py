"""The table of a run, for the terminal and for docs/parity.md."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from .checks import Outcome
from .known import KNOWN

PAGE = Path(__file__).parents[2] / "docs/parity.md"
BEGIN, END = "<!-- begin: written by tests/parity -->", "<!-- end: written by tests/parity -->"
HEADS = ("vocabulary", "reference", "input", "texts", "tokens", "refused", "differences")


class Results:
    """Outcomes by row of the table."""

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
        """Columns, and examples of what differs or is refused."""
        rows = [HEADS, *self.cells()]
        widths = [max(len(row[i]) for row in rows) for i in range(len(HEADS))]
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


def markdown(cells: Sequence[Sequence[str]], refusals: Sequence[str]) -> str:
    differences = sum(int(row[-1].replace(",", "")) for row in cells)
    return "\n".join(
        [
            f"{differences} differences.",
            "",
            *markdown_table(HEADS, cells),
            "",
            "Texts that a reference refuses:",
            "",
            *(refusals or ["* none"]),
            "",
            "Known differences:",
            "",
            *markdown_table(("reference", "input", "there", "here", "reason"), KNOWN),
        ]
    )


def markdown_table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    lines = [heads, ["---"] * len(heads), *rows]
    return ["| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines]


def write_page(results: Results, only: str = "") -> None:
    """Put the table between the markers of the page. Rows of vocabularies without ``only`` in their names stay."""
    head, rest = PAGE.read_text("utf-8").split(BEGIN)
    table, tail = rest.split(END)
    lines = table.split("\n\nKnown differences:")[0].splitlines()
    rows = [tuple(line[2:-2].split(" | ")) for line in lines if line.startswith("| ") and not line.startswith("| ---")]
    kept = [row for row in rows if len(row) == len(HEADS) and row != HEADS and only not in row[0]]
    refused = [line for line in lines if line.startswith("* ") and only not in line.partition(",")[0]]
    refusals = sorted([line for line in refused if line != "* none"] + results.refusals())
    written = markdown(sorted([*kept, *results.cells()]), refusals)
    PAGE.write_text(f"{head}{BEGIN}\n\n{written}\n\n{END}{tail}", "utf-8")
