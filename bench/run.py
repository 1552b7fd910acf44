"""Runs the benchmarks: `python -m bench.run`, or with `--quick` a selection in two minutes."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from . import report
from .cases import DATA, FULL, QUICK, selected
from .measure import Result, measure

ROOT = Path(__file__).parents[1]

PLACES = ((ROOT / "docs" / "benchmarks.md", "figures"), (ROOT / "README.md", "speed"))
"""Where all tables go, and where the summary goes."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="one vocabulary per family, less text")
    parser.add_argument(
        "--vocabulary", action="append", default=[], metavar="NAME", help="only this one (may be repeated)"
    )
    parser.add_argument("--text", action="append", default=[], metavar="NAME", help="only this kind (may be repeated)")
    parser.add_argument("--write", action="store_true", help="put the tables into docs/benchmarks.md and README.md")
    arguments = parser.parse_args()
    if not DATA.is_dir():
        raise SystemExit("there is no benchmark data: set POLYTOK_DATA to the folder that holds corpus/ and vocab/")
    if arguments.write:
        for document, marker in PLACES:
            report.around(document, marker)  # fails before the work, not after it
    size = QUICK if arguments.quick else FULL
    results: list[Result] = []
    for case in selected(arguments.quick, arguments.vocabulary, arguments.text):
        print(f"{case.vocabulary.title}, {case.text.title}", file=sys.stderr, flush=True)
        results += measure(case, size)
    tables = (report.full(results, size), report.summary(results))
    behind = report.behind(results) or ["polytok's first pass is ahead of every engine in every case."]
    print(*tables, "\n".join(behind), sep="\n\n")
    if arguments.write:
        for (document, marker), text in zip(PLACES, tables, strict=True):
            report.put(document, marker, text)


if __name__ == "__main__":
    main()
