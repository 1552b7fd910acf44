"""What ``polytok train`` and ``polytok count-words`` share: options for reading, and progress reports."""

from __future__ import annotations

import argparse
import sys

from ..errors import ArgumentError
from ..progress import ProgressBar
from ..reading import Reading
from ..resources import memory_size
from ..training import Inputs, TrainingReport
from ..training.inputs import named
from . import reading as reading_options
from .texts import STDIN


def add_reading(parser: argparse.ArgumentParser) -> None:
    """The options of reading."""
    invalid_help = "by default kept by kinds over bytes, and an error for others"
    reading_options.add_inputs(
        parser, ["error", "replace", "skip", "keep"], invalid_help, more="; `-` is standard input"
    )
    group = parser.add_argument_group("resources")
    group.add_argument("--max-memory", type=_memory, metavar="SIZE", help="go to disk before more is used, e.g. 512M")
    group.add_argument("--threads", type=int, metavar="N", help="by default as many as there are processors")
    group.add_argument("--quiet", action="store_true", help="no progress bar")


def inputs(arguments: argparse.Namespace) -> Inputs:
    """The inputs that the arguments name."""
    return [sys.stdin.buffer if name == STDIN else named(name) for name in reading_options.names(arguments)]


def reading(arguments: argparse.Namespace) -> Reading | None:
    """How to read them; None if no option is given."""
    said = reading_options.reading(arguments)
    return None if said == Reading() else said


def bar(arguments: argparse.Namespace) -> ProgressBar | None:
    """A progress bar, in a terminal."""
    return ProgressBar() if sys.stderr.isatty() and not arguments.quiet else None


def tell(report: TrainingReport) -> None:
    """Report what was skipped, and other notes."""
    if report.left_out or report.notes:
        print(f"polytok: {report}", file=sys.stderr)


def _memory(text: str) -> int:
    try:
        return memory_size(text)
    except ArgumentError as error:
        raise argparse.ArgumentTypeError(str(error)) from error
