"""Defines a comparison of two trainings, and the table of comparisons."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import groupby


@dataclass(frozen=True)
class Case:
    """A training with polytok and with a reference program.

    ``reference`` is the program with its version, ``what`` the trainer and the compared result; these two identify a
    row of the table. ``name`` describes options and texts. ``difference`` trains with both programs and returns the
    first difference, or None.
    """

    reference: str
    what: str
    name: str
    difference: Callable[[], str | None]


@dataclass
class Row:
    """A row of the table: the count of all cases, and the count of cases with equal results."""

    reference: str
    what: str
    cases: int = 0
    equal: int = 0


def table(rows: Iterable[Row]) -> str:
    """Returns the table in Markdown.

    >>> print(table([Row("tokenizers 0.23.3", "BpeTrainer: merges", 50, 50)]))
    | reference | compared | cases | equal |
    |---|---|---:|---:|
    | tokenizers 0.23.3 | BpeTrainer: merges | 50 | 50 |
    """
    lines = ["| reference | compared | cases | equal |", "|---|---|---:|---:|"]
    for reference, group in groupby(sorted(rows, key=lambda row: row.reference), key=lambda row: row.reference):
        lines += [f"| {reference} | {row.what} | {row.cases:,} | {row.equal:,} |" for row in group]
    return "\n".join(lines)


def rows_of(table: str) -> list[Row]:
    """Parses the rows of a table that `table` wrote.

    >>> row = Row("tokenizers 0.23.3", "BpeTrainer: merges", 1050, 1050)
    >>> rows_of(table([row])) == [row]
    True
    """
    cells = [[cell.strip() for cell in line.strip(" |").split("|")] for line in table.splitlines() if "|" in line]
    return [Row(row[0], row[1], *(int(cell.replace(",", "")) for cell in row[2:])) for row in cells[2:]]
