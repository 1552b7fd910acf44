"""Counts the instructions of each part of the engine, and draws them: ``python -m bench.budget.parts``.

callgrind reports the source file of each instruction, also of inlined code. The files of polytok and of Python's `str`
belong to parts of the engine, which the table `PARTS` lists. An instruction of Rust's standard library counts for the
file of polytok that precedes it in the same function. The figures are written to a JSON file, from which the picture in
docs/performance.md is drawn.
"""

from __future__ import annotations

import argparse
import json
import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import TypeAlias

from ..workloads import KB
from .__main__ import installed_package
from .callgrind import parse_dump, run_under_callgrind
from .cells import CELLS
from .child import FIRST_PASS, SECOND_PASS

CELL = "cl100k_base en numpy"
FIGURES_PATH = Path(__file__).with_name("parts.json")
PLOT_PATH = Path(__file__).parents[2] / "docs" / "budget.svg"

REST = "rest"
PARTS = {
    "str to UTF-8": ("polytok-str/", "unicodeobject.c", "polytok-py/src/text", "simdutf8", "polytok-core/src/utf8"),
    "find pieces": ("polytok-pattern/", "polytok-core/src/split/"),
    "keys": ("polytok-core/src/cache/key", "polytok-core/src/hash"),
    "lookup": ("polytok-core/src/cache/",),
    "new pieces": ("polytok-core/src/model/",),
    REST: ("",),
}
"""The parts of the engine, with texts that the paths of their source files contain. The first match decides; `REST`
contains what remains, such as creating Python's objects and copying ids."""

COLOURS = ("#a9c6d8", "#6f9ec2", "#c9c29a", "#8fb3a3", "#e08a95", "#dddddd")

Figures: TypeAlias = Mapping[str, Mapping[str, float]]
"""The instructions for a KB of text, by pass and part."""

_FILE_LINE = re.compile(r"(?:fl|fi|fe|cfi|cfl)=\((\d+)\)(?: (.*))?")
_COST_LINE = re.compile(r"(?:[+-]?\d+|\*) (\d+)")


def main() -> None:
    arguments = create_parser().parse_args()
    if not arguments.draw:
        figures = count_parts(arguments.build or installed_package())
        FIGURES_PATH.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
    draw(json.loads(FIGURES_PATH.read_text(encoding="utf-8")), PLOT_PATH)


def create_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bench.budget.parts", description=__doc__)
    parser.add_argument("--build", metavar="PATH", type=Path, help="a package's folder or an extension module")
    parser.add_argument("--draw", action="store_true", help="draw the figures that were counted before")
    return parser


def count_parts(build: Path) -> Figures:
    """Counts a cell of the budget and returns the instructions of each part for a KB of text."""
    _, dumps = run_under_callgrind("bench.budget.child", [CELL, str(build.resolve())])
    kilobytes = CELLS[CELL].size / KB
    instructions = {parse_dump(dump)[0]: sum_by_part(dump) for dump in dumps}
    return {
        pass_name: {part: round(instructions[pass_name][part] / kilobytes, 1) for part in PARTS}
        for pass_name in (FIRST_PASS, SECOND_PASS)
    }


def sum_by_part(dump: str) -> Counter[str]:
    """Returns the number of instructions of each part in a file that callgrind wrote."""
    names: dict[str, str] = {}
    counts: Counter[str] = Counter()
    part, is_call = REST, False
    for line in dump.splitlines():
        if match := _FILE_LINE.match(line):
            if match[2]:
                names[match[1]] = match[2]
            if not line.startswith("c"):
                part = part_of(names[match[1]]) or (REST if line.startswith("fl=") else part)
        elif line.startswith("calls="):
            is_call = True  # the next line has the instructions of the called function
        elif match := _COST_LINE.match(line):
            counts[part] += 0 if is_call else int(match[1])
            is_call = False
    return counts


def part_of(file: str) -> str | None:
    """Returns the part of a source file; None for the files of Rust's standard library.

    >>> part_of("/a/polytok/crates/polytok-core/src/cache/short.rs"), part_of("/rustc/1/library/core/src/cmp.rs")
    ('lookup', None)
    """
    if "/library/" in file or "/rustc/" in file:
        return None
    return next(part for part, places in PARTS.items() if any(place in file for place in places))


def draw(figures: Figures, path: Path) -> None:
    """Draws a bar for each pass, with a segment for each part. The same figures produce the same bytes."""
    import matplotlib

    matplotlib.use("svg")
    import matplotlib.pyplot as plt

    matplotlib.rcParams.update({"svg.hashsalt": "polytok", "svg.fonttype": "none", "font.size": 9})
    figure, axes = plt.subplots(figsize=(8, 2.3))
    for row, pass_name in enumerate(figures):
        left = 0.0
        for part, colour in zip(PARTS, COLOURS, strict=True):
            width = figures[pass_name][part] / KB
            axes.barh(row, width, left=left, height=0.6, color=colour, label=part if row == 0 else None)
            if width >= 1:
                axes.text(left + width / 2, row, f"{width:.1f}", ha="center", va="center", fontsize=8)
            left += width
        axes.text(left + 0.4, row, f"{left:.1f}", va="center", fontsize=9)
    axes.set_yticks(range(len(figures)), list(figures))
    axes.invert_yaxis()
    axes.set_xlabel("instructions for a byte of English")
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, 1.28), ncols=len(PARTS), frameon=False)
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)


if __name__ == "__main__":
    main()
