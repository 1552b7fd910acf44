"""``python -m tests.parity``: compares in two processes and prints one table; ``--full`` compares everything."""

from __future__ import annotations

import argparse
import multiprocessing
import sys
import time
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))  # where pytest finds the modules of the tests, too

from parity import report, tasks
from parity.tasks import Task
from reference_specs import DATA

PROCESSES = 2


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.parity", description=__doc__)
    parser.add_argument("--full", action="store_true", help="compare everything and update docs/generated/parity.md")
    parser.add_argument("--only", default="", help="compare only vocabularies whose name contains this text")
    parser.add_argument(
        "--seen", type=Path, help="a folder with hashes of answers that agreed; only other answers are compared again"
    )
    return parser.parse_args()


def run_tasks(todo: Sequence[Task], seen_folder: Path | None) -> report.Results:
    """Runs all tasks, and prints progress and every difference to standard error."""
    results = report.Results()
    with multiprocessing.get_context("spawn").Pool(PROCESSES, tasks.keep_seen_in, (seen_folder,)) as pool:
        for tasks_done, outcomes in enumerate(pool.imap_unordered(tasks.run, todo), start=1):
            results.add(outcomes)
            for outcome in outcomes:
                for example in outcome.examples:
                    print(f"\n{outcome.vocabulary}, {outcome.reference}, {outcome.what}: {example}", file=sys.stderr)
            progress = f"\r{tasks_done} of {len(todo)}, {results.differences} differences"
            print(progress, end="", file=sys.stderr, flush=True)
    return results


def main() -> int:
    options = arguments()
    if options.seen:
        options.seen.mkdir(parents=True, exist_ok=True)
    if not DATA.is_dir():
        print(f"no test data in {DATA}; set POLYTOK_DATA to the folder of the test data", file=sys.stderr)
        return 2
    start_time = time.monotonic()
    scale = tasks.FULL if options.full else tasks.SLICE
    results = run_tasks([task for task in tasks.all_tasks(scale) if options.only in task.vocabulary], options.seen)
    print(f"\n{results.terminal()} in {(time.monotonic() - start_time) / 60:.1f} minutes")
    if options.full:
        report.write_pages(results, options.only)
    return int(results.differences > 0)


if __name__ == "__main__":
    sys.exit(main())
