"""Draws plots as SVG: every series has its own colour, marker and dash, and each plot a title and a description.

The colours are those of Okabe and Ito, which people with any colour vision can tell apart, in an order that begins with
those of the highest contrast. The numbers of markers and of dashes have no common factor, so the first 63 series differ
in these too. Text and lines have the colour of the text around, so plots suit light and dark pages.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from html import escape

from .plots import DotPlot, LinePlot

COLORS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "currentColor", "#f0e442")
_DASHES = ("", "7 3", "2 3", "9 3 2 3", "12 4", "4 2 1 2 1 2", "1 4")
_WIDTH = 720
_LEFT_OF_LINES = 64
_RIGHT = 24
_ROW_HEIGHT = 22
_LINES_HEIGHT = 300
_LEGEND_ROW_HEIGHT = 20
_CHARACTER_WIDTH = 7.2
_MAX_LABEL = 28
_TICKS = 6
_UNITS = ((1e9, "G"), (1e6, "M"), (1e3, "k"))

STYLE = """\
.polytok-plot { font: 12px system-ui, sans-serif; color: #1a1a1a; max-width: 100%; height: auto; }
@media (prefers-color-scheme: dark) { .polytok-plot { color: #e8e8e8; } }
.polytok-plot text { fill: currentColor; }
.polytok-plot .grid { stroke: currentColor; stroke-opacity: 0.18; }
.polytok-plot .line { fill: none; stroke-width: 2; }
.polytok-plot .mark { stroke: currentColor; stroke-width: 0.8; }
.polytok-plot .cross { fill: none; stroke-width: 2.4; }
"""

_Scale = Callable[[float], float]


def draw(plot: DotPlot | LinePlot, *, has_style: bool = False) -> str:
    """Returns a plot as SVG; with ``has_style`` as a file of its own."""
    legend, legend_height = _legend([name for name, _ in plot.series])
    body, height = _dots(plot, legend_height) if isinstance(plot, DotPlot) else _lines(plot, legend_height)
    ids = f"{plot.name}-title {plot.name}-about"
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="polytok-plot" viewBox="0 0 {_WIDTH} {height}" '
        f'width="{_WIDTH}" height="{height}" role="img" aria-labelledby="{ids}">',
        f'<title id="{plot.name}-title">{escape(plot.title)}</title>',
        f'<desc id="{plot.name}-about">{escape(_description(plot))}</desc>',
        *([f"<style>\n{STYLE}</style>"] if has_style else []),
        *legend,
        *body,
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _description(plot: DotPlot | LinePlot) -> str:
    """Returns a sentence that says what a plot shows, for readers who do not see it."""
    names = ", ".join(name for name, _ in plot.series)
    if isinstance(plot, LinePlot):
        kind = f"A line for each of {names}: {plot.axes[1]} by {plot.axes[0]}"
        return f"{kind}{', both logarithmic' if plot.is_logarithmic else ''}. {plot.about} A table has the numbers."
    ranges = []
    for name, values in plot.series:
        known = [(value, row) for value, row in zip(values, plot.rows, strict=True) if value is not None]
        if known:
            (least, least_row), (most, most_row) = min(known), max(known)
            ranges.append(f"{name} from {least:.4g} ({least_row}) to {most:.4g} ({most_row})")
    return f"A dot for each row and each of {names}. {'; '.join(ranges)}. {plot.about} A table has the numbers."


# The two kinds of plots


def _dots(plot: DotPlot, top: int) -> tuple[list[str], int]:
    left = _label_width(plot.rows)
    values = [value for _, series in plot.series for value in series if value is not None]
    ticks = _linear_ticks(max(values, default=1))
    scale = _linear(0, ticks[-1], left, _WIDTH - _RIGHT)
    bottom = top + _ROW_HEIGHT * len(plot.rows) + 8
    parts = list(_vertical_grid(ticks, scale, top, bottom))
    parts.append(_text((left + _WIDTH - _RIGHT) / 2, bottom + 34, plot.axis, "middle"))
    for place, row in enumerate(plot.rows):
        y = top + _ROW_HEIGHT * (place + 0.5) + 4
        parts.append(_text(left - 10, y + 4, _shortened(row), "end"))
        parts.append(f'<line class="grid" x1="{left}" x2="{_WIDTH - _RIGHT}" y1="{y:g}" y2="{y:g}"/>')
    spread = min(3.0, _ROW_HEIGHT * 0.5 / max(1, len(plot.series)))  # dots of equal values remain visible
    for index, (name, series) in enumerate(plot.series):
        parts.append(f"<g>{_title(name)}")
        for place, value in enumerate(series):
            if value is not None:
                y = top + _ROW_HEIGHT * (place + 0.5) + 4 + spread * (index - (len(plot.series) - 1) / 2)
                label = f"{name}, {plot.rows[place]}: {value:.4g}"
                parts.append(_mark(index, scale(value), y, label))
        parts.append("</g>")
    return parts, bottom + 46


def _lines(plot: LinePlot, top: int) -> tuple[list[str], int]:
    points = [point for _, series in plot.series for point in series] or [(1.0, 1.0)]
    bottom, right = top + _LINES_HEIGHT, _WIDTH - _RIGHT
    far, high = max(x for x, _ in points), max(y for _, y in points)
    if plot.is_logarithmic:
        x_ticks, y_ticks = _decades(far), _decades(high)
        x_scale = _logarithmic(x_ticks[-1], _LEFT_OF_LINES, right)
        y_scale = _logarithmic(y_ticks[-1], bottom, top)
    else:
        x_ticks, y_ticks = _linear_ticks(far), _linear_ticks(high)
        x_scale = _linear(0, x_ticks[-1], _LEFT_OF_LINES, right)
        y_scale = _linear(0, y_ticks[-1], bottom, top)
    parts = [*_vertical_grid(x_ticks, x_scale, top, bottom)]
    for tick in y_ticks:
        y = y_scale(tick)
        parts.append(f'<line class="grid" x1="{_LEFT_OF_LINES}" x2="{right}" y1="{y:g}" y2="{y:g}"/>')
        parts.append(_text(_LEFT_OF_LINES - 8, y + 4, _tick_text(tick), "end"))
    parts.append(_text((_LEFT_OF_LINES + right) / 2, bottom + 34, plot.axes[0], "middle"))
    parts.append(_text(_LEFT_OF_LINES - 8, top - 8, plot.axes[1], "start"))
    for index, (name, series) in enumerate(plot.series):
        places = [(x_scale(x), y_scale(y)) for x, y in series]
        parts.append(f"<g>{_title(name)}")
        parts.append(_line(index, places))
        step = max(1, len(places) // 10)
        parts += (_mark(index, *place) for place in places[index % step :: step])
        parts.append("</g>")
    return parts, bottom + 46


# Parts of plots


def _legend(names: Sequence[str]) -> tuple[list[str], int]:
    """Returns the legend, and its height with the space below it."""
    parts: list[str] = []
    x, y = 8.0, 14.0
    for index, name in enumerate(names):
        width = 44 + _CHARACTER_WIDTH * len(_shortened(name))
        if x > 8 and x + width > _WIDTH - 8:
            x, y = 8.0, y + _LEGEND_ROW_HEIGHT
        parts.append(_line(index, [(x, y), (x + 28, y)]))
        parts.append(_mark(index, x + 14, y))
        parts.append(_text(x + 34, y + 4, _shortened(name), "start"))
        x += width + 12
    return parts, int(y) + 30


def _vertical_grid(ticks: Sequence[float], scale: _Scale, top: float, bottom: float) -> Iterator[str]:
    for tick in ticks:
        x = scale(tick)
        yield f'<line class="grid" x1="{x:g}" x2="{x:g}" y1="{top:g}" y2="{bottom:g}"/>'
        yield _text(x, bottom + 16, _tick_text(tick), "middle")


def _line(index: int, places: Sequence[tuple[float, float]]) -> str:
    points = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
    dash = _DASHES[index % len(_DASHES)]
    dashes = f' stroke-dasharray="{dash}"' if dash else ""
    return f'<polyline class="line" stroke="{COLORS[index % len(COLORS)]}"{dashes} points="{points}"/>'


def _mark(index: int, x: float, y: float, label: str = "") -> str:
    """Returns the marker of a series at a place, with a label for pointers and screen readers."""
    color = COLORS[index % len(COLORS)]
    shape = _SHAPES[index % len(_SHAPES)]
    is_cross = shape.startswith("M") and "z" not in shape
    style = f'class="cross" stroke="{color}"' if is_cross else f'class="mark" fill="{color}"'
    return f'<path {style} transform="translate({x:.1f} {y:.1f})" d="{shape}">{_title(label) if label else ""}</path>'


_SHAPES = (
    "M-5 0a5 5 0 1 0 10 0a5 5 0 1 0 -10 0z",  # circle
    "M-4.5 -4.5h9v9h-9z",  # square
    "M0 -6L5.5 4.5h-11z",  # triangle
    "M0 -6.5L5.5 0L0 6.5L-5.5 0z",  # diamond
    "M-4.5 -4.5L4.5 4.5M-4.5 4.5L4.5 -4.5",  # cross
    "M0 6L5.5 -4.5h-11z",  # triangle that points down
    "M-6 0h12M0 -6v12",  # plus
    "M0 -7L1.7 -2.2L6.7 -2.2L2.7 0.9L4.1 5.7L0 2.8L-4.1 5.7L-2.7 0.9L-6.7 -2.2L-1.7 -2.2z",  # star
    "M-3 -5.2h6L6 0L3 5.2h-6L-6 0z",  # hexagon
)


def _title(text: str) -> str:
    return f"<title>{escape(text)}</title>"


def _text(x: float, y: float, text: str, anchor: str) -> str:
    return f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}">{escape(text)}</text>'


def _label_width(labels: Sequence[str]) -> int:
    return 18 + int(_CHARACTER_WIDTH * max((len(_shortened(label)) for label in labels), default=0))


def _shortened(text: str) -> str:
    return text if len(text) <= _MAX_LABEL else f"{text[: _MAX_LABEL - 1]}…"


# Scales


def _linear(low: float, high: float, start: float, stop: float) -> _Scale:
    return lambda value: start + (stop - start) * (value - low) / (high - low)


def _logarithmic(high: float, start: float, stop: float) -> _Scale:
    return lambda value: start + (stop - start) * math.log10(max(value, 1)) / math.log10(high)


def _linear_ticks(high: float) -> list[float]:
    """Returns round numbers from 0 to the first one that is not below ``high``.

    >>> _linear_ticks(4.7), _linear_ticks(0)
    ([0.0, 1.0, 2.0, 3.0, 4.0, 5.0], [0.0, 1.0])
    """
    if high <= 0:
        return [0.0, 1.0]
    unit = 10 ** math.floor(math.log10(high / _TICKS))
    step = next(unit * factor for factor in (1, 2, 5, 10) if high <= unit * factor * _TICKS)
    return [round(step * place, 10) for place in range(math.ceil(high / step - 1e-9) + 1)]


def _decades(high: float) -> list[float]:
    """Returns the powers of 10 from 1 to the first one that is not below ``high``.

    >>> _decades(250)
    [1.0, 10.0, 100.0, 1000.0]
    """
    return [10.0**exponent for exponent in range(max(1, math.ceil(math.log10(max(high, 1)))) + 1)]


def _tick_text(tick: float) -> str:
    """Returns a number in a few characters.

    >>> [_tick_text(tick) for tick in (0.5, 2000.0, 10_000_000.0)]
    ['0.5', '2k', '10M']
    """
    unit, suffix = next(((unit, suffix) for unit, suffix in _UNITS if tick >= unit), (1, ""))
    return f"{tick / unit:g}{suffix}"
