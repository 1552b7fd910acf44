"""``python -m parity_training``: runs every comparison and prints one table."""

from __future__ import annotations

import argparse
import importlib
import pkgutil
import sys
import time
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))  # where pytest finds the modules of the tests, too

import parity_training
from parity_training.cases import Case, Row, rows_of, table

DOC = Path(__file__).parents[2] / "docs" / "training.md"
BEGIN, END = "<!-- parity: begin -->\n", "<!-- parity: end -->"


def all_cases(only: str) -> Iterator[Case]:
    names = [module.name for module in pkgutil.iter_modules(parity_training.__path__)]
    for name in sorted(set(names) - {"__main__", "cases"}):
        if only in name:
            yield from importlib.import_module(f"parity_training.{name}").cases()


def write(rows: dict[tuple[str, str], Row]) -> None:
    """Writes the rows into the document; rows of other parts remain."""
    before, _, after_begin = DOC.read_text(encoding="utf-8").partition(BEGIN)
    old_table, end, after = after_begin.partition(END)
    if not end:
        raise SystemExit(f"{DOC.name} has no section between {BEGIN.strip()} and {END}")
    merged = {(row.reference, row.what): row for row in rows_of(old_table)} | rows
    DOC.write_text(f"{before}{BEGIN}\n{table(merged.values())}\n\n{END}{after}", encoding="utf-8")


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m parity_training", description=__doc__)
    parser.add_argument("--only", default="", help="run only modules whose name contains this text")
    parser.add_argument("--write", action="store_true", help="write the table into docs/training.md")
    options = parser.parse_args()
    start_time = time.monotonic()
    rows: dict[tuple[str, str], Row] = {}
    for number, case in enumerate(all_cases(options.only), 1):
        row = rows.setdefault((case.reference, case.what), Row(case.reference, case.what))
        difference = case.difference()
        row.cases += 1
        row.equal += difference is None
        print(f"\r{number} cases, {case.what}", end="", file=sys.stderr, flush=True)
        if difference is not None:
            print(f"\n{case.reference}, {case.what}, {case.name}: {difference}", file=sys.stderr)
    print(f"\n{table(rows.values())}\nin {(time.monotonic() - start_time) / 60:.1f} minutes")
    if options.write:
        write(rows)
    return int(any(row.cases != row.equal for row in rows.values()))


if __name__ == "__main__":
    sys.exit(main())
