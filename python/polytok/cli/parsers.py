"""A parser of arguments whose errors show the usage of the verb, and suggest the name that was probably meant."""

from __future__ import annotations

import argparse
import sys
from typing import Any, NoReturn

from ..suggestions import did_you_mean


class HelpfulParser(argparse.ArgumentParser):
    """The parser of the command or of a verb. Options can stand before, between or after positional arguments."""

    _is_parsing_intermixed = False

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parses options that can stand between positional arguments, and stores the values in ``namespace``.

        Exits with the usage of the verb for an unknown option.
        """
        # argparse cannot mix options and positional arguments in a parser that has subparsers. The parser of each
        # subverb mixes them.
        if self._is_parsing_intermixed or self._subparsers is not None:
            return super().parse_known_args(args, namespace)
        self._is_parsing_intermixed = True
        # Some verbs have options that depend on other arguments, such as --kind. These options are added here.
        if add_dependent_options := self.get_default("add_dependent_options"):
            add_dependent_options(self, sys.argv[1:] if args is None else args)
        try:
            namespace, unknown = self.parse_known_intermixed_args(args, namespace)
        finally:
            self._is_parsing_intermixed = False
        if unknown:
            self._refuse(unknown)
        return namespace, unknown

    def _refuse(self, unknown: list[str]) -> NoReturn:
        first = next((argument for argument in unknown if argument.startswith("-")), unknown[0])
        suggestion = did_you_mean(first.partition("=")[0], self._option_string_actions)
        self.error(f"unrecognized arguments: {' '.join(unknown)}{suggestion}")

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is not None and value not in action.choices:
            choices = list(map(str, action.choices))
            suggestion = did_you_mean(str(value), choices)
            raise argparse.ArgumentError(action, f"invalid choice: {value!r}, not {', '.join(choices)}{suggestion}")
