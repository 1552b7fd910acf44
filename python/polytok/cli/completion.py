"""The option ``--print-completion``, which prints a script that completes arguments in a shell."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

_SHELLS = ("bash", "zsh", "tcsh")


class _PrintCompletion(argparse.Action):
    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: str | Sequence[Any] | None,
        option_string: str | None = None,
    ) -> None:
        try:
            import shtab
        except ImportError:
            parser.error("shell completion needs the package shtab: pip install 'polytok[completion]'")
        print(shtab.complete(parser, shell=str(values)))
        parser.exit()


def add_completion_option(parser: argparse.ArgumentParser) -> None:
    """Adds the option ``--print-completion`` to the parser of the command."""
    parser.add_argument(
        "--print-completion",
        choices=_SHELLS,
        action=_PrintCompletion,
        help="print a script that completes the arguments of polytok in a shell",
    )
