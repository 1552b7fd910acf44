"""The options that several verbs share, and the functions that read their values."""

from __future__ import annotations

import argparse
import os
import sys
from typing import IO, Any

from ..errors import ArgumentError
from ..formats import all_formats
from ..loading import load
from ..options import Options
from ..tokenizer import Tokenizer
from ..values import Special
from . import special_tokens

_MODEL_HELP = (
    'a tokenizer file, "default" for the vocabulary that comes with polytok, or a name from `polytok info --names`'
)

_LOAD_OPTIONS = ("format", "pattern", "special_tokens", "sentencepiece_version", "name", "pre_tokenizer")


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


def add_tokenizer_verb_parser(
    subparsers: Any, name: str, summary: str, examples: str, *, positional_name: str | None = None
) -> argparse.ArgumentParser:
    """Adds a verb that loads a tokenizer to ``subparsers``, and returns its parser.

    The option ``-m`` names the tokenizer's file. If ``positional_name`` is set, a positional argument with that name
    replaces ``-m``.
    """
    parser = add_verb_parser(subparsers, name, summary, examples)
    if positional_name is not None:
        parser.add_argument("model", metavar=positional_name, help=_MODEL_HELP)
    group = parser.add_argument_group("vocabulary")
    if positional_name is None:
        group.add_argument("-m", "--model", default="default", help=_MODEL_HELP)
    format_names = [format.name for format in all_formats()]
    group.add_argument("--format", choices=format_names, help="the file's format; by default recognized from its bytes")
    group.add_argument("--pattern", help="the split pattern for a tiktoken file whose vocabulary polytok does not know")
    group.add_argument(
        "--special-tokens",
        action="append",
        metavar=special_tokens.METAVAR,
        type=special_tokens.parse_argument,
        help=f"a special token of a tiktoken file: {special_tokens.SYNTAX_HELP}; can be repeated",
    )
    group.add_argument(
        "--sentencepiece-version", choices=["0.2.1", "0.2.3"], help="the SentencePiece release to follow"
    )
    group.add_argument("--name", help="the vocabulary's name, if two vocabularies share the file (o200k_harmony)")
    group.add_argument(
        "--pre-tokenizer", metavar="NAME", help="llama.cpp's pre-tokenizer for a GGUF file that names an unknown one"
    )
    return parser


def load_tokenizer(arguments: argparse.Namespace) -> Tokenizer:
    """Loads the tokenizer that the options name.

    Raises `ArgumentError` if an option needs a tokenizer file, but the tokenizer is the default one.
    """
    if arguments.model == "default" and not os.path.exists("default"):
        for option in _LOAD_OPTIONS:
            if getattr(arguments, option) is not None:
                raise ArgumentError(f"--{option.replace('_', '-')} needs a tokenizer file: name the file with -m")
    options = {option: getattr(arguments, option) for option in _LOAD_OPTIONS}
    if arguments.special_tokens is not None:
        options["special_tokens"] = special_tokens.combine(arguments.special_tokens)
    return load(arguments.model, **options)


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
        help="recognise all special tokens, or the token TEXT (can be repeated); by default none",
    )
    group.add_argument(
        "--reject-special", action="store_true", help="fail if a text contains a special token that is not recognised"
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


def shows_progress(arguments: argparse.Namespace) -> bool:
    """Reports whether to show a progress bar: in a terminal, without ``--quiet``."""
    return sys.stderr.isatty() and not arguments.quiet


def binary_stdout() -> IO[bytes]:
    """Returns the binary stream of standard output."""
    return sys.stdout.buffer
