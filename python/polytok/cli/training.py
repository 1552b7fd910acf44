"""What ``polytok train`` and ``polytok count-words`` share: options for what is read, and telling how far it is."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from ..errors import ArgumentError
from ..train import Inputs, ProgressBar, Reading, TrainingReport, memory_size
from .texts import STDIN


def add_reading(parser: argparse.ArgumentParser) -> None:
    """The options of reading."""
    parser.add_argument(
        "inputs", nargs="+", metavar="INPUT", help="text, JSON lines or Parquet, also compressed; `-` is standard input"
    )
    group = parser.add_argument_group("reading")
    group.add_argument("--input-format", choices=["text", "jsonl", "parquet"], help="if the names do not tell")
    group.add_argument("--field", default="text", metavar="NAME", help="of JSON and Parquet; a.b is the b of a")
    group.add_argument("--lines", action="store_true", help="each line of a text file is a text, without its line feed")
    group.add_argument(
        "--invalid",
        choices=["error", "replace", "skip", "keep"],
        help="what becomes of texts that are no UTF-8; by default kept by kinds over bytes, and an error for others",
    )
    group.add_argument(
        "--skip-broken", action="store_true", help="leave out records without the field, and report them"
    )
    group = parser.add_argument_group("resources")
    group.add_argument("--max-memory", type=_memory, metavar="SIZE", help="go to disk before more is used, e.g. 512M")
    group.add_argument("--threads", type=int, metavar="N", help="by default as many as there are processors")
    group.add_argument("--quiet", action="store_true", help="no progress bar")


def inputs(arguments: argparse.Namespace) -> Inputs:
    """What the arguments name."""
    names: list[str] = arguments.inputs
    return [sys.stdin.buffer if name == STDIN else Path(name) for name in names]


def reading(arguments: argparse.Namespace) -> Reading | None:
    """How it is to be read; None if nothing is said."""
    said = Reading(
        format=arguments.input_format,
        field=arguments.field,
        unit="line" if arguments.lines else "file",
        invalid=arguments.invalid,
        records="skip" if arguments.skip_broken else "error",
    )
    return None if said == Reading() else said


def bar(arguments: argparse.Namespace) -> ProgressBar | None:
    """A progress bar, in a terminal."""
    return ProgressBar() if sys.stderr.isatty() and not arguments.quiet else None


def tell(report: TrainingReport) -> None:
    """Say what was left out, and what else is to be known."""
    if report.left_out or report.notes:
        print(f"polytok: {report}", file=sys.stderr)


def _memory(text: str) -> int:
    try:
        return memory_size(text)
    except ArgumentError as error:
        raise argparse.ArgumentTypeError(str(error)) from error
