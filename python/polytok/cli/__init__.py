"""The command ``polytok``: one module per verb, each with ``add_parser`` and ``run``.

Arguments are parsed by argparse, which comes with Python: ten verbs with a dozen options each need nothing more, and
the package has no dependency that only its command would use.

Exit codes: 0 for success; 1 if nothing was found, and for an error in a file or a text, whose message goes to standard
error; 2 for wrong arguments; 130 after Ctrl-C and 141 if the reader of a pipe went away, both silent.
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

_INTERRUPTED = 128 + 2  # what a shell shows for SIGINT
_CLOSED_PIPE = 128 + 13  # and for SIGPIPE
_VERBS = (encode, decode, count, info, vocab, convert, edit, doctor, tokenize, train, count_words, corpus)
_EXAMPLES = """\
examples:
  polytok encode book.txt                  ids, or in a terminal the coloured pieces
  polytok encode -m llama.model book.txt -o book.npy
  polytok decode book.npy -m llama.model   the text again
  polytok count *.txt                      bytes, characters, tokens
  polytok info -m llama.model              all that the file holds
  polytok vocab --contains ing             the pieces with "ing" in them
  polytok convert llama.model tokenizer.json   another format, and what is lost
  polytok edit rwkv_vocab.txt -o own.txt --add-kaomoji   entries removed and added
  polytok doctor tokenizer.json            what is wrong with a file
  polytok train *.txt --vocab-size 8000 -o tokenizer.json   a vocabulary of your own

`polytok VERB --help` tells the options of a verb.
"""


class _VerbParser(argparse.ArgumentParser):
    """A verb's parser, which accepts options between and after the arguments too."""

    _is_mixing = False

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse as argparse does, but intermixed."""
        # argparse cannot intermix if a verb has verbs of its own; those parsers intermix themselves.
        if self._is_mixing or self._subparsers is not None:
            return super().parse_known_args(args, namespace)
        self._is_mixing = True
        # A verb whose options depend on the arguments adds them now.
        if prepare := self.get_default("prepare"):
            prepare(self, sys.argv[1:] if args is None else args)
        try:
            return self.parse_known_intermixed_args(args, namespace)
        finally:
            self._is_mixing = False


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code. Wrong arguments and ``--help`` raise SystemExit, as argparse does."""
    try:
        try:
            return _run(argv)
        finally:
            sys.stdout.flush()
    except BrokenPipeError:
        return _closed_pipe()
    except KeyboardInterrupt:
        return _INTERRUPTED
    except (PolytokError, OSError, UnicodeError) as error:
        print(f"polytok: {_message(error)}", file=sys.stderr)
        return 2 if isinstance(error, ArgumentError) else 1


def _run(argv: Sequence[str] | None) -> int:
    arguments = _parser().parse_args(argv)
    code: int = arguments.run(arguments)
    return code


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="polytok",
        description="One exact, fast tokenizer engine for every subword vocabulary.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"polytok {__version__}")
    verbs = parser.add_subparsers(title="verbs", metavar="VERB", required=True, parser_class=_VerbParser)
    for verb in _VERBS:
        verb.add_parser(verbs)
    return parser


def _message(error: Exception) -> str:
    if isinstance(error, OSError) and error.filename is not None:
        prefix = "" if isinstance(error, FileError) else "cannot read: "
        return f"{error.filename}: {prefix}{error.strerror}"
    return str(error)


def _closed_pipe() -> int:
    """Python flushes standard output again when it exits; that flush must not fail too."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return _CLOSED_PIPE
