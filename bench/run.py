"""Runs the benchmarks with `python -m bench.run`; with `--quick`, a selection that takes five minutes."""

from __future__ import annotations

import argparse
import sys
from itertools import groupby
from pathlib import Path

from . import markdown, plot, report
from .cases import DATA
from .measure import Result, checkers, measure
from .results import Results
from .workloads import Selection

ROOT = Path(__file__).parents[1]

TABLES = (ROOT / "docs" / "generated" / "benchmarks.md", "figures")
SUMMARIES = ((ROOT / "README.md", "speed"), (ROOT / "docs" / "benchmarks.md", "speed"))
"""Documents and the markers in them."""

PLOT = ROOT / "docs" / "benchmarks.svg"


def main() -> None:
    arguments = parser().parse_args()
    if not DATA.is_dir():
        raise SystemExit("the benchmark data is missing: set POLYTOK_DATA to the folder that holds corpus/ and vocab/")
    if arguments.write:
        for document, marker in (TABLES, *SUMMARIES):
            markdown.split_around_section(document, marker)  # fails before the measurements
    selection = Selection(arguments.quick, arguments.vocabulary, arguments.text, arguments.workload, arguments.shared)
    results = run(selection)
    tables, summary = report.full_report(results, selection), report.summary(results)
    print(tables, summary, "\n".join(report.slower_cases(results)) or "polytok is ahead everywhere.", sep="\n\n")
    if arguments.write:
        markdown.replace_section(*TABLES, tables)
        for document, marker in SUMMARIES:
            markdown.replace_section(document, marker, summary)
        plot.draw(results, PLOT)


def parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bench.run", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="one vocabulary per family, less text")
    for name in ("vocabulary", "text", "workload"):
        parser.add_argument(
            f"--{name}", action="append", default=[], metavar="NAME", help=f"only this {name} (can be repeated)"
        )
    parser.add_argument(
        "--shared", action="store_true", help="measure processor time, because other programs run on the machine"
    )
    parser.add_argument("--write", action="store_true", help="update the tables of docs/ and of the README")
    return parser


def run(selection: Selection) -> Results:
    """Returns all results in the order of the vocabularies. The outputs of each case are checked before it is timed."""
    results: list[Result] = []
    for vocabulary, cases in groupby(selection.cases, key=lambda case: case.vocabulary):
        checkers_by_name = checkers(vocabulary)
        for case in cases:
            print(case.title, file=sys.stderr, flush=True)
            results += measure(case, selection.amount(case.workload), checkers_by_name)
        for checker in checkers_by_name.values():
            checker.finish()
    return Results(results)


if __name__ == "__main__":
    main()
