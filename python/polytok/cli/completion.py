"""The option ``--print-completion``, which prints a script that completes arguments in a shell."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from typing import Any

from ..model_names import VOCABULARY_OF_MODEL
from ..named import FILES
from ..training import KINDS

_SHELLS = ("bash", "zsh", "tcsh")
_FUNCTION = "_polytok_models"
_MODEL_METAVARS = ("MODEL", "OTHER")
_MODEL_COMPLETION = {"bash": _FUNCTION, "zsh": _FUNCTION, "tcsh": "f"}  # tcsh completes only files here
_PATH_METAVARS = {
    **dict.fromkeys(("FILE", "INPUT", "IN", "OUT", "COUNTS", "PREFIX"), "file"),
    **dict.fromkeys(("DIR", "OUTDIR", "NEWDIR"), "folder"),
}


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
        _prepare(parser, {"file": shtab.FILE, "folder": shtab.DIRECTORY})
        complete: Any = shtab.complete  # its annotations do not allow a preamble for each shell
        print(complete(parser, shell=str(values), preamble=_preambles()))
        parser.exit()


def _prepare(parser: argparse.ArgumentParser, path_completions: Mapping[str, Any]) -> None:
    """Adds to the parser of each verb the options of all kinds, and what its arguments are completed to."""
    if add_dependent_options := parser.get_default("add_dependent_options"):
        parser.conflict_handler = "resolve"  # several kinds have options of the same name
        for kind in KINDS:
            add_dependent_options(parser, ["--kind", kind.name])
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for verb_parser in action.choices.values():
                _prepare(verb_parser, path_completions)
        elif action.metavar in _MODEL_METAVARS:
            action.complete = _MODEL_COMPLETION  # type: ignore[attr-defined]
        elif action.metavar in _PATH_METAVARS:
            completion = path_completions[_PATH_METAVARS[action.metavar]]
            action.complete = completion  # type: ignore[attr-defined]


def _preambles() -> dict[str, str]:
    """Returns for each shell the function that completes the name or the file of a tokenizer."""
    names = " ".join(["default", *sorted({*FILES, *VOCABULARY_OF_MODEL})])
    return {
        "bash": f'{_FUNCTION}() {{ compgen -W "{names}" -- $1; compgen -f -- $1; }}\n',
        "zsh": f'{_FUNCTION}() {{ _alternative "names:tokenizer:({names})" "files:file:_files" }}\n',
    }


def add_completion_option(parser: argparse.ArgumentParser) -> None:
    """Adds the option ``--print-completion`` to the parser of the command."""
    parser.add_argument(
        "--print-completion",
        choices=_SHELLS,
        action=_PrintCompletion,
        help="print a script that completes the arguments of polytok in a shell",
    )
