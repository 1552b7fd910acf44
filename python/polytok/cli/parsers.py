"""A parser of arguments whose errors are one message, which suggests the name that was probably meant."""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, NoReturn

from ..suggestions import did_you_mean
from ..training import KINDS
from . import kind_options

_MAX_USAGE_LINES = 3
_MAX_PLACES = 3


class _Positional(str):
    """An argument after ``--``, which is not an option even if it begins with a dash."""


class HelpfulParser(argparse.ArgumentParser):
    """The parser of the command or of a verb. Options can stand before, between or after positional arguments.

    ``all_arguments`` has the parsed words of the command line.
    """

    _is_parsing_intermixed = False
    all_arguments: Sequence[str] = ()

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parses options that can stand between positional arguments, and stores the values in ``namespace``.

        Exits with an error for an unknown option.
        """
        if self._is_parsing_intermixed:
            return super().parse_known_args(args, namespace)
        self.all_arguments = list(sys.argv[1:] if args is None else args)
        # argparse cannot mix options and positional arguments in a parser that has subparsers. The parser of each
        # subverb mixes them.
        if self._subparsers is not None:
            return super().parse_known_args(self.all_arguments, namespace)
        self._is_parsing_intermixed = True
        args = self.all_arguments = _mark_positionals(self.all_arguments)
        # Some verbs have options that depend on other arguments, such as --kind. These options are added here.
        if add_dependent_options := self.get_default("add_dependent_options"):
            add_dependent_options(self, args)
        try:
            namespace, unknown = self.parse_known_intermixed_args(args, namespace)
        finally:
            self._is_parsing_intermixed = False
        if unknown:
            self._refuse(unknown)
        return namespace, unknown

    def _parse_optional(self, arg_string: str) -> Any:
        return None if isinstance(arg_string, _Positional) else super()._parse_optional(arg_string)

    def _refuse(self, unknown: list[str]) -> NoReturn:
        first = next((argument for argument in unknown if argument.startswith("-")), unknown[0])
        name = first.partition("=")[0]
        suggestion = did_you_mean(name, self._option_string_actions)
        self.error(f"unrecognized arguments: {' '.join(unknown)}{self._hint(name)}{suggestion}")

    def _hint(self, name: str) -> str:
        """Returns the part of an error message with the kinds or the verbs that have an unknown option."""
        name = name.replace("_", "-")
        if name in self._option_string_actions:
            return ""
        places = [f"--kind {kind.name}" for kind in KINDS if name in kind_options.flags(kind)]
        if not places or not self.get_default("add_dependent_options"):
            places = [prog for prog, flags in _flags_of_verbs() if name.startswith("--") and name in flags]
        return f"; {name} is an option of {' and '.join(places)}" if 0 < len(places) <= _MAX_PLACES else ""

    def error(self, message: str) -> NoReturn:
        """Prints the message and the command for help, with the usage only if it is short, and exits."""
        usage = self.format_usage()
        shown_usage = usage if usage.count("\n") <= _MAX_USAGE_LINES else ""
        self.exit(2, f"{shown_usage}{self.prog}: {message}\nsee {self.prog} --help\n")

    def _match_argument(self, action: argparse.Action, arg_strings_pattern: str) -> int:
        try:
            return super()._match_argument(action, arg_strings_pattern)
        except argparse.ArgumentError as error:
            if hint := self._dash_hint(action):
                raise argparse.ArgumentError(action, f"{error.message}; {hint}") from error
            names = action.metavar if isinstance(action.metavar, str) else ", ".join(map(str, action.choices or ()))
            if action.nargs is not None or not names:
                raise
            raise argparse.ArgumentError(action, f"{error.message}: {names}") from error

    def _dash_hint(self, action: argparse.Action) -> str:
        """Returns how to write a value that begins with a dash; an empty text if no such value follows the option."""
        for flag, value in pairwise(self.all_arguments):
            name = value.partition("=")[0]
            if flag in action.option_strings and value.startswith("-") and name not in self._option_string_actions:
                return f"for a value that begins with a dash, write {flag}={shlex.quote(value)}"
        return ""

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is not None and value not in action.choices:
            choices = list(map(str, action.choices))
            suggestion = did_you_mean(str(value), choices)
            raise argparse.ArgumentError(action, f"invalid choice: {value!r}, not {', '.join(choices)}{suggestion}")


def parse_count(text: str) -> int:
    """Returns a whole number of 0 or more; for any other text, raises the error of argparse.

    >>> parse_count("16")
    16
    """
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of 0 or more")
    return int(text)


def _mark_positionals(arguments: list[str]) -> list[str]:
    """Marks the arguments after the first ``--``, because argparse forgets the ``--`` when it parses options between
    positional arguments."""
    if "--" not in arguments:
        return arguments
    index = arguments.index("--")
    return [*arguments[: index + 1], *map(_Positional, arguments[index + 1 :])]


def _flags_of_verbs() -> Iterator[tuple[str, set[str]]]:
    """Yields the name of each verb with its flags, such as ``polytok corpus info``."""
    from . import create_parser  # this module imports the verbs, which import this one

    yield from _flags_below(create_parser())


def _flags_below(parser: argparse.ArgumentParser) -> Iterator[tuple[str, set[str]]]:
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for verb in action.choices.values():
                yield verb.prog, set(verb._option_string_actions)
                yield from _flags_below(verb)
