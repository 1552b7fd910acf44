"""Markdown tables, and Markdown into documents between markers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TypeVar

Item = TypeVar("Item")


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def matrix(
    items: Iterable[Item],
    row: Callable[[Item], tuple[str, ...]],
    column: Callable[[Item], str],
    cell: Callable[[Item], str],
    head: Sequence[str],
) -> str:
    """A table with a row for each key of ``row`` and a column for each of ``column``, in the order of the items."""
    columns: dict[str, None] = {}
    cells: dict[tuple[str, ...], dict[str, str]] = {}
    for item in items:
        columns.setdefault(column(item))
        cells.setdefault(row(item), {})[column(item)] = cell(item)
    rows = [[*key, *(found.get(name, "") for name in columns)] for key, found in cells.items()]
    return table([*head, *columns], rows)


def put(path: Path, marker: str, text: str) -> None:
    """Replaces what stands between ``<!-- marker:begin -->`` and ``<!-- marker:end -->``."""
    before, after = around(path, marker)
    path.write_text(f"{before}\n\n{text}\n\n{after}", encoding="utf-8")


def around(path: Path, marker: str) -> tuple[str, str]:
    """A document up to the end of its first marker, and from its second one on."""
    begin, end = f"<!-- {marker}:begin -->", f"<!-- {marker}:end -->"
    document = path.read_text(encoding="utf-8") if path.exists() else ""
    before, found, rest = document.partition(begin)
    _, closed, after = rest.partition(end)
    if not found or not closed:
        raise SystemExit(f"{path.name} has no place for the figures: put the lines {begin} and {end} into it")
    return before + begin, end + after
