"""Counts instructions per byte and per piece with callgrind. The counts of a build are nearly the same in every run.

Valgrind does not support AVX-512, so the code for AVX2 runs and is counted. Compare only builds that were compiled with
the same options.
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
from .callgrind import count_instructions
from .cells import CELLS, LOAD
from .child import FIRST_PASS, SECOND_PASS

_CELLS_HELP = f"by default the cells of --against's file, or all: {', '.join(CELLS)}"
TABLE_HEAD = ("vocabulary, text, operation", "pass", "per byte", "per piece", "before, per byte", "growth")


@dataclass(frozen=True, slots=True)
class Budget:
    """The number of instructions that each pass over a cell executes.

    ``build`` is "folder" for a build that is called by the Python functions of its package, and "file" for a build that
    is an extension module. ``size`` is the number of bytes of the texts, and ``pieces`` the number of their pieces.
    ``given`` is a digest of the texts, and ``returned`` a digest of the results.
    """

    build: str
    size: int
    pieces: int
    given: str
    returned: str
    instructions: dict[str, int]


def main() -> None:
    arguments = create_parser().parse_args()
    if not DATA.is_dir():
        raise SystemExit("the benchmark data is missing: set POLYTOK_DATA to the folder that holds corpus/ and vocab/")
    if shutil.which("valgrind") is None:
        raise SystemExit("valgrind is not installed: install it with your system's packages")
    names = arguments.cell or (list_cells(arguments.against) if arguments.against else list(CELLS))
    old_budgets = read_budgets(arguments.against, names, arguments.processes) if arguments.against else {}
    budgets = count_budgets(arguments.build or installed_package(), names, arguments.processes)
    if arguments.json:
        records = {name: asdict(budget) for name, budget in budgets.items()}
        Path(arguments.json).write_text(json.dumps(records, indent=1), encoding="utf-8")
    for line in (TABLE_HEAD, ["---"] * len(TABLE_HEAD), *budget_rows(budgets, old_budgets)):
        print(f"| {' | '.join(line)} |")
    sys.exit(print_verdict(budgets, old_budgets, arguments.gate))


def create_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bench.budget", description=__doc__)
    parser.add_argument("--build", metavar="PATH", type=Path, help="a package's folder or an extension module")
    parser.add_argument("--against", metavar="PATH", type=Path, help="another build, or a file that --json wrote")
    parser.add_argument("--cell", nargs="+", metavar="NAME", choices=CELLS, help=_CELLS_HELP)
    parser.add_argument("--gate", type=float, metavar="PERCENT", help="fail if a cell needs PERCENT more instructions")
    parser.add_argument("--json", metavar="FILE", help="also write the figures to FILE")
    parser.add_argument("--processes", type=int, default=2, help="the number of cells to count in parallel")
    return parser


def installed_package() -> Path:
    """Returns the folder of the installed package polytok."""
    import polytok

    return Path(polytok.__file__).parent


def list_cells(path: Path) -> list[str]:
    """Returns the names of the cells in a JSON file; of all cells if ``path`` is a build."""
    return list(json.loads(path.read_text(encoding="utf-8"))) if path.suffix == ".json" else list(CELLS)


def read_budgets(path: Path, names: Iterable[str], processes: int) -> dict[str, Budget]:
    """Reads the budgets from a JSON file; if ``path`` is a build, counts its budgets."""
    if path.suffix != ".json":
        return count_budgets(path, names, processes)
    records = json.loads(path.read_text(encoding="utf-8"))
    return {name: Budget(**fields) for name, fields in records.items()}


def count_budgets(build: Path, names: Iterable[str], processes: int) -> dict[str, Budget]:
    """Counts the budgets of cells in parallel. An extension module cannot load files, so its load cells are skipped."""
    with ThreadPoolExecutor(processes) as pool:
        supported_names = [name for name in names if build.is_dir() or CELLS[name].operation != LOAD]
        futures = {name: pool.submit(count_budget, name, build.resolve()) for name in supported_names}
        return {name: future.result() for name, future in futures.items()}


def count_budget(name: str, build: Path) -> Budget:
    """Counts the budget of a cell in a new process."""
    cell = CELLS[name]
    result = count_instructions("bench.budget.child", [name, str(build)])
    print(name, file=sys.stderr, flush=True)
    build_kind = "folder" if build.is_dir() else "file"
    return Budget(
        build_kind, cell.size, cell.count_pieces(), cell.input_digest, result.output.strip(), result.instructions
    )


def budget_rows(budgets: dict[str, Budget], old_budgets: dict[str, Budget]) -> Iterator[tuple[str, ...]]:
    """Yields a row of the table for each pass over each cell."""
    for name, budget in budgets.items():
        for pass_name in (FIRST_PASS, SECOND_PASS):
            if pass_name in budget.instructions:
                instructions = budget.instructions[pass_name]
                figures = f"{instructions / budget.size:.2f}", f"{instructions / budget.pieces:.1f}"
                yield (name, pass_name, *figures, *_comparison(budget, old_budgets.get(name), pass_name))


def _comparison(budget: Budget, old_budget: Budget | None, pass_name: str) -> tuple[str, str]:
    if old_budget is None:
        return "", ""
    if (reason := reason_not_comparable(budget, old_budget)) is not None:
        return "", reason
    return (
        f"{old_budget.instructions[pass_name] / old_budget.size:.2f}",
        f"{growth_percent(budget, old_budget, pass_name):+.2f} %",
    )


def reason_not_comparable(budget: Budget, old_budget: Budget) -> str | None:
    """Returns the reason why two budgets cannot be compared, or None if the budgets can be compared."""
    if budget.build != old_budget.build:
        return "a folder and a file"
    if budget.given != old_budget.given:
        return "other texts"
    return "other output" if budget.returned != old_budget.returned else None


def growth_percent(budget: Budget, old_budget: Budget, pass_name: str) -> float:
    """Returns by how many percent the number of instructions has grown."""
    return 100 * (budget.instructions[pass_name] / old_budget.instructions[pass_name] - 1)


def print_verdict(budgets: dict[str, Budget], old_budgets: dict[str, Budget], gate: float | None) -> int:
    """Prints the cells that grew by more than ``gate`` percent or cannot be compared, and returns the exit code."""
    if gate is None:
        return 0
    failures = [
        f"{name}: {reason}" for name in budgets if (reason := _find_failure(budgets[name], old_budgets.get(name), gate))
    ]
    print(*failures, f"{len(budgets) - len(failures)} of {len(budgets)} cells grew by at most {gate:g} %.", sep="\n")
    return 1 if failures or not budgets else 0


def _find_failure(budget: Budget, old_budget: Budget | None, gate: float) -> str | None:
    if old_budget is None:
        return "no figure to compare with"
    if (reason := reason_not_comparable(budget, old_budget)) is not None:
        return reason
    max_growth = max(growth_percent(budget, old_budget, pass_name) for pass_name in budget.instructions)
    return f"{max_growth:+.2f} %" if max_growth > gate else None


if __name__ == "__main__":
    main()
