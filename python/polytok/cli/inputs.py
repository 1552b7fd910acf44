"""The options that select the inputs and how to read them, for every verb that reads texts."""

from __future__ import annotations

import argparse
import warnings

from ..errors import ArgumentError
from ..reading import InputOptions
from ..reading.choices import MAX_RECORD_BYTES
from ..reading.names import read_name_list
from .option_values import no_input_hint
from .options import parse_size


def add_input_options(
    parser: argparse.ArgumentParser, bad_bytes_choices: list[str], bad_bytes_help: str, *, has_text: bool = True
) -> None:
    """Adds the inputs and the options of reading.

    ``bad_bytes_choices`` has the choices of ``--bad-bytes``, and ``bad_bytes_help`` describes its default. With
    ``has_text``, texts can also be given on the command line and by standard input.
    """
    stdin_help = "; without INPUT and --text, and for `-`, standard input" if has_text else ""
    parser.add_argument(
        "inputs",
        nargs="*",
        metavar="INPUT",
        help="files, patterns, folders or URLs of text, JSON lines, Parquet or Arrow, which can be compressed"
        + stdin_help,
    )
    add_reading_options(parser, bad_bytes_choices, bad_bytes_help, has_text=has_text)


def add_reading_options(
    parser: argparse.ArgumentParser, bad_bytes_choices: list[str], bad_bytes_help: str, *, has_text: bool
) -> None:
    """Adds the options of `add_input_options` without the inputs."""
    group = parser.add_argument_group("reading")
    if has_text:
        group.add_argument("--text", action="append", default=[], metavar="TEXT", help="a text (can be repeated)")
    group.add_argument("--files-from", metavar="FILE", help="a file that lists more inputs, one a line")
    _add_format_options(group)
    group.add_argument(
        "--bad-bytes", choices=bad_bytes_choices, help=f"how to treat texts that are not UTF-8; {bad_bytes_help}"
    )
    group.add_argument(
        "--bad-records",
        choices=["error", "skip"],
        default="error",
        help="how to treat records that lack the field, are not valid or too long; by default an error",
    )
    group.add_argument(
        "--max-record-bytes",
        type=parse_size,
        default=MAX_RECORD_BYTES,
        metavar="SIZE",
        help="the maximum length of a record after decompression, for example 16M; by default 1G",
    )
    group.add_argument(
        "--damaged-files",
        choices=["error", "skip"],
        default="error",
        help="how to treat the unreadable rest of damaged files; by default an error",
    )


def _add_format_options(group: argparse._ArgumentGroup) -> None:
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


def input_names(arguments: argparse.Namespace) -> list[str]:
    """Returns the names of the inputs on the command line and in the file of ``--files-from``."""
    listed_names = read_name_list(arguments.files_from) if arguments.files_from else []
    return [*(arguments.inputs or ()), *listed_names]


def required_input_names(arguments: argparse.Namespace) -> list[str]:
    """Returns the names of the inputs. Raises `ArgumentError` if there are none."""
    if not (names := input_names(arguments)):
        hint = no_input_hint(arguments)
        raise ArgumentError(f"no input: name a file, a pattern, a folder or a URL, or use --files-from{hint}")
    return names


def parse_input_options(arguments: argparse.Namespace) -> InputOptions:
    """Returns the reading options in the parsed arguments."""
    return InputOptions(
        input_format=arguments.input_format,
        field=arguments.field,
        lines=arguments.lines,
        separator=arguments.separator,
        bad_bytes=arguments.bad_bytes,
        bad_records=arguments.bad_records,
        max_record_bytes=arguments.max_record_bytes,
        damaged_files=arguments.damaged_files,
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
