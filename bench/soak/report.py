"""Decides whether a soak passed, and writes its table and plot."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from polytok.statistics import svg
from polytok.statistics.plots import LinePlot

from .. import markdown
from .run import Result, Row

MIB = 1 << 20
_MIN_ROWS = 10
_MAX_GROWTH = 0.05
_SMALL_GROWTH = 8 * MIB


def slope(points: Sequence[tuple[float, float]]) -> float:
    """Returns the slope of the line with the least squares.

    >>> slope([(0, 1), (1, 3), (2, 5)])
    2.0
    """
    x_mean = sum(x for x, _ in points) / len(points)
    y_mean = sum(y for _, y in points) / len(points)
    spread = sum((x - x_mean) ** 2 for x, _ in points)
    return sum((x - x_mean) * (y - y_mean) for x, y in points) / spread if spread else 0.0


_JUDGED = {"free_memory": "memory", "live_memory": "allocated memory"}


def growth(rows: Sequence[Row], name: str) -> float:
    """Returns by how many bytes a column grew in the second half, as the line through its points says."""
    half = rows[len(rows) // 2 :]
    points = [(row.seconds, float(getattr(row, name))) for row in half]
    return slope(points) * (half[-1].seconds - half[0].seconds) if half else 0.0


def failures(result: Result) -> list[str]:
    """Returns what went wrong; memory is judged only if there are enough rows."""
    found = list(result.failures)
    rows = result.rows
    if len(rows) >= _MIN_ROWS:
        half = rows[len(rows) // 2 :]
        for column, what in _JUDGED.items():
            grown, mean = growth(rows, column), sum(getattr(row, column) for row in half) / len(half)
            if grown > max(_MAX_GROWTH * mean, _SMALL_GROWTH):
                found.append(f"{what} grew by {grown / MIB:.1f} MiB in the second half, of {mean / MIB:.0f} MiB")
        for name in ("threads", "open_files"):
            first, last = getattr(half[0], name), max(getattr(row, name) for row in half[-3:])
            if last > first + 8:
                found.append(f"{name.replace('_', ' ')}: {first} after the first half, {last} at the end")
    return found


HEAD = (
    *("minutes", "memory, MiB", "without short-lived models, MiB", "allocated of these, MiB"),
    *("threads", "open files", "calls", "hash of ids"),
)


def cells(row: Row) -> tuple[str, ...]:
    return (
        f"{row.seconds / 60:.1f}",
        f"{row.memory / MIB:.1f}",
        f"{row.free_memory / MIB:.1f}",
        f"{row.live_memory / MIB:.1f}",
        str(row.threads),
        str(row.open_files),
        f"{row.calls:,}",
        row.ids_hash,
    )


def plot(rows: Sequence[Row]) -> str:
    """Returns the memory by time as SVG."""
    series = (
        ("in use", tuple((row.seconds / 60, row.memory / MIB) for row in rows)),
        ("short-lived models freed", tuple((row.seconds / 60, row.free_memory / MIB) for row in rows)),
        ("allocated of these", tuple((row.seconds / 60, row.live_memory / MIB) for row in rows)),
    )
    about = "Memory of the process alone, at the end of each interval."
    axes = ("minutes", "MiB")
    return svg.draw(LinePlot("soak", "Memory of a soak", about, axes, False, series), has_style=True)


def write(result: Result, folder: Path) -> None:
    """Writes soak.md and soak.svg to a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "soak.svg").write_text(plot(result.rows), encoding="utf-8")
    calls = [(name, f"{count:,}") for name, count in result.calls.most_common()]
    refused = [(name, f"{count:,}") for name, count in result.refused.most_common()]
    sections = (
        markdown.table(HEAD, map(cells, result.rows)),
        markdown.table(("call", "number"), calls),
        markdown.table(("refused text", "number"), refused),
        "\n".join(failures(result)) or "Nothing failed.",
    )
    (folder / "soak.md").write_text("\n\n".join(sections) + "\n", encoding="utf-8")
