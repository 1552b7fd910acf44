"""Draws the plot of docs/benchmarks.md: the first pass of every engine, with a panel for each vocabulary."""

from __future__ import annotations

from pathlib import Path
from statistics import median

from .cases import OWN_ENGINE_NAME, TEXTS, Vocabulary
from .measure import Result
from .results import OWN_ENGINES, Results

OWN_COLOURS = {OWN_ENGINE_NAME: "#d1495b"}
PEER_COLOURS = ("#30638e", "#7aa6c2", "#8d99ae", "#6b9080", "#b8b08d", "#9a8c98", "#c9ada7", "#4a4e69", "#cccccc")


def draw(results: Results, path: Path) -> None:
    """Writes the plot as SVG, unless no documents were measured. The same results produce the same bytes."""
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
    colours = _engine_colours(document_results)
    for (axes,), vocabulary in zip(panels, vocabularies, strict=True):
        _draw_panel(axes, results, vocabulary, colours)
    legend_handles = [Patch(color=colour, label=name) for name, colour in colours.items()]
    figure.legend(handles=legend_handles, loc="upper center", ncols=5, frameon=False)
    figure.tight_layout(rect=(0, 0, 1, 1 - 0.6 / height))
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)


def _engine_colours(document_results: list[Result]) -> dict[str, str]:
    """Returns a colour for each engine, with polytok first."""
    peers = sorted({result.engine for result in document_results} - OWN_ENGINES)
    return OWN_COLOURS | {name: PEER_COLOURS[index % len(PEER_COLOURS)] for index, name in enumerate(peers)}


def _draw_panel(axes: object, results: Results, vocabulary: Vocabulary, colours: dict[str, str]) -> None:
    """Draws the bars of all engines, with a group for each kind of text."""
    from matplotlib.axes import Axes

    assert isinstance(axes, Axes)
    engines = [name for name in colours if results.select("documents", vocabulary.name, engine=name)]
    width = 0.8 / max(1, len(engines))
    for index, name in enumerate(engines):
        speeds = [_fastest_speed(results, vocabulary.name, text.name, name) for text in TEXTS]
        bar_positions = [group + index * width for group in range(len(TEXTS))]
        bars = axes.bar(bar_positions, [max(1.0, speed) for speed in speeds], width * 0.92, color=colours[name])
        axes.bar_label(bars, [f"{speed:.0f}" if speed else "≠" for speed in speeds], fontsize=7)
    axes.set_yscale("log")
    axes.set_ylim(1, 1000)
    axes.set_yticks([1, 10, 100, 1000], ["1", "10", "100", "1000"])
    axes.minorticks_off()
    axes.set_ylabel("MB/s")
    axes.set_title(f"{vocabulary.title} ({vocabulary.family})", loc="left", fontsize=10)
    axes.set_xticks([group + 0.4 - width / 2 for group in range(len(TEXTS))], [text.title for text in TEXTS])
    axes.spines[["top", "right"]].set_visible(False)


def _fastest_speed(results: Results, vocabulary: str, text: str, engine: str) -> float:
    """Returns the engine's highest speed in the first pass over all kinds of output, or 0 if the engine has no
    result."""
    matching_results = results.select("documents", vocabulary, text, engine=engine)
    return max(
        (median(result.first_pass_speeds) for result in matching_results if result.failure_reason is None), default=0.0
    )
