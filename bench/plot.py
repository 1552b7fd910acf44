"""Draws the plot of docs/benchmarks.md: the first pass of every engine, with a panel for each vocabulary."""

from __future__ import annotations

from pathlib import Path
from statistics import median

from .cases import OURS, TEXTS, Vocabulary
from .measure import Result
from .results import OWN_ENGINES, Results

OWN_COLOURS = {OURS: "#d1495b"}
PEER_COLOURS = ("#30638e", "#7aa6c2", "#8d99ae", "#6b9080", "#b8b08d", "#9a8c98", "#c9ada7", "#4a4e69", "#cccccc")


def draw(results: Results, path: Path) -> None:
    """Writes the plot as SVG if there are results of documents. The same results produce the same bytes."""
    import matplotlib

    matplotlib.use("svg")
    import matplotlib.pyplot as plt
    from matplotlib.patches import Patch

    matplotlib.rcParams.update({"svg.hashsalt": "polytok", "svg.fonttype": "none", "font.size": 9})
    document_results = results.select("documents")
    vocabularies = list(dict.fromkeys(result.vocabulary for result in document_results))
    if not vocabularies:
        return
    height = 2.1 * len(vocabularies)
    figure, panels = plt.subplots(len(vocabularies), 1, figsize=(8, height), sharey=True, squeeze=False)
    colours = _colours(document_results)
    for (axes,), vocabulary in zip(panels, vocabularies, strict=True):
        _panel(axes, results, vocabulary, colours)
    handles = [Patch(color=colour, label=name) for name, colour in colours.items()]
    figure.legend(handles=handles, loc="upper center", ncols=5, frameon=False)
    figure.tight_layout(rect=(0, 0, 1, 1 - 0.6 / height))
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)


def _colours(document_results: list[Result]) -> dict[str, str]:
    """Returns a colour for each engine, with polytok first."""
    peers = sorted({result.engine for result in document_results} - OWN_ENGINES)
    return OWN_COLOURS | {name: PEER_COLOURS[place % len(PEER_COLOURS)] for place, name in enumerate(peers)}


def _panel(axes: object, results: Results, vocabulary: Vocabulary, colours: dict[str, str]) -> None:
    """Draws the bars of all engines, with a group for each kind of text."""
    from matplotlib.axes import Axes

    assert isinstance(axes, Axes)
    engines = [name for name in colours if results.select("documents", vocabulary.name, engine=name)]
    width = 0.8 / max(1, len(engines))
    for place, name in enumerate(engines):
        speeds = [_speed(results, vocabulary.name, text.name, name) for text in TEXTS]
        places = [group + place * width for group in range(len(TEXTS))]
        bars = axes.bar(places, [max(1.0, speed) for speed in speeds], width * 0.92, color=colours[name])
        axes.bar_label(bars, [f"{speed:.0f}" if speed else "≠" for speed in speeds], fontsize=7)
    axes.set_yscale("log")
    axes.set_ylim(1, 1000)
    axes.set_yticks([1, 10, 100, 1000], ["1", "10", "100", "1000"])
    axes.minorticks_off()
    axes.set_ylabel("MB/s")
    axes.set_title(f"{vocabulary.title} ({vocabulary.family})", loc="left", fontsize=10)
    axes.set_xticks([group + 0.4 - width / 2 for group in range(len(TEXTS))], [text.title for text in TEXTS])
    axes.spines[["top", "right"]].set_visible(False)


def _speed(results: Results, vocabulary: str, text: str, engine: str) -> float:
    """Returns the speed of the first pass with the engine's fastest output; 0 if its ids differ or it has no result."""
    matching_results = results.select("documents", vocabulary, text, engine=engine)
    return max((median(result.first) for result in matching_results if result.void is None), default=0.0)
