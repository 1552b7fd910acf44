"""Runs all benchmarks (`python -m bench.run`), or with `--quick` a selection that takes five minutes."""

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

TABLES_SECTION = (ROOT / "docs" / "generated" / "benchmarks.md", "figures")
SUMMARY_SECTIONS = ((ROOT / "README.md", "speed"), (ROOT / "docs" / "benchmarks.md", "speed"))
"""The documents that are updated, each with the name of its markers."""

PLOT_PATH = ROOT / "docs" / "benchmarks.svg"


def main() -> None:
    arguments = create_parser().parse_args()
    if not DATA.is_dir():
        raise SystemExit("the benchmark data is missing: set POLYTOK_DATA to the folder that holds corpus/ and vocab/")
    if arguments.write:
        for document, marker in (TABLES_SECTION, *SUMMARY_SECTIONS):
            markdown.split_around_section(
                document, marker
            )  # exits now, not after the measurements, if a marker is missing
    selection = Selection(arguments.quick, arguments.vocabulary, arguments.text, arguments.workload, arguments.shared)
    results = run(selection)
    tables_text, summary_text = report.full_report(results, selection), report.summary_table(results)
    print(
        tables_text,
        summary_text,
        "\n".join(report.describe_slower_cases(results)) or "polytok is ahead everywhere.",
        sep="\n\n",
    )
    if arguments.write:
        markdown.replace_section(*TABLES_SECTION, tables_text)
        for document, marker in SUMMARY_SECTIONS:
            markdown.replace_section(document, marker, summary_text)
        plot.draw(results, PLOT_PATH)


def create_parser() -> argparse.ArgumentParser:
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
    """Returns all results in the order of the vocabularies. The outputs of a case are checked before the case is
    timed."""
    results: list[Result] = []
    for vocabulary, cases in groupby(selection.cases, key=lambda case: case.vocabulary):
        checkers_by_name = checkers(vocabulary)
        for case in cases:
            print(case.title, file=sys.stderr, flush=True)
            results += measure(case, selection.run_size(case.workload), checkers_by_name)
        for checker in checkers_by_name.values():
            checker.finish()
    return Results(results)


if __name__ == "__main__":
    main()
