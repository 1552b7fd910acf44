"""Measures the installed polytok on texts of this repository, adds the result to a history, and draws a chart.

The figures are those of one machine at one time: the chart shows how they change from build to build. The tables of
docs/benchmarks.md come from `python -m bench.run`, which needs the conformance data.

    python scripts/benchmark_chart.py FOLDER --label NAME

FOLDER/history.jsonl has a line for each run, and FOLDER/benchmarks.svg the chart of all runs. The table of this run is
printed as Markdown.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import polytok

ROOT = Path(__file__).resolve().parents[1]
MIN_SECONDS = 0.3
ROUNDS = 7
COLORS = ("#0b6e6e", "#c2571a", "#5b4bb0", "#2f7d32", "#9c2b5e", "#6b6b6b", "#1f5fa8")
WIDTH, HEIGHT, LEFT, TOP = 900, 420, 60, 30


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--label", required=True, help="the name of this build in the chart")
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    history_file = arguments.folder / "history.jsonl"
    run = {"label": arguments.label, "simd_level": polytok.simd_level(), "figures": measure()}
    with history_file.open("a", encoding="utf-8") as file:
        file.write(json.dumps(run) + "\n")
    history = [json.loads(line) for line in history_file.read_text(encoding="utf-8").splitlines()]
    (arguments.folder / "benchmarks.svg").write_text(chart(history), encoding="utf-8")
    print(
        f"polytok {polytok.__version__}, {arguments.label}, {run['simd_level']}\n\n| operation | million per second |"
    )
    print("| --- | --- |")
    for name, figure in run["figures"].items():
        print(f"| {name} | {figure:.3g} |")


def measure() -> dict[str, float]:
    """Returns for each operation the millions of bytes or calls per second of the fastest round."""
    tokenizer = polytok.load("default")
    english = "".join(path.read_text(encoding="utf-8") for path in sorted((ROOT / "docs").glob("*.md")))[: 1 << 20]
    chinese = "分词器把文本切分成词元,再把词元换成数字。" * 4000
    short = english[1000:1020]
    english_ids, chinese_ids, short_ids = map(tokenizer.encode, (english, chinese, short))
    operations: dict[str, tuple[int, Callable[[], Any]]] = {
        "bytes of Markdown to a list": (len(english.encode()), lambda: tokenizer.encode(english)),
        "bytes of Markdown to an array": (len(english.encode()), lambda: tokenizer.encode_array(english)),
        "bytes of Chinese to an array": (len(chinese.encode()), lambda: tokenizer.encode_array(chinese)),
        "bytes of Markdown from ids": (len(english.encode()), lambda: tokenizer.decode(english_ids)),
        "bytes of Chinese from ids": (len(chinese.encode()), lambda: tokenizer.decode(chinese_ids)),
        "texts of 20 bytes to lists": (1, lambda: tokenizer.encode(short)),
        "texts of 20 bytes from ids": (1, lambda: tokenizer.decode(short_ids)),
        "texts of 20 bytes counted": (1, lambda: tokenizer.count(short)),
    }
    return {name: amount / seconds_per_call(call) / 1e6 for name, (amount, call) in operations.items()}


def seconds_per_call(call: Callable[[], Any]) -> float:
    """Returns the seconds of a call in the fastest of some rounds."""
    start, calls = time.perf_counter(), 0
    while time.perf_counter() - start < MIN_SECONDS:
        call()
        calls += 1
    calls = max(1, calls // ROUNDS)
    seconds = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        for _ in range(calls):
            call()
        seconds.append((time.perf_counter() - start) / calls)
    return min(seconds)


def chart(history: Sequence[dict[str, Any]]) -> str:
    """Returns an SVG with a line for each operation, relative to its first run."""
    names = list(history[-1]["figures"])
    lines = []
    ratios = {name: [run["figures"].get(name, 0) / first_figure(history, name) for run in history] for name in names}
    largest = max(1.25, *(ratio for values in ratios.values() for ratio in values))
    step = (WIDTH - 2 * LEFT) / max(1, len(history) - 1)
    for name, values, color in zip(names, ratios.values(), COLORS * len(names), strict=False):
        points = " ".join(
            f"{LEFT + at * step:.1f},{TOP + HEIGHT * (1 - y / largest):.1f}" for at, y in enumerate(values)
        )
        lines.append(f'<polyline points="{points}" fill="none" stroke="{color}" stroke-width="2"/>')
        y = TOP + HEIGHT + 30 + 18 * names.index(name)
        lines.append(f'<text x="{LEFT}" y="{y}" fill="{color}">{name}: {values[-1]:.2f} × the first run</text>')
    base = TOP + HEIGHT * (1 - 1 / largest)
    lines.append(f'<line x1="{LEFT}" x2="{WIDTH - LEFT}" y1="{base:.1f}" y2="{base:.1f}" stroke="#999"/>')
    height = TOP + HEIGHT + 40 + 18 * len(names)
    namespace = 'xmlns="http://www.w3.org/2000/svg"'
    head = f'<svg {namespace} viewBox="0 0 {WIDTH} {height}" font-family="sans-serif" font-size="13">'
    return "\n".join([head, f'<rect width="{WIDTH}" height="{height}" fill="#fff"/>', *lines, "</svg>\n"])


def first_figure(history: Sequence[dict[str, Any]], name: str) -> float:
    """Returns the first figure of an operation."""
    return next(float(run["figures"][name]) for run in history if name in run["figures"])


if __name__ == "__main__":
    main()
