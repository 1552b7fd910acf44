"""Compares engines in one process, in turns of a few documents; ids are checked before anything is timed.

By default, polytok is compared with the other engines of each vocabulary. With --builds, the last of two or three
builds of polytok is compared with the others. With --files, polytok's speed with a tokenizer.json or GGUF file is
compared with polytok's speed with another file of the same vocabulary. With --load, the time and memory of loading are
compared in separate processes; each build must be the folder of a package.
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from itertools import count, islice
from pathlib import Path
from statistics import median
from typing import Any

from .. import builds, simd
from ..cases import DATA, TEXTS, Text
from ..operations import OPERATIONS
from ..workloads import KB, MB
from .entrants import Match, match_builds, match_engines, match_files, select_vocabularies
from .loads import TABLE_HEAD as LOAD_TABLE_HEAD
from .loads import compare_builds
from .race import Cell, IdChecker, middle_half, prepare_cell, race

MAX_RETRIES = 2
"""The number of times that a cell below the gate is timed again."""

DEFAULT_OPERATIONS = ("numpy", "list", "count", "offsets")
KNOWN_OPERATIONS = [name for name, operation in OPERATIONS.items() if operation.threads == 1 and not operation.is_batch]
TABLE_HEAD = ("vocabulary", "text", "operation", "pass", "MB/s", "beside", "MB/s", "is × as fast", "middle half")


def main() -> None:
    arguments = create_parser().parse_args()
    if not DATA.is_dir():
        raise SystemExit("the benchmark data is missing: set POLYTOK_DATA to the folder that holds corpus/ and vocab/")
    if arguments.load:
        sys.exit(compare_loads(arguments))
    matches = select_matches(arguments)
    print(describe_machine(matches))
    print_rows(TABLE_HEAD, ["---"] * len(TABLE_HEAD))
    cells = []
    for cell in time_matches(matches, arguments):
        cells.append(cell)
        print_rows(*cell_rows(cell))
    write_json(arguments.json, {"machine": describe_machine(matches), "cells": [as_json(cell) for cell in cells]})
    sys.exit(print_verdict([(cell.title, cell.lowest_ratio()) for cell in cells], arguments.gate))


def print_rows(*lines: Sequence[str]) -> None:
    """Prints rows of a table immediately."""
    for line in lines:
        print(f"| {' | '.join(line)} |", flush=True)


def write_json(file: str | None, results: dict[str, Any]) -> None:
    if file is not None:
        Path(file).write_text(json.dumps(results, indent=1), encoding="utf-8")


def create_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bench.contest", description=__doc__)
    parser.add_argument("--builds", nargs="+", metavar="NAME=PATH", help="a package's folder or an extension module")
    parser.add_argument("--load", action="store_true", help="compare the time and memory of loading of two builds")
    parser.add_argument("--files", action="store_true", help="compare files of the same vocabulary")
    for name, known_names in (("text", [text.name for text in TEXTS]), ("operation", KNOWN_OPERATIONS)):
        parser.add_argument(
            f"--{name}",
            nargs="+",
            metavar="NAME",
            choices=known_names,
            help=f"by default all of {', '.join(known_names)}",
        )
    parser.add_argument("--vocabulary", nargs="+", metavar="NAME", default=[], help="by default all")
    parser.add_argument("--engine", nargs="+", metavar="NAME", default=[], help="by default all of the vocabulary")
    parser.add_argument("--document", type=int, metavar="BYTES", default=4 * KB)
    parser.add_argument("--megabytes", type=float, default=3.0, help="megabytes of text to time for each cell")
    parser.add_argument("--repeats", type=int, default=1, help="the number of times to load and time each cell")
    parser.add_argument(
        "--gate", type=float, metavar="RATIO", help="fail if the ratio of a cell is lower, after timing the cell again"
    )
    parser.add_argument("--json", metavar="FILE", help="also write the results to FILE")
    return parser


def select_matches(arguments: argparse.Namespace) -> list[Match]:
    """Returns all matches, in the order of the vocabularies."""
    vocabularies = select_vocabularies(arguments.vocabulary)
    if arguments.builds:
        engines = [builds.create_engine(*builds.parse_build(argument)) for argument in arguments.builds]
        return [match for vocabulary in vocabularies for match in match_builds(engines, vocabulary)]
    if arguments.files:
        return [match for vocabulary in vocabularies for match in match_files(vocabulary)]
    return [match for vocabulary in vocabularies for match in match_engines(vocabulary, arguments.engine)]


def describe_machine(matches: list[Match]) -> str:
    """Describes the processor, and the widest vector instructions that each engine can use on this processor."""
    engines = {entrant.engine.name: entrant.engine for match in matches for entrant in match}
    instruction_sets = ", ".join(f"{name} {simd.widest_instructions(engine.simd)}" for name, engine in engines.items())
    return (
        f"{simd.processor()}, Python {platform.python_version()}. SIMD code for this processor: {instruction_sets}.\n"
    )


def time_matches(matches: list[Match], arguments: argparse.Namespace) -> Iterator[Cell]:
    """Yields the timed cells of all matches."""
    texts = [text for text in TEXTS if text.name in (arguments.text or [text.name])]
    for match in matches:
        id_checker = IdChecker()
        for text in texts:
            for operation in arguments.operation or DEFAULT_OPERATIONS:
                if cell := measure_cell(match, text, operation, id_checker, arguments):
                    yield cell
        id_checker.finish()


def measure_cell(
    match: Match, text: Text, operation: str, id_checker: IdChecker, arguments: argparse.Namespace
) -> Cell | None:
    """Times a cell, up to `MAX_RETRIES` times more if the cell fails the gate. Returns None for fewer than two
    entrants.

    The median is over the rounds of all attempts, so a new attempt makes the median more reliable.
    """
    test_bytes = int(arguments.megabytes * MB)
    cell, warm_up, turns = prepare_cell(match, text, operation, id_checker, arguments.document, test_bytes)
    if len(cell.entries) < 2:
        return None
    engine_orders = count()
    for _ in range(1 + MAX_RETRIES):
        for engine_order in islice(engine_orders, arguments.repeats):
            race(cell.entries, operation, warm_up, turns, engine_order)
        if arguments.gate is None or not 0 < cell.lowest_ratio() < arguments.gate:
            break
    return cell


def cell_rows(cell: Cell) -> Iterator[tuple[str, ...]]:
    """Yields a row for each entrant without a result, with the reason, then a row for each ratio of the cell."""
    titles = cell.vocabulary.title, cell.text.title, OPERATIONS[cell.operation].title
    last_result = cell.entries[-1]
    for entry in cell.entries:
        if entry.failure_reason is not None:
            yield (*titles, "", "", entry.entrant.label, entry.failure_reason, "", "")
    for pass_name, other_result, ratio in cell.median_ratios():
        speeds = [f"{median(entry.speeds(pass_name)):.1f}" for entry in (last_result, other_result)]
        low_ratio, high_ratio = middle_half(cell.ratios(other_result, pass_name))
        yield (
            *titles,
            pass_name,
            speeds[0],
            other_result.entrant.label,
            speeds[1],
            f"{ratio:.3f}",
            f"{low_ratio:.3f}–{high_ratio:.3f}",
        )


def as_json(cell: Cell) -> dict[str, Any]:
    """Returns a cell as a JSON value, with median speeds, ratios and reasons."""
    return {
        "vocabulary": cell.vocabulary.name,
        "text": cell.text.name,
        "operation": cell.operation,
        "measured": cell.entries[-1].entrant.label,
        "void": {
            entry.entrant.label: entry.failure_reason for entry in cell.entries if entry.failure_reason is not None
        },
        "ratios": [
            {
                "pass": pass_name,
                "beside": other_result.entrant.label,
                "MB/s": [median(entry.speeds(pass_name)) for entry in (cell.entries[-1], other_result)],
                "ratio": ratio,
                "rounds": len(other_result.speeds(pass_name)),
            }
            for pass_name, other_result, ratio in cell.median_ratios()
        ],
    }


def compare_loads(arguments: argparse.Namespace) -> int:
    """Compares the time and memory of loading and returns the exit code."""
    named_builds = [builds.parse_build(argument) for argument in arguments.builds or []]
    if len(named_builds) < 2:
        raise SystemExit("--load needs --builds with two or three builds")
    print_rows(LOAD_TABLE_HEAD, ["---"] * len(LOAD_TABLE_HEAD))
    comparisons = []
    for vocabulary in select_vocabularies(arguments.vocabulary):
        for load in compare_builds(vocabulary, named_builds):
            comparisons.append(load)
            print_rows(load.row())
    write_json(arguments.json, {"loads": [asdict(load) | {"vocabulary": load.vocabulary.name} for load in comparisons]})
    return print_verdict([(load.vocabulary.name, min(load.ratios)) for load in comparisons], arguments.gate)


def print_verdict(cells: list[tuple[str, float]], gate: float | None) -> int:
    """Prints a line for each cell with a ratio below the gate, and returns the exit code."""
    if gate is None:
        return 0
    slow_cells = [cell for cell in cells if cell[1] < gate]
    for title, ratio in slow_cells:
        print(f"below {gate:g}: {title}: {ratio:.3f}")
    print(f"{len(cells) - len(slow_cells)} of {len(cells)} cells reach {gate:g}.")
    return 1 if slow_cells or not cells else 0


if __name__ == "__main__":
    main()
