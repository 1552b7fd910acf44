"""What a comparison is, and the table that is made of many."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import groupby


@dataclass(frozen=True)
class Case:
    """One training, done by both.

    ``reference`` names the program and its version, ``what`` the trainer and what is compared of it: these two are a
    row of the table. ``name`` tells options and texts. ``difference`` trains with both and says where they part, or
    None.
    """

    reference: str
    what: str
    name: str
    difference: Callable[[], str | None]


@dataclass
class Row:
    """The cases of one row so far."""

    reference: str
    what: str
    cases: int = 0
    equal: int = 0


def table(rows: Iterable[Row]) -> str:
    """The table in Markdown.

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
    """The rows of a table, as `table` wrote it.

    >>> row = Row("tokenizers 0.23.3", "BpeTrainer: merges", 1050, 1050)
    >>> rows_of(table([row])) == [row]
    True
    """
    cells = [[cell.strip() for cell in line.strip(" |").split("|")] for line in table.splitlines() if "|" in line]
    return [Row(row[0], row[1], *(int(cell.replace(",", "")) for cell in row[2:])) for row in cells[2:]]
