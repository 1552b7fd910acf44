"""The option ``--json``, and the functions that print its output."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable
from typing import Any

from .options import binary_stdout


def add_json_option(parser: argparse.ArgumentParser | argparse._MutuallyExclusiveGroup) -> None:
    """Adds the option ``--json``."""
    parser.add_argument("--json", action="store_true", help="print JSON (docs/cli.md has its fields)")


def print_json(value: Any) -> None:
    """Prints a report as JSON. File names that are not UTF-8 keep their bytes."""
    _write(f"{json.dumps(value, ensure_ascii=False, indent=2, default=str)}\n")


def print_json_list(values: Iterable[Any]) -> None:
    """Prints values as a JSON list, a value a line, as they arrive."""
    separator = "[\n"
    for value in values:
        _write(separator + json.dumps(value, ensure_ascii=False))
        separator = ",\n"
    _write("\n]\n" if separator == ",\n" else "[]\n")


def _write(text: str) -> None:
    binary_stdout().write(text.encode(errors="surrogateescape"))
    binary_stdout().flush()
