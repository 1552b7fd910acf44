"""The options that select files of texts and how to read them, for the verbs that train, count words and tokenize."""

from __future__ import annotations

import argparse
import warnings

from ..corpus.sources import read_name_list
from ..errors import ArgumentError
from ..reading import Reading


def add_input_options(
    parser: argparse.ArgumentParser, invalid_choices: list[str], invalid_help: str, *, extra_help: str = ""
) -> None:
    """Adds the inputs and the options of reading.

    ``invalid_choices`` has the choices of ``--invalid``, ``invalid_help`` describes its default, and ``extra_help`` is
    appended to the help of the inputs.
    """
    parser.add_argument(
        "inputs",
        nargs="*",
        metavar="INPUT",
        help="paths, patterns or URLs of text, JSON lines, Parquet or Arrow files, which can be compressed"
        + extra_help,
    )
    group = parser.add_argument_group("reading")
    group.add_argument("--files-from", metavar="FILE", help="a file that lists more inputs, one a line")
    group.add_argument(
        "--input-format",
        choices=["text", "jsonl", "parquet", "arrow"],
        help="the format of the inputs; by default chosen by name and content",
    )
    group.add_argument(
        "--field",
        default="text",
        metavar="NAME",
        help="the field with the text, in JSON lines and tables; a.b is the field b of the object a",
    )
    unit_group = group.add_mutually_exclusive_group()
    unit_group.add_argument(
        "--lines", action="store_true", help="each line of a text file is a text, without its line feed"
    )
    unit_group.add_argument(
        "--separator",
        metavar="TEXT",
        type=_parse_separator,
        help=r"a text file holds several texts, separated by TEXT; escapes such as \n and \x00 are allowed",
    )
    group.add_argument(
        "--invalid", choices=invalid_choices, help=f"how to treat texts that are not UTF-8; {invalid_help}"
    )
    group.add_argument(
        "--skip-broken", action="store_true", help="skip and report records that lack the field or are not valid"
    )
    group.add_argument(
        "--skip-damaged", action="store_true", help="skip and report the unreadable rest of damaged files"
    )


def input_names(arguments: argparse.Namespace) -> list[str]:
    """Returns the names of the inputs on the command line and in the file of ``--files-from``."""
    listed_names = read_name_list(arguments.files_from) if arguments.files_from else []
    if not (all_names := [*arguments.inputs, *listed_names]):
        raise ArgumentError("no input: name a file, a pattern or a URL, or use --files-from")
    return all_names


def parse_reading(arguments: argparse.Namespace) -> Reading:
    """Returns the reading options in the parsed arguments."""
    return Reading(
        format=arguments.input_format,
        field=arguments.field,
        unit="line" if arguments.lines else "separator" if arguments.separator else "file",
        separator=arguments.separator,
        invalid=arguments.invalid,
        records="skip" if arguments.skip_broken else "error",
        broken="skip" if arguments.skip_damaged else "error",
    )


def _parse_separator(text: str) -> str:
    r"""Returns ``text`` with its Python escapes, such as ``\n``, replaced.

    >>> _parse_separator(r"\n\n<|é|>\x00") == "\n\n<|é|>\0"
    True
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # Python only warns about an unknown escape
            return text.encode("latin-1", "backslashreplace").decode("unicode_escape")
    except (UnicodeDecodeError, Warning) as error:
        reason = error.reason if isinstance(error, UnicodeDecodeError) else error
        raise argparse.ArgumentTypeError(
            rf"{text!r} has an invalid escape: {reason}; write \\ for a backslash"
        ) from error
