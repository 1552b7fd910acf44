"""Traces random texts by all vocabularies of the conformance data: the ids of a trace are those of `encode`.

``python tests/parity/traces.py --texts 100000`` divides the texts among the vocabularies: random texts with entries and
special tokens of the vocabulary, texts that are not UTF-8, and lines of the corpus, with random options. Prints a row
for each vocabulary, and the differences; the exit code is 1 if there are any.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import polytok
from incremental_samples import real_files
from trace_samples import compare

_BATCHES_PER_TEXT = 1.5
"""For each random text, `compare` adds a quarter of a text that is not UTF-8, and a quarter of a line."""


def main() -> int:
    """Prints the table; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--texts", type=int, default=100_000, help="the number of texts over all vocabularies")
    parser.add_argument("--only", default="", help="a part of the paths of the vocabularies")
    parser.add_argument("--seed", type=int, default=20)
    arguments = parser.parse_args()
    files = [path for path in real_files() if arguments.only in str(path)]
    count = int(arguments.texts / len(files) / _BATCHES_PER_TEXT) + 1
    totals = [0, 0]
    print("| vocabulary | traces | differences |\n|---|---|---|")
    for path in files:
        traces, differences = compare(polytok.load(path), count, arguments.seed)
        print(f"| {path.name} | {traces:,} | {len(differences)} |", flush=True)
        for difference in differences[:3]:
            print(f"{path.name}: {difference}", file=sys.stderr)
        totals = [totals[0] + traces, totals[1] + len(differences)]
    print(f"| all | {totals[0]:,} | {totals[1]} |")
    return int(totals[1] > 0)


if __name__ == "__main__":
    sys.exit(main())
