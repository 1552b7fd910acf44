"""``python -m tests.conversions``: converts each vocabulary to each format; ``--write`` updates docs/generated."""

from __future__ import annotations

import argparse
import multiprocessing
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))  # where pytest finds the modules of the tests, too

from conversions import matrix, page
from reference_specs import DATA

PROCESSES = 2
TEXTS = 3000


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.conversions", description=__doc__)
    parser.add_argument("--write", action="store_true", help="write the table to docs/generated/conversions.md")
    parser.add_argument(
        "--only",
        default="",
        help="convert only vocabularies whose path contains this text; --write then replaces only their rows",
    )
    parser.add_argument(
        "--texts", type=int, default=TEXTS, help="the number of generated texts, and of lines from the corpora"
    )
    options = parser.parse_args()
    if not DATA.is_dir():
        print(f"no test data in {DATA}; set POLYTOK_DATA to the folder of the test data", file=sys.stderr)
        return 2
    todo = [(source, options.texts) for source in matrix.sources() if options.only in source]
    cells: list[matrix.Cell] = []
    with multiprocessing.get_context("spawn").Pool(PROCESSES) as pool:
        for row in pool.imap(matrix.convert_to_all_formats, todo):
            cells += row
            print(row[0].source, *(f"{cell.target}: {cell.verdict_text}" for cell in row), sep="\n  ", flush=True)
    unexplained = [cell for cell in cells if (cell.ids_differ or cell.texts_differ) and not cell.reasons]
    for cell in (*unexplained, *(cell for cell in cells if cell.package_difference)):
        print(
            f"{cell.source} as {cell.target}: {cell.ids_differ} ids, {cell.texts_differ} texts;",
            cell.package_difference,
            file=sys.stderr,
        )
    if options.write:
        (page.update if options.only else page.write)(cells)
    return int(bool(unexplained or [cell for cell in cells if cell.package_difference]))


if __name__ == "__main__":
    sys.exit(main())
