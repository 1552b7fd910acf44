"""Draws plots with matplotlib, for formats other than SVG."""

from __future__ import annotations

import io
from typing import Any

from ..extras import import_extra
from .plots import DotPlot, LinePlot
from .svg import COLORS

_MARKERS = ("o", "s", "^", "D", "x", "v", "P", "*", "h")
_DASHES = ("-", "--", ":", "-.", (0, (8, 3)), (0, (4, 2, 1, 2, 1, 2)), (0, (1, 4)))
_WIDTH = 8.0
_ROW_HEIGHT = 0.3
_LINES_HEIGHT = 4.5


def draw(plot: DotPlot | LinePlot, format: str) -> bytes:
    """Returns a plot as a file of a format that matplotlib writes, such as ``png`` or ``pdf``.

    Raises `ArgumentError` if matplotlib cannot be imported.
    """
    Figure = import_extra("matplotlib.figure", "plots", f"the format {format}", advice=", or write SVG").Figure
    height = _LINES_HEIGHT if isinstance(plot, LinePlot) else 1.5 + _ROW_HEIGHT * len(plot.rows)
    figure = Figure(figsize=(_WIDTH, height), layout="constrained")
    axes = figure.subplots()
    if isinstance(plot, LinePlot):
        _draw_lines(axes, plot)
    else:
        _draw_dots(axes, plot)
    axes.set_title(plot.title, loc="left")
    axes.grid(alpha=0.3)
    axes.spines[["top", "right"]].set_visible(False)
    figure.legend(loc="outside lower center", ncols=3, frameon=False)
    file = io.BytesIO()
    figure.savefig(file, format=format, dpi=150)
    return file.getvalue()


def _draw_dots(axes: Any, plot: DotPlot) -> None:
    for index, (name, values) in enumerate(plot.series):
        known = [(value, row) for row, value in enumerate(values) if value is not None]
        axes.plot([value for value, _ in known], [row for _, row in known], linestyle="", label=name, **_style(index))
    axes.set_yticks(range(len(plot.rows)), plot.rows)
    axes.set_ylim(len(plot.rows) - 0.5, -0.5)
    axes.set_xlim(left=0)
    axes.set_xlabel(plot.axis)


def _draw_lines(axes: Any, plot: LinePlot) -> None:
    for index, (name, points) in enumerate(plot.series):
        xs, ys = [x for x, _ in points], [y for _, y in points]
        every = max(1, len(points) // 10)
        dash = _DASHES[index % len(_DASHES)]
        axes.plot(xs, ys, linestyle=dash, markevery=every, label=name, **_style(index))
    if plot.is_logarithmic:
        axes.set_xscale("log")
        axes.set_yscale("log")
    axes.set_xlabel(plot.axes[0])
    axes.set_ylabel(plot.axes[1])


def _style(index: int) -> dict[str, Any]:
    """Returns the colour and the marker of a series."""
    color = COLORS[index % len(COLORS)].replace("currentColor", "black")
    marker = _MARKERS[index % len(_MARKERS)]
    edge = color if marker == "x" else "black"  # a cross has no face
    return {"color": color, "marker": marker, "markeredgecolor": edge, "markeredgewidth": 0.8, "markersize": 7}
