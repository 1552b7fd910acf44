"""``python -m tests.parity``: the comparison in two processes, one table at the end; ``--full`` is all of it."""

from __future__ import annotations

import argparse
import multiprocessing
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))  # where pytest finds the tests' modules, too

from parity import report, tasks
from reference_specs import DATA

PROCESSES = 2


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.parity", description=__doc__)
    parser.add_argument("--full", action="store_true", help="all of it, and write its rows of docs/generated/parity.md")
    parser.add_argument("--only", default="", help="only vocabularies with this in their name")
    parser.add_argument(
        "--seen", type=Path, help="a folder of what was seen to agree: only what is not there is compared"
    )
    options = parser.parse_args()
    if options.seen:
        options.seen.mkdir(parents=True, exist_ok=True)
    if not DATA.is_dir():
        print(f"there is no data in {DATA}: set POLYTOK_DATA", file=sys.stderr)
        return 2
    started = time.monotonic()
    todo = [
        task for task in tasks.all_tasks(tasks.FULL if options.full else tasks.SLICE) if options.only in task.vocabulary
    ]
    results = report.Results()
    with multiprocessing.get_context("spawn").Pool(PROCESSES, tasks.remember, (options.seen,)) as pool:
        for done, outcomes in enumerate(pool.imap_unordered(tasks.run, todo), start=1):
            results.add(outcomes)
            for outcome in outcomes:
                for example in outcome.examples:
                    print(f"\n{outcome.vocabulary}, {outcome.reference}, {outcome.what}: {example}", file=sys.stderr)
            print(f"\r{done} of {len(todo)}, {results.differences} differences", end="", file=sys.stderr, flush=True)
    print(f"\n{results.terminal()} in {(time.monotonic() - started) / 60:.1f} minutes")
    if options.full:
        report.write_pages(results, options.only)
    return int(results.differences > 0)


if __name__ == "__main__":
    sys.exit(main())
