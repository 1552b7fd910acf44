"""Options that several verbs share, and the code that interprets them."""

from __future__ import annotations

import argparse
import json
import os
import sys
from typing import IO, Any

from ..errors import ArgumentError
from ..formats import all_formats
from ..loading import load
from ..options import Options
from ..tokenizer import Tokenizer
from ..values import Special

_MODEL_HELP = 'a tokenizer file; "default" (the one that comes with polytok), or another name (polytok info --names)'

_LOADING = ("format", "pattern", "special_tokens", "line", "name", "pre_tokenizer")


def add_plain_verb(verbs: Any, name: str, summary: str, examples: str) -> argparse.ArgumentParser:
    """The parser of one verb."""
    parser: argparse.ArgumentParser = verbs.add_parser(
        name,
        help=summary,
        description=summary[0].upper() + summary[1:] + ".",
        epilog="examples:\n" + examples,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    return parser


def add_verb(
    verbs: Any, name: str, summary: str, examples: str, *, source: str | None = None
) -> argparse.ArgumentParser:
    """The parser of one verb, with options that name the vocabulary; with ``source``, an argument names it instead."""
    parser = add_plain_verb(verbs, name, summary, examples)
    if source is not None:
        parser.add_argument("model", metavar=source, help=_MODEL_HELP)
    group = parser.add_argument_group("vocabulary")
    if source is None:
        group.add_argument("-m", "--model", default="default", help=_MODEL_HELP)
    names = [known.name for known in all_formats()]
    group.add_argument("--format", choices=names, help="the file's format, if its bytes do not tell")
    group.add_argument("--pattern", help="the split pattern of a tiktoken file that is not a known one")
    group.add_argument(
        "--special-tokens", metavar="JSON", type=_special_tokens, help="its special tokens: '{\"<|end|>\": 50256}'"
    )
    group.add_argument("--line", choices=["0.2.1", "0.2.3"], help="the SentencePiece release to follow")
    group.add_argument("--name", help="which vocabulary is meant, where one file serves two (o200k_harmony)")
    group.add_argument(
        "--pre-tokenizer", metavar="NAME", help="llama.cpp's pre-tokenizer, where a GGUF file's is unknown"
    )
    return parser


def load_tokenizer(arguments: argparse.Namespace) -> Tokenizer:
    """The tokenizer that the options name."""
    if arguments.model == "default" and not os.path.exists("default"):
        for option in _LOADING:
            if getattr(arguments, option) is not None:
                raise ArgumentError(f"--{option.replace('_', '-')} is for a file: name it with -m")
    return load(arguments.model, **{option: getattr(arguments, option) for option in _LOADING})


def add_encoding(parser: argparse.ArgumentParser) -> None:
    """The options of encoding."""
    group = parser.add_argument_group("encoding")
    group.add_argument(
        "--add-special", action="store_true", help="put the format's special ids (BOS, ...) around texts"
    )
    group.add_argument(
        "--special",
        action="append",
        default=[],
        metavar="all|TEXT",
        help="recognise all special tokens, or this one (may be repeated); by default none",
    )
    group.add_argument("--reject-special", action="store_true", help="fail on a special token that is not recognised")
    group.add_argument("--lines", action="store_true", help="each line is a text of its own, without its line feed")


def encode_options(arguments: argparse.Namespace) -> Options:
    """The options of encoding, from the arguments."""
    special: Special = "all" if "all" in arguments.special else arguments.special
    return Options(arguments.add_special, special, arguments.reject_special)


def add_color(parser: argparse.ArgumentParser) -> None:
    """The option ``--color``."""
    parser.add_argument(
        "--color", choices=["auto", "always", "never"], default="auto", help="colours: auto is in a terminal only"
    )


def is_colored(arguments: argparse.Namespace, out: IO[bytes]) -> bool:
    """Whether to colour: with auto, NO_COLOR (no-color.org) and a dumb terminal decide."""
    if arguments.color != "auto":
        return bool(arguments.color == "always")
    return out.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def stdout() -> IO[bytes]:
    """Standard output, for bytes."""
    return sys.stdout.buffer


def _special_tokens(text: str) -> dict[str, int]:
    try:
        value = json.loads(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"not JSON: {error}") from error
    if not isinstance(value, dict):
        raise argparse.ArgumentTypeError('not an object like {"<|end|>": 50256}')
    return value
