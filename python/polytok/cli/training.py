"""The options and reports that ``polytok train`` and ``polytok count-words`` share."""

from __future__ import annotations

import argparse
import sys

from ..errors import ArgumentError
from ..progress import ProgressBar
from ..reading import InputOptions
from ..resources import memory_size
from ..training import Inputs, TrainingReport
from ..training.inputs import path_or_url
from . import inputs
from .texts import STDIN


def add_input_options(parser: argparse.ArgumentParser) -> None:
    """Adds the inputs, the options of reading, and the limits of memory and threads."""
    invalid_help = "by default keep for kinds over bytes, error for other kinds"
    inputs.add_input_options(
        parser, ["error", "replace", "skip", "keep"], invalid_help, extra_help="; `-` is standard input"
    )
    group = parser.add_argument_group("resources")
    group.add_argument(
        "--max-memory", type=_parse_memory, metavar="SIZE", help="use files on disk beyond this limit, for example 512M"
    )
    group.add_argument(
        "--threads", type=int, metavar="N", help="the number of threads; by default one for each processor"
    )
    group.add_argument("--quiet", action="store_true", help="show no progress bar")


def open_inputs(arguments: argparse.Namespace) -> Inputs:
    """Returns the inputs that the arguments name."""
    return [sys.stdin.buffer if name == STDIN else path_or_url(name) for name in inputs.input_names(arguments)]


def parse_input_options(arguments: argparse.Namespace) -> InputOptions | None:
    """Returns the options of reading; None if all options have their defaults."""
    chosen_options = inputs.parse_input_options(arguments)
    return None if chosen_options == InputOptions() else chosen_options


def create_progress_bar(arguments: argparse.Namespace) -> ProgressBar | None:
    """Returns a progress bar if standard error is a terminal, else None."""
    return ProgressBar() if sys.stderr.isatty() and not arguments.quiet else None


def print_report(report: TrainingReport) -> None:
    """Prints the report if texts were skipped or the report has notes."""
    if report.left_out or report.notes:
        print(f"polytok: {report}", file=sys.stderr)


def _parse_memory(text: str) -> int:
    try:
        return memory_size(text)
    except ArgumentError as error:
        raise argparse.ArgumentTypeError(str(error)) from error
