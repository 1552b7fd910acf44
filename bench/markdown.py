"""Formats Markdown tables, and inserts Markdown into documents between markers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TypeVar

Item = TypeVar("Item")


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Returns a Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def matrix(
    items: Iterable[Item],
    row: Callable[[Item], tuple[str, ...]],
    column: Callable[[Item], str],
    cell: Callable[[Item], str],
    head: Sequence[str],
) -> str:
    """Returns a table with a row for each value of ``row`` and a column for each value of ``column``.

    Rows and columns are in the order of the items. ``cell`` returns the text of an item's cell.
    """
    columns: dict[str, None] = {}
    cells: dict[tuple[str, ...], dict[str, str]] = {}
    for item in items:
        columns.setdefault(column(item))
        cells.setdefault(row(item), {})[column(item)] = cell(item)
    rows = [[*key, *(row_cells.get(name, "") for name in columns)] for key, row_cells in cells.items()]
    return table([*head, *columns], rows)


def replace_section(path: Path, marker: str, text: str) -> None:
    """Replaces the text between ``<!-- marker:begin -->`` and ``<!-- marker:end -->`` in a document."""
    head, tail = split_around_section(path, marker)
    path.write_text(f"{head}\n\n{text}\n\n{tail}", encoding="utf-8")


def split_around_section(path: Path, marker: str) -> tuple[str, str]:
    """Returns the text up to the end of the begin marker, and the text from the end marker on."""
    begin, end = f"<!-- {marker}:begin -->", f"<!-- {marker}:end -->"
    document = path.read_text(encoding="utf-8") if path.exists() else ""
    head, found_begin, remaining_text = document.partition(begin)
    _, found_end, tail = remaining_text.partition(end)
    if not found_begin or not found_end:
        raise SystemExit(f"{path.name} lacks the markers for the figures: add the lines {begin} and {end}")
    return head + begin, end + tail
