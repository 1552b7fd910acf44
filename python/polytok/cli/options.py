"""The options that several verbs share, and the functions that read their values."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from ..errors import ArgumentError
from ..files import open_replacement
from ..options import Options
from ..resources import memory_size
from ..values import Special
from .style import escape_line_breaks


def parse_size(text: str) -> int:
    """Returns the number of bytes that an argument such as ``512M`` names, for `argparse`."""
    try:
        return memory_size(text)
    except ArgumentError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def add_verb_parser(subparsers: Any, name: str, summary: str, examples: str) -> argparse.ArgumentParser:
    """Adds a verb to ``subparsers`` and returns its parser."""
    parser: argparse.ArgumentParser = subparsers.add_parser(
        name,
        help=summary,
        description=summary[0].upper() + summary[1:] + ".",
        epilog="examples:\n" + examples,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.set_defaults(verb_parser=parser)
    return parser


def add_encoding_options(parser: argparse.ArgumentParser) -> None:
    """Adds the options of encoding."""
    group = parser.add_argument_group("encoding")
    add_special_token_options(group, "text")


def add_special_token_options(group: argparse._ArgumentGroup, text_name: str) -> None:
    """Adds the options of special tokens. ``text_name`` is the help's word for an input text, such as "document"."""
    group.add_argument(
        "--add-special", action="store_true", help=f"add the format's special ids, such as BOS, to each {text_name}"
    )
    group.add_argument(
        "--special",
        action="append",
        default=[],
        metavar="all|TEXT",
        help="recognize all special tokens, or the token TEXT (can be repeated); by default none",
    )
    group.add_argument(
        "--reject-special", action="store_true", help="fail if a text contains a special token that is not recognized"
    )


def encode_options(arguments: argparse.Namespace) -> Options:
    """Returns the encoding options in the parsed arguments."""
    special: Special = "all" if "all" in arguments.special else arguments.special
    return Options(arguments.add_special, special, arguments.reject_special)


def add_color_option(parser: argparse.ArgumentParser) -> None:
    """Adds the option ``--color``."""
    parser.add_argument(
        "--color", choices=["auto", "always", "never"], default="auto", help="when to use colours; auto: in a terminal"
    )


def is_colored(arguments: argparse.Namespace, out: IO[bytes]) -> bool:
    """Reports whether to write colours to ``out``.

    With ``--color auto``, a terminal gets colours unless NO_COLOR (no-color.org) is set or TERM is "dumb".
    """
    if arguments.color != "auto":
        return bool(arguments.color == "always")
    return out.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def add_quiet_option(parser: argparse.ArgumentParser | argparse._ArgumentGroup) -> None:
    """Adds the option ``--quiet``."""
    parser.add_argument("-q", "--quiet", action="store_true", help="show no progress bar and no summary")


def print_already_finished(folder: str) -> None:
    """Reports on standard error that an earlier command has finished the job in ``folder``."""
    print(
        f"polytok: already finished: {escape_line_breaks(folder)} holds the result of this job, and nothing was done; "
        "--overwrite does the job again",
        file=sys.stderr,
    )


def shows_progress(arguments: argparse.Namespace) -> bool:
    """Reports whether to show a progress bar: in a terminal, without ``--quiet``."""
    return sys.stderr.isatty() and not arguments.quiet


@contextmanager
def open_output(path: Path | None) -> Iterator[IO[bytes]]:
    """Opens the file to write, or standard output if ``path`` is None."""
    if path is None:
        yield binary_stdout()
        binary_stdout().flush()
    else:
        with open_replacement(path) as file:
            yield file


def binary_stdout() -> IO[bytes]:
    """Returns the binary stream of standard output."""
    return sys.stdout.buffer
