"""The plots of `Stats` as data, which `svg` draws."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from .data import Stats
from .tables import group_measures, script_shares

_PLOTTED = ("bytes_per_token", "characters_per_token", "tokens_per_word", "parity", "unknown", "fallback", "used")
_MAX_LENGTH = 24  # longer tokens are too rare to be seen


class DotPlot(NamedTuple):
    """A value of each row for each series, as dots on a common scale."""

    name: str
    title: str
    about: str
    axis: str
    rows: tuple[str, ...]
    series: tuple[tuple[str, tuple[float | None, ...]], ...]


class LinePlot(NamedTuple):
    """Points of each series, joined by lines."""

    name: str
    title: str
    about: str
    axes: tuple[str, str]
    is_logarithmic: bool
    series: tuple[tuple[str, tuple[tuple[float, float], ...]], ...]


def plots_of(stats: Stats) -> list[DotPlot | LinePlot]:
    """Returns all plots, those about texts only if there are any. The title of a plot is that of its table."""
    plots: list[DotPlot | LinePlot] = [*(_measure_plots(stats) if stats.groups else ())]
    plots.append(_scripts_plot(stats))
    plots.append(_lengths_plot(stats, uses_tokens=False))
    if stats.groups:
        plots += [_lengths_plot(stats, uses_tokens=True), _zipf_plot(stats)]
    return plots


def _measure_plots(stats: Stats) -> Iterator[DotPlot]:
    rows = tuple(group.name for group in stats.groups)
    for measure in group_measures(stats):
        if measure.name in _PLOTTED:
            series = tuple((model.name, tuple(map(measure.value, model.groups))) for model in stats.models)
            if any(value for _, values in series for value in values):
                yield DotPlot(measure.name, measure.title, measure.about, measure.title.lower(), rows, series)


def _scripts_plot(stats: Stats) -> DotPlot:
    names, shares = script_shares(stats, lambda model: model.scripts)
    series = tuple((model.name, tuple(row[place] for row in shares)) for place, model in enumerate(stats.models))
    return DotPlot("scripts", "Entries by script, %", "", "% of the entries", tuple(names), series)


def _lengths_plot(stats: Stats, *, uses_tokens: bool) -> LinePlot:
    series = []
    for model in stats.models:
        lengths = (model.token_lengths if uses_tokens else model.lengths)[: _MAX_LENGTH + 1]
        total = sum((model.token_lengths if uses_tokens else model.lengths)[1:])
        points = ((float(length), 100 * count / total) for length, count in enumerate(lengths) if length and total)
        series.append((model.name, tuple(points)))
    noun = "tokens" if uses_tokens else "entries"
    name, title = f"lengths_of_{noun}", f"Lengths of {noun}, in bytes"
    return LinePlot(name, title, f"Up to {_MAX_LENGTH} bytes.", ("bytes", f"% of the {noun}"), False, tuple(series))


def _zipf_plot(stats: Stats) -> LinePlot:
    series = tuple(
        (model.name, tuple((float(rank), float(count)) for rank, count in model.zipf)) for model in stats.models
    )
    about = "By Zipf's law, the points of words are near a straight line. A long tail at the bottom is hardly trained."
    return LinePlot("zipf", "Uses of an entry by its rank", about, ("rank", "uses"), True, series)
