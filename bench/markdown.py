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
    """Returns a table of items: ``row`` returns the row of an item, and ``column`` its column.

    ``cell`` returns the text in the cell of an item. Rows and columns are in the order in which items first use them.
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
    text_before, text_after = split_around_section(path, marker)
    path.write_text(f"{text_before}\n\n{text}\n\n{text_after}", encoding="utf-8")


def split_around_section(path: Path, marker: str) -> tuple[str, str]:
    """Returns the text of a document up to and including the begin marker, and the text from the end marker on."""
    begin_marker, end_marker = f"<!-- {marker}:begin -->", f"<!-- {marker}:end -->"
    document = path.read_text(encoding="utf-8") if path.exists() else ""
    text_before, matched_begin, remaining_text = document.partition(begin_marker)
    _, matched_end, text_after = remaining_text.partition(end_marker)
    if not matched_begin or not matched_end:
        raise SystemExit(f"{path.name} has no place for the figures: add the lines {begin_marker} and {end_marker}")
    return text_before + begin_marker, end_marker + text_after
