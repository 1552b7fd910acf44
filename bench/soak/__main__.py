"""The command of `make soak`: ``python -m bench.soak --minutes 120``."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from ..cases import DATA
from . import process, report
from .run import Row, Settings, soak

_NOT_VOCABULARIES = frozenset({".inp", ".out"})


def all_vocabularies() -> list[str | Path]:
    """Returns the embedded vocabulary and all files of the data."""
    files = sorted(path for path in (DATA / "vocab").glob("*/*") if path.suffix not in _NOT_VOCABULARIES)
    return ["default", *files]


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.soak", description=__doc__)
    parser.add_argument("--minutes", type=float, default=120.0)
    parser.add_argument("--interval", type=float, default=60.0, help="seconds between two measurements")
    parser.add_argument("--threads", type=int, default=4)
    parser.add_argument("--share", type=float, default=1.0, help="the part of one processor to use, from 0 to 1")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--output", type=Path, default=Path("target/soak"))
    parser.add_argument("vocabularies", nargs="*", help="by default the embedded one and all files of the data")
    return parser.parse_args()


def print_row(row: Row) -> None:
    print("  ".join(f"{cell:>12}" for cell in report.cells(row)), flush=True)


def main() -> int:
    options = arguments()
    if not process.is_known():
        print("the soak reads /proc, which this system does not have: run it on Linux", file=sys.stderr)
        return 2
    settings = Settings(
        options.vocabularies or all_vocabularies(),
        options.minutes * 60,
        options.interval,
        options.threads,
        options.share,
        options.seed,
    )
    print("  ".join(f"{name:>12}" for name in report.HEAD), flush=True)
    result = soak(settings, print_row)
    report.write(result, options.output)
    failures = report.failures(result)
    print(
        f"{result.calls.total():,} calls; growth of allocated memory in the second half "
        f"{report.growth(result.rows, 'live_memory') / report.MIB:.1f} MiB"
    )
    print("\n".join(failures) or "Nothing failed.")
    print(f"{options.output / 'soak.md'} and {options.output / 'soak.svg'} have the table and the plot")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
