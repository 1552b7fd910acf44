"""``polytok corpus mix``: mixes datasets by weight and writes the mixture to a new dataset."""

from __future__ import annotations

import argparse
import sys
from dataclasses import asdict
from typing import Any

from ..corpus import write_mixture
from ..corpus.plan import SHARD_SIZE
from ..corpus.run import RUNNERS
from ..corpus.write import WRITERS
from ..errors import ArgumentError
from .json_output import add_json_option, print_json
from .options import add_quiet_option, add_verb_parser, parse_size, print_already_finished, shows_progress
from .style import escape_line_breaks, print_line

_EXAMPLES = """\
  polytok corpus mix web=0.7 books=0.3 -o mixed --seed 1
  polytok corpus mix web=7 books=3 --epochs 2 --documents -o mixed

If the command is interrupted, the same command continues the work.
"""


def add_mix_parser(subparsers: Any) -> None:
    """Adds the parser of ``mix`` to ``subparsers``."""
    parser = add_verb_parser(subparsers, "mix", "mix datasets by weight, in a random order", _EXAMPLES)
    parser.add_argument(
        "datasets", nargs="+", type=_parse_weight, metavar="DIR=WEIGHT", help="a dataset and its share of the documents"
    )
    parser.add_argument("-o", "--out", required=True, metavar="OUTDIR", help="the folder to write")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="the seed of the order; by default 0")
    parser.add_argument(
        "--epochs", type=_parse_number, default=1, metavar="N", help="how often a document can occur; by default 1"
    )
    parser.add_argument("--to", choices=list(WRITERS), default="megatron", help="the format; by default megatron")
    parser.add_argument(
        "--dtype",
        choices=["auto", "uint16", "uint32", "int32"],
        default="auto",
        help="the type of the ids; by default chosen by the size of the vocabulary",
    )
    parser.add_argument(
        "--documents", action="store_true", help="write a table with the dataset and the index of each document"
    )
    parser.add_argument(
        "--shard-size", type=parse_size, default=SHARD_SIZE, metavar="SIZE", help="the size of a shard's ids"
    )
    parser.add_argument("--workers", type=int, metavar="N", help="the number of processes")
    parser.add_argument(
        "--runner", choices=list(RUNNERS), default="local", help="run in processes of this machine, or on Ray"
    )
    parser.add_argument("--overwrite", action="store_true", help="delete the files of another job in OUTDIR first")
    add_json_option(parser)
    add_quiet_option(parser)
    parser.set_defaults(run=_run_mix)


def _run_mix(arguments: argparse.Namespace) -> int:
    datasets: dict[str, float] = {}
    for folder, weight in arguments.datasets:
        if folder in datasets:
            raise ArgumentError(f"{folder} is named twice: name it once, with the sum of the weights")
        datasets[folder] = weight
    names = ("seed", "epochs", "to", "dtype", "documents", "shard_size", "workers", "runner", "overwrite")
    options = {name: getattr(arguments, name) for name in names}
    try:
        report = write_mixture(datasets, arguments.out, progress=shows_progress(arguments), **options)
    except KeyboardInterrupt:
        print("polytok: interrupted; run the same command again to continue", file=sys.stderr)
        raise
    if report.was_finished and not arguments.quiet:
        print_already_finished(arguments.out)
    if arguments.json:
        print_json({"totals": asdict(report.total), "shares": [asdict(share) for share in report.shares]})
    elif not arguments.quiet:
        print_line("\n".join(map(escape_line_breaks, str(report).split("\n"))))
    return 0


def _parse_weight(text: str) -> tuple[str, float]:
    folder, separator, weight = text.rpartition("=")
    if not separator or not folder:
        raise argparse.ArgumentTypeError(f"{text!r} is not a dataset and a weight, such as web=0.7")
    return folder, _parse_number(weight)


def _parse_number(text: str) -> float:
    try:
        value = float(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number") from error
    return int(value) if value.is_integer() else value
