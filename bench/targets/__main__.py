"""Measures all speed targets, and prints a table with each figure, its limit, and the memory in use.

By default, polytok runs at its fastest SIMD level; --simd measures the levels that it names, one after another. At
"avx2" polytok must reach 0.85 of the limits. --write also writes the tables to docs/generated/benchmarks.md.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import polytok

from .. import markdown, simd
from ..cases import DATA, OWN_ENGINE_NAME, TEXTS, Text, Vocabulary
from ..engines.polytok import SIMD_LEVEL_VARIABLE
from .figures import Figure, Races
from .memory import Memory, measure_in_process
from .table import ALL_VOCABULARIES, LIMIT_FACTORS, TARGETS, Target

SECTION = (Path(__file__).parents[2] / "docs" / "generated" / "benchmarks.md", "targets")
TABLE_HEAD = ("target", "vocabulary", *(text.title for text in TEXTS), "met", "memory, MB", "cache, MB")


@dataclass(frozen=True, slots=True)
class Row:
    """The figures of a target for a vocabulary, with the memory of polytok and of the compared engine."""

    target: Target
    vocabulary: Vocabulary
    figures: Sequence[tuple[Text, Figure]]
    memory: Memory | None = None
    peer_memory: Memory | None = None


def main() -> None:
    arguments = create_parser().parse_args()
    if not DATA.is_dir():
        raise SystemExit("the benchmark data is missing: set POLYTOK_DATA to the folder that holds corpus/ and vocab/")
    if arguments.write:
        markdown.split_around_section(*SECTION)  # exits now, not after the measurements, if a marker is missing
    reports = []
    for level in arguments.simd:
        reports.append(level_report(level, measure_level(level, arguments)))
        print(reports[-1], flush=True)
    if arguments.write:
        markdown.replace_section(*SECTION, "\n\n".join(reports))


def create_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bench.targets", description=__doc__)
    levels = polytok.simd_levels()
    parser.add_argument("--simd", nargs="+", choices=levels, default=levels[:1], help="the SIMD levels to measure")
    parser.add_argument("--vocabulary", nargs="+", metavar="NAME", default=[], help="by default all")
    parser.add_argument("--target", metavar="TEXT", default="", help="only targets whose title contains TEXT")
    parser.add_argument("--megabytes", type=float, default=0.5, help="megabytes of text to time for each figure")
    parser.add_argument("--write", action="store_true", help="update docs/generated/benchmarks.md")
    return parser


def measure_level(level: str, arguments: argparse.Namespace) -> list[Row]:
    """Measures all figures at a SIMD level; returns the rows in the order of the targets."""
    os.environ[SIMD_LEVEL_VARIABLE] = level if level != polytok.simd_levels()[0] else "auto"
    rows: dict[Target, list[Row]] = {target: [] for target in TARGETS if arguments.target in target.title}
    for vocabulary in ALL_VOCABULARIES:
        targets = [target for target in rows if vocabulary.name in (row.name for row in target.vocabularies)]
        if targets and (not arguments.vocabulary or vocabulary.name in arguments.vocabulary):
            for row in measure_vocabulary(vocabulary, targets, arguments.megabytes):
                rows[row.target].append(row)
    return [row for target_rows in rows.values() for row in target_rows]


def measure_vocabulary(vocabulary: Vocabulary, targets: Sequence[Target], megabytes: float) -> Iterator[Row]:
    """Yields the rows of a vocabulary, and prints progress to standard error."""
    races, start = Races(megabytes), time.monotonic()
    memories = {peer: measure_in_process(peer, vocabulary) for peer in memory_engines(targets)}
    for target in targets:
        row_vocabulary = next(row for row in target.vocabularies if row.name == vocabulary.name)
        texts = [text for text, limit in zip(TEXTS, target.limits, strict=True) if limit is not None]
        figures = [(text, target.measure(races, row_vocabulary, text)) for text in texts]
        values = ", ".join(f"{figure.value or 0:.2f} {figure.remark}" for _, figure in figures)
        print(f"{time.monotonic() - start:5.0f} s {vocabulary.name}: {target.title}: {values}", file=sys.stderr)
        yield Row(target, row_vocabulary, figures, memories[OWN_ENGINE_NAME], memories.get(target.peer or ""))
    races.finish()


def memory_engines(targets: Sequence[Target]) -> list[str]:
    """Returns polytok and the engines with which the targets compare its memory."""
    return [OWN_ENGINE_NAME, *dict.fromkeys(target.peer for target in targets if target.peer is not None)]


def level_report(level: str, rows: Sequence[Row]) -> str:
    """Returns the table of a SIMD level with a heading and the number of figures that reach their limits."""
    verdicts = [verdict for row in rows for verdict in row_verdicts(row, level)]
    factor = LIMIT_FACTORS.get(level)
    lines = [f"### SIMD level {level}", f"{simd.processor()}. {verdict_line(verdicts, factor)}"]
    return "\n\n".join([*lines, markdown.table(TABLE_HEAD, [cells(row, level) for row in rows])])


def verdict_line(verdicts: Sequence[bool], factor: float | None) -> str:
    if factor is None:
        return "This level has no limits."
    limits = "" if factor == 1 else f" The limits are {factor:g} of those of AVX-512."
    return f"{sum(verdicts)} of {len(verdicts)} figures reach their limits; the others are **bold**.{limits}"


def row_verdicts(row: Row, level: str) -> list[bool]:
    """Returns for each figure with a value and a limit whether the figure reaches the limit."""
    verdicts = [row.target.is_met(figure, text, level) for text, figure in row.figures]
    return [verdict for verdict in verdicts if verdict is not None]


def cells(row: Row, level: str) -> list[str]:
    """Returns the cells of a row of the table."""
    figures = dict(row.figures)
    verdicts = row_verdicts(row, level)
    own, peer = row.memory, row.peer_memory
    memory = " / ".join(f"{memory.total:.0f}" for memory in (own, peer) if memory is not None)
    return [
        row.target.title,
        row.vocabulary.title,
        *(figure_cell(row.target, text, figures[text], level) if text in figures else "" for text in TEXTS),
        f"{sum(verdicts)} of {len(verdicts)}" if verdicts else "",
        memory,
        f"{own.cache:.1f}" if own and own.cache is not None else "",
    ]


def figure_cell(target: Target, text: Text, figure: Figure, level: str) -> str:
    """Returns a figure with its limit, such as ``**1.32** (≥ 1.5)``; missed limits are bold."""
    if figure.value is None:
        return figure.remark
    limit = target.limit(text, level)
    value = f"**{figure.value:.2f}**" if target.is_met(figure, text, level) is False else f"{figure.value:.2f}"
    relation = "" if limit is None else f" ({'≤' if target.is_maximum else '≥'} {limit:.3g})"
    return f"{value}{relation} {figure.remark}".rstrip()


if __name__ == "__main__":
    main()
