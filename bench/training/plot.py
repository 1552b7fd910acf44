"""Draws how time and memory of training grow with the text, as an SVG."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

PlotPoint = tuple[str, str, int, float, int]


def draw(points: Iterable[PlotPoint], path: Path) -> None:
    """Draws points; a point has kind, engine, megabytes, processor seconds and peak bytes. The same points produce the
    same file.
    """
    import matplotlib

    matplotlib.use("svg")
    import matplotlib.pyplot as plt

    matplotlib.rcParams.update({"svg.hashsalt": "polytok", "svg.fonttype": "none", "font.size": 9})
    lines: dict[str, list[tuple[int, float, float]]] = {}
    for kind, engine, megabytes, seconds, peak in points:
        lines.setdefault(f"{kind}, {engine}", []).append((megabytes, seconds, peak / 1e6))
    figure, panels = plt.subplots(1, 2, figsize=(9, 4))
    for name, curve_points in lines.items():
        sizes, seconds_by_size, peaks = zip(*sorted(curve_points), strict=True)
        for axes, values in zip(panels, (seconds_by_size, peaks), strict=True):
            axes.plot(sizes, values, marker="o", linewidth=2 if "polytok" in name else 1, label=name)
    for axes, title in zip(panels, ("processor's seconds", "peak memory, MB"), strict=True):
        axes.set(xscale="log", yscale="log", xlabel="MB of text", title=title)
        axes.grid(alpha=0.3)
    panels[0].legend(fontsize=7, frameon=False)
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)
