"""The command ``polytok``: one module per verb, each with ``add_parser`` and ``run``.

Python's `argparse` parses the arguments, so the command needs no further package.

The command exits with one of these codes:

* 0: success;
* 1: the verb did its work, and the answer is no: no entry was found, a check found a problem, a row is over the limit,
  a written file returns other ids, or ``--strict`` refused a loss;
* 2: the verb could not do its work: the arguments are wrong, or a file or text cannot be read, written or processed;
* 130: the user pressed Ctrl-C; the command prints no message;
* 141: the program that reads the output has closed the pipe; the command prints no message.
"""

from __future__ import annotations

import argparse
import errno
import importlib
import os
import sys
from collections.abc import Sequence

from ..errors import FileError, LossError, PolytokError, SpecialTokenError
from ..keywords import mark_engine_keywords, marked_message, marked_reason
from .completion import add_completion_option
from .option_values import missing_input_hint
from .parsers import HelpfulParser
from .version import add_version_option
from .wording import flags_of, with_flags

_INTERRUPT_EXIT_CODE = 128 + 2  # the exit code that a shell reports for SIGINT
_CLOSED_PIPE_EXIT_CODE = 128 + 13  # the exit code that a shell reports for SIGPIPE
_VERBS = (
    *("encode", "decode", "count", "truncate", "chunk", "chat", "info", "vocab", "stats", "convert", "edit", "doctor"),
    *("diff", "tokenize", "train", "count-words", "trace", "web", "fetch", "corpus"),
)
"""The verbs in the order of the help. A module has the name of its verb, with ``_`` for ``-``."""
_EXAMPLES_HELP = """\
examples:
  polytok encode book.txt                  ids; in a terminal, coloured pieces
  polytok encode -m llama.model book.txt -o book.npy
  polytok decode book.npy -m llama.model   the text of the ids
  polytok count *.txt                      the numbers of bytes, characters and tokens
  polytok truncate book.txt --max-tokens 512   the start of a text
  polytok chat messages.json --template chat_template.jinja   the text of a conversation, and who wrote what
  polytok info -m llama.model              everything that the file holds
  polytok vocab --contains ing             the entries that contain "ing"
  polytok stats llama.model --on *.txt     bytes per token, coverage, lengths, scripts
  polytok convert llama.model tokenizer.json   write another format, and list the losses
  polytok edit rwkv_vocab.txt -o own.txt --remove-code --add-kaomoji   remove and add entries
  polytok doctor tokenizer.json            find problems in a file
  polytok diff tokenizer.json model.gguf   what differs between two tokenizers
  polytok trace 'I love you' -m llama.model    what happens to a text, step by step
  polytok web llama.model                  a local page that shows tokens while one types
  polytok train *.txt --vocab-size 8000 -o tokenizer.json   train a vocabulary

`polytok VERB --help` lists the options of a verb.
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the command and returns its exit code.

    Args:
        argv: The arguments without the program's name; by default the arguments of the process.

    Raises:
        SystemExit: argparse finds wrong arguments, or has printed help or the version.
    """
    words = sys.argv[1:] if argv is None else argv
    # The modules of the other verbs are not imported, which takes half of the time of a short command.
    parser = create_parser(words[:1] if words and words[0] in _VERBS else _VERBS)
    arguments = argparse.Namespace(verb_parser=parser)  # the parser of a verb replaces it
    try:
        try:
            parser.parse_args(words, arguments)
            exit_code: int = arguments.run(arguments)
            return exit_code
        finally:
            sys.stdout.flush()
    except BrokenPipeError:
        return _discard_output()
    except KeyboardInterrupt:
        return _INTERRUPT_EXIT_CODE
    except (PolytokError, OSError, UnicodeError, MemoryError) as error:
        message = with_flags(_error_message(error, arguments), flags_of(arguments.verb_parser))
        print(f"polytok: {message}", file=sys.stderr)
        return 1 if isinstance(error, LossError) else 2


def create_parser(verbs: Sequence[str] = _VERBS) -> argparse.ArgumentParser:
    """Returns the parser of the command, with a parser for each of these verbs."""
    parser = HelpfulParser(
        prog="polytok",
        description="One exact, fast tokenizer engine for every subword vocabulary.",
        epilog=_EXAMPLES_HELP,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    add_version_option(parser)
    add_completion_option(parser)
    subparsers = parser.add_subparsers(title="verbs", metavar="VERB", required=True, parser_class=HelpfulParser)
    for verb in verbs:
        importlib.import_module(f".{verb.replace('-', '_')}", __package__).add_parser(subparsers)
    return parser


def _error_message(error: Exception, arguments: argparse.Namespace) -> str:
    if isinstance(error, OSError) and error.filename is not None:
        prefix = "" if isinstance(error, FileError) else "cannot read: "
        hint = missing_input_hint(arguments, error.filename) if error.errno == errno.ENOENT else ""
        return f"{error.filename}: {prefix}{marked_reason(error)}{hint}"
    if isinstance(error, MemoryError):
        return str(error) or "the system refused memory; free memory, or process less at a time"
    if isinstance(error, SpecialTokenError):
        mark_engine_keywords(error, "special", "reject_special")
    return marked_message(error)


def _discard_output() -> int:
    """Redirects standard output to the null device and returns the exit code for a closed pipe.

    Python flushes standard output once more when it exits. Without the redirection, that flush would fail too.
    """
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return _CLOSED_PIPE_EXIT_CODE
