"""The options and reports that ``polytok train`` and ``polytok count-words`` share."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from ..training import Inputs, TrainingReport
from ..training.inputs import path_or_url
from . import inputs
from .options import add_quiet_option, parse_size
from .texts import STDIN, input_file_names


def add_input_options(parser: argparse.ArgumentParser) -> None:
    """Adds the inputs, the options of reading, and the limits of memory and threads."""
    bad_bytes_help = "by default keep for bpe over bytes and longest-match, error for other kinds"
    inputs.add_input_options(parser, ["error", "replace", "skip", "keep"], bad_bytes_help)
    group = parser.add_argument_group("resources")
    group.add_argument(
        "--max-memory", type=parse_size, metavar="SIZE", help="use files on disk beyond this limit, for example 512M"
    )
    group.add_argument(
        "--threads", type=int, metavar="N", help="the number of threads; by default one for each processor"
    )
    add_quiet_option(group)


def open_inputs(arguments: argparse.Namespace) -> Inputs:
    """Returns the inputs that the arguments name."""
    names = input_file_names(arguments)
    files = [sys.stdin.buffer if name == STDIN else path_or_url(name) for name in names]
    return [*(text.encode("utf-8", "surrogateescape") for text in arguments.text), *files]


def report_to_json(report: TrainingReport) -> dict[str, Any]:
    """Returns the report as a JSON value."""
    return {
        "texts": report.texts,
        "bytes": report.bytes,
        "skipped": dict(report.skipped),
        "examples": [{"place": place, "reason": reason} for place, reason in report.examples],
        "damage": list(report.damage),
        "notes": list(report.notes),
    }


def print_report(report: TrainingReport) -> None:
    """Prints the report if texts were skipped or the report has notes."""
    if text := str(report):
        print(f"polytok: {text}", file=sys.stderr)
