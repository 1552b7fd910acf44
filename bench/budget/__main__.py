"""Instructions per byte and per piece, counted by callgrind: nearly the same on every run of a build.

Valgrind has no AVX-512, so a build is counted on its way for AVX2. Compare builds that were compiled in the same way.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path

from ..cases import DATA
from .callgrind import count
from .cells import CELLS, LOAD
from .child import AGAIN, FIRST

HEAD = ("vocabulary, text, operation", "pass", "per byte", "per piece", "before, per byte", "growth")


@dataclass(frozen=True, slots=True)
class Budget:
    """The instructions of each pass over a cell. ``given`` and ``returned`` are digests of texts and of what came out;
    ``pieces`` are matches of the split pattern, tokens where there is none, or when a file is loaded its entries.
    ``build`` is a folder or a file: the former is called by way of Python's functions."""

    build: str
    size: int
    pieces: int
    given: str
    returned: str
    instructions: dict[str, int]


def main() -> None:
    arguments = parser().parse_args()
    if not DATA.is_dir():
        raise SystemExit("there is no benchmark data: set POLYTOK_DATA to the folder that holds corpus/ and vocab/")
    if shutil.which("valgrind") is None:
        raise SystemExit("valgrind is not installed: install it with your system's packages")
    names = arguments.cell or list(CELLS)
    before = budgets_of(arguments.against, names, arguments.processes) if arguments.against else {}
    found = counted(arguments.build or installed(), names, arguments.processes)
    if arguments.json:
        written = {name: asdict(budget) for name, budget in found.items()}
        Path(arguments.json).write_text(json.dumps(written, indent=1), encoding="utf-8")
    for line in (HEAD, ["---"] * len(HEAD), *rows(found, before)):
        print(f"| {' | '.join(line)} |")
    sys.exit(verdict(found, before, arguments.gate))


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(prog="python -m bench.budget", description=__doc__)
    made.add_argument("--build", metavar="PATH", type=Path, help="a package's folder or an extension module")
    made.add_argument("--against", metavar="PATH", type=Path, help="another build, or a file that --json wrote")
    made.add_argument("--cell", nargs="+", metavar="NAME", choices=CELLS, help=f"of {', '.join(CELLS)}")
    made.add_argument("--gate", type=float, metavar="PERCENT", help="fail if a cell takes so much more")
    made.add_argument("--json", metavar="FILE", help="also write the figures there")
    made.add_argument("--processes", type=int, default=2, help="how many cells are counted at the same time")
    return made


def installed() -> Path:
    """The folder of the package that is installed."""
    import polytok

    return Path(polytok.__file__).parent


def budgets_of(path: Path, names: Iterable[str], processes: int) -> dict[str, Budget]:
    """Those that were written to a file, or those of a build."""
    if path.suffix != ".json":
        return counted(path, names, processes)
    written = json.loads(path.read_text(encoding="utf-8"))
    return {name: Budget(**fields) for name, fields in written.items()}


def counted(build: Path, names: Iterable[str], processes: int) -> dict[str, Budget]:
    """The budgets of cells, some at the same time; an extension module alone loads nothing."""
    with ThreadPoolExecutor(processes) as pool:
        known = [name for name in names if build.is_dir() or CELLS[name].operation != LOAD]
        found = {name: pool.submit(budget, name, build.resolve()) for name in known}
        return {name: each.result() for name, each in found.items()}


def budget(name: str, build: Path) -> Budget:
    """The budget of a cell, counted in a process of its own."""
    cell = CELLS[name]
    done = count("bench.budget.child", [name, str(build)])
    print(name, file=sys.stderr, flush=True)
    kind = "folder" if build.is_dir() else "file"
    return Budget(kind, cell.size, cell.pieces(), cell.digest, done.output.strip(), done.instructions)


def rows(found: dict[str, Budget], before: dict[str, Budget]) -> Iterator[tuple[str, ...]]:
    """A row for each pass over each cell."""
    for name, budget in found.items():
        for which in (FIRST, AGAIN):
            if which in budget.instructions:
                instructions = budget.instructions[which]
                figures = f"{instructions / budget.size:.2f}", f"{instructions / budget.pieces:.1f}"
                yield (name, which, *figures, *_compared(budget, before.get(name), which))


def _compared(budget: Budget, before: Budget | None, which: str) -> tuple[str, str]:
    if before is None:
        return "", ""
    if (why := incomparable(budget, before)) is not None:
        return "", why
    return f"{before.instructions[which] / before.size:.2f}", f"{growth(budget, before, which):+.2f} %"


def incomparable(budget: Budget, before: Budget) -> str | None:
    """Why two figures say nothing about each other."""
    if budget.build != before.build:
        return "a folder beside a file"
    if budget.given != before.given:
        return "other texts"
    return "other output" if budget.returned != before.returned else None


def growth(budget: Budget, before: Budget, which: str) -> float:
    """How many percent more instructions it takes."""
    return 100 * (budget.instructions[which] / before.instructions[which] - 1)


def verdict(found: dict[str, Budget], before: dict[str, Budget], gate: float | None) -> int:
    """The exit code, after a line for each cell that grew beyond the gate or cannot be compared."""
    if gate is None:
        return 0
    failures = [f"{name}: {why}" for name in found if (why := _failure(found[name], before.get(name), gate))]
    print(*failures, f"{len(found) - len(failures)} of {len(found)} cells grew by at most {gate:g} %.", sep="\n")
    return 1 if failures or not found else 0


def _failure(budget: Budget, before: Budget | None, gate: float) -> str | None:
    if before is None:
        return "nothing to compare with"
    if (why := incomparable(budget, before)) is not None:
        return why
    most = max(growth(budget, before, which) for which in budget.instructions)
    return f"{most:+.2f} %" if most > gate else None


if __name__ == "__main__":
    main()
