"""Hints for an input that was meant as a value of an option, and for a value that was meant as an input."""

from __future__ import annotations

import argparse
import os
import shlex
from collections.abc import Iterator

from .parsers import HelpfulParser

_MODEL_FLAGS = ("-m", "--model")


def missing_input_hint(arguments: argparse.Namespace, file_name: str) -> str:
    """Returns the part of the error about a missing file that says how to write the name, if it is not a file's."""
    names = [name for name in getattr(arguments, "inputs", None) or () if _is_same_path(name, file_name)]
    if not names:
        return ""
    repeat_hint = next(_repeat_hints(arguments.verb_parser, names[0]), "")
    accepts_text = hasattr(arguments, "text") and not repeat_hint.startswith("; --text ")
    return repeat_hint + "; for a text on the command line, use --text" * accepts_text


def no_input_hint(arguments: argparse.Namespace) -> str:
    """Returns the part of the error about missing inputs with the options whose value is the name of a file."""
    return "".join(_role_hints(arguments))


def _repeat_hints(parser: HelpfulParser, name: str) -> Iterator[str]:
    """Yields how to repeat an option, for each repeatable option whose value is followed by the input ``name``.

    ``-m`` is an exception: the word after a tokenizer is usually an input with a wrong name.
    """
    words = parser.all_arguments
    for flag, value, following in zip(words, words[1:], words[2:], strict=False):
        action = parser._option_string_actions.get(flag)
        if following != name or flag in _MODEL_FLAGS:
            continue
        if isinstance(action, argparse._AppendAction) and action.nargs is None:
            noun = str(action.metavar or "value").rpartition("|")[2].lower()
            repeated = shlex.join((flag, value, flag, name))
            yield f"; {flag} takes one {noun}: repeat it for each, as in {repeated}"


def _role_hints(arguments: argparse.Namespace) -> Iterator[str]:
    for name in ("bos", "eos"):
        piece = getattr(arguments, name, None)
        if isinstance(piece, str) and os.path.exists(piece):
            yield f"; --{name} has taken {piece!r} as its piece: write the input before --{name}"


def _is_same_path(name: str, file_name: str) -> bool:
    return file_name in (name, os.path.abspath(name))
