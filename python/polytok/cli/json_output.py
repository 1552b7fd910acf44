"""The option ``--json``, and the functions that print its output."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Iterator
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
    for part in json_list_parts(values):
        _write(part)


def json_list_parts(values: Iterable[Any]) -> Iterator[str]:
    r"""Yields the text of a JSON list in parts, a value a line.

    >>> "".join(json_list_parts([1, "a"])), "".join(json_list_parts([]))
    ('[\n1,\n"a"\n]\n', '[]\n')
    """
    separator = "[\n"
    for value in values:
        yield separator + json.dumps(value, ensure_ascii=False)
        separator = ",\n"
    yield "\n]\n" if separator == ",\n" else "[]\n"


def _write(text: str) -> None:
    binary_stdout().write(text.encode(errors="surrogateescape"))
    binary_stdout().flush()
