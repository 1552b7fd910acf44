"""What the verbs that read collections of texts share: the options that select the files and how to read them."""

from __future__ import annotations

import argparse
import warnings

from ..corpus.sources import names_in
from ..errors import ArgumentError
from ..reading import Reading


def add_inputs(parser: argparse.ArgumentParser, invalid: list[str], invalid_help: str, *, more: str = "") -> None:
    """The inputs, and the options of reading; ``invalid`` lists the ways to treat texts that are not UTF-8."""
    parser.add_argument(
        "inputs",
        nargs="*",
        metavar="INPUT",
        help=f"text, JSON lines, Parquet or Arrow, also compressed; names, patterns or URLs{more}",
    )
    group = parser.add_argument_group("reading")
    group.add_argument("--files-from", metavar="FILE", help="a file with the names of more inputs, one in a line")
    group.add_argument("--input-format", choices=["text", "jsonl", "parquet", "arrow"], help="if the names do not tell")
    group.add_argument("--field", default="text", metavar="NAME", help="of JSON and tables; a.b is the b of a")
    unit = group.add_mutually_exclusive_group()
    unit.add_argument("--lines", action="store_true", help="each line of a text file is a text, without its line feed")
    unit.add_argument("--separator", metavar="TEXT", type=_separator, help=r"what parts texts of a file; also \n, \x00")
    group.add_argument("--invalid", choices=invalid, help=f"what becomes of texts that are no UTF-8; {invalid_help}")
    group.add_argument(
        "--skip-broken", action="store_true", help="leave out records without the field, and report them"
    )
    group.add_argument(
        "--skip-damaged", action="store_true", help="leave out what is lost in damaged files, and report it"
    )


def names(arguments: argparse.Namespace) -> list[str]:
    """The inputs named on the command line and in a file."""
    listed = names_in(arguments.files_from) if arguments.files_from else []
    if not (found := [*arguments.inputs, *listed]):
        raise ArgumentError("no input: name a file, a pattern or a URL, or --files-from")
    return found


def reading(arguments: argparse.Namespace) -> Reading:
    """How to read the inputs."""
    return Reading(
        format=arguments.input_format,
        field=arguments.field,
        unit="line" if arguments.lines else "separator" if arguments.separator else "file",
        separator=arguments.separator,
        invalid=arguments.invalid,
        records="skip" if arguments.skip_broken else "error",
        broken="skip" if arguments.skip_damaged else "error",
    )


def _separator(text: str) -> str:
    r"""A text with Python's escapes.

    >>> _separator(r"\n\n<|é|>\x00") == "\n\n<|é|>\0"
    True
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # Python only warns of an unknown escape
            return text.encode("latin-1", "backslashreplace").decode("unicode_escape")
    except (UnicodeDecodeError, Warning) as error:
        reason = error.reason if isinstance(error, UnicodeDecodeError) else error
        raise argparse.ArgumentTypeError(
            rf"{text!r} has an escape that is none: {reason}; \\ is a backslash"
        ) from error
