"""Draws memory over time as an SVG."""

from __future__ import annotations

from pathlib import Path

Samples = list[tuple[float, int]]


def draw(runs: dict[str, Samples], path: Path) -> None:
    """Draws the memory of each run over time. The same samples produce the same file."""
    import matplotlib

    matplotlib.use("svg")
    import matplotlib.pyplot as plt

    matplotlib.rcParams.update({"svg.hashsalt": "polytok", "svg.fonttype": "none", "font.size": 9})
    figure, axes = plt.subplots(figsize=(8, 3.6))
    for name, samples in runs.items():
        seconds, sizes = zip(*samples, strict=True)
        axes.plot(seconds, [size / 1e6 for size in sizes], linewidth=2 if "polytok" in name else 1, label=name)
    axes.set(xscale="log", yscale="log", xlabel="seconds", ylabel="memory, MB")
    axes.grid(alpha=0.3)
    axes.legend(fontsize=7, frameon=False)
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)
