"""The command ``polytok``: one module per verb, each with ``add_parser`` and ``run``.

Python's `argparse` parses the arguments, so the command needs no further package.

The command exits with one of these codes:

* 0: success;
* 1: a search matched no vocabulary entry, a check found a problem, or a file or text has an error; error messages go to
  standard error;
* 2: the arguments are wrong;
* 130: the user pressed Ctrl-C; the command prints no message;
* 141: the program that reads the output has closed the pipe; the command prints no message.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from typing import Any

from .. import __version__
from ..errors import ArgumentError, FileError, PolytokError
from . import convert, corpus, count, count_words, decode, doctor, edit, encode, info, tokenize, train, vocab
from .wording import flags_of, with_flags

_INTERRUPT_EXIT_CODE = 128 + 2  # the exit code that a shell reports for SIGINT
_CLOSED_PIPE_EXIT_CODE = 128 + 13  # the exit code that a shell reports for SIGPIPE
_VERB_MODULES = (encode, decode, count, info, vocab, convert, edit, doctor, tokenize, train, count_words, corpus)
_EXAMPLES_HELP = """\
examples:
  polytok encode book.txt                  ids; in a terminal, coloured pieces
  polytok encode -m llama.model book.txt -o book.npy
  polytok decode book.npy -m llama.model   the text of the ids
  polytok count *.txt                      the numbers of bytes, characters and tokens
  polytok info -m llama.model              everything that the file holds
  polytok vocab --contains ing             the entries that contain "ing"
  polytok convert llama.model tokenizer.json   write another format, and list the losses
  polytok edit rwkv_vocab.txt -o own.txt --add-kaomoji   remove and add entries
  polytok doctor tokenizer.json            find problems in a file
  polytok train *.txt --vocab-size 8000 -o tokenizer.json   train a vocabulary

`polytok VERB --help` lists the options of a verb.
"""


class _VerbParser(argparse.ArgumentParser):
    """The parser of a verb. Options can stand before, between or after positional arguments."""

    _is_parsing_intermixed = False

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parses options that can stand between positional arguments, and stores the values in ``namespace``."""
        # argparse cannot mix options and positional arguments in a parser that has subparsers. The parser of each
        # subverb mixes them.
        if self._is_parsing_intermixed or self._subparsers is not None:
            return super().parse_known_args(args, namespace)
        self._is_parsing_intermixed = True
        # Some verbs have options that depend on other arguments, such as --kind. These options are added here.
        if add_dependent_options := self.get_default("add_dependent_options"):
            add_dependent_options(self, sys.argv[1:] if args is None else args)
        try:
            return self.parse_known_intermixed_args(args, namespace)
        finally:
            self._is_parsing_intermixed = False


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the command and returns its exit code.

    Args:
        argv: The arguments without the program's name; by default the arguments of the process.

    Raises:
        SystemExit: argparse finds wrong arguments, or has printed help or the version.
    """
    arguments = _create_parser().parse_args(argv)
    try:
        try:
            exit_code: int = arguments.run(arguments)
            return exit_code
        finally:
            sys.stdout.flush()
    except BrokenPipeError:
        return _discard_output()
    except KeyboardInterrupt:
        return _INTERRUPT_EXIT_CODE
    except (PolytokError, OSError, UnicodeError) as error:
        message = with_flags(_error_message(error), flags_of(arguments.verb_parser))
        print(f"polytok: {message}", file=sys.stderr)
        return 2 if isinstance(error, ArgumentError) else 1


def _create_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="polytok",
        description="One exact, fast tokenizer engine for every subword vocabulary.",
        epilog=_EXAMPLES_HELP,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"polytok {__version__}")
    subparsers = parser.add_subparsers(title="verbs", metavar="VERB", required=True, parser_class=_VerbParser)
    for verb_module in _VERB_MODULES:
        verb_module.add_parser(subparsers)
    return parser


def _error_message(error: Exception) -> str:
    if isinstance(error, OSError) and error.filename is not None:
        prefix = "" if isinstance(error, FileError) else "cannot read: "
        return f"{error.filename}: {prefix}{error.strerror}"
    return str(error)


def _discard_output() -> int:
    """Redirects standard output to the null device and returns the exit code for a closed pipe.

    Python flushes standard output once more when it exits. Without the redirection, that flush would fail too.
    """
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return _CLOSED_PIPE_EXIT_CODE
