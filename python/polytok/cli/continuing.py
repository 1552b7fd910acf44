"""Writes the command that continues an unfinished job."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ..corpus.journal import TOKENIZER_NAME
from ..corpus.options import DocumentOptions


def continuing_command(plan: Mapping[str, Any], folder: Path) -> str:
    """Returns the command that continues the job with this plan in ``folder``.

    The options are those of the job, with ids instead of pieces, and the tokenizer is the copy in the folder.
    """
    if "mixture" in plan:
        return _mixing_command(plan["mixture"], folder)
    if "options" not in plan or "tokenizer" not in plan:
        return (
            f"polytok count-words, with the same inputs and options, and -o {shlex.quote(str(folder.with_suffix('')))}"
        )
    names = [source["name"] for source in plan["sources"]]
    defaults = asdict(DocumentOptions())
    input_options = _flags(plan["options"]["input_options"], defaults.pop("input_options"))
    options = {name: value for name, value in plan["options"].items() if name != "input_options"}
    flags = [*input_options, *_flags(options, defaults)]
    arguments = [*names, "-m", str(folder / TOKENIZER_NAME), *flags, "-o", str(folder)]
    return f"polytok tokenize {shlex.join(arguments)}"


def _mixing_command(mixture: Mapping[str, Any], folder: Path) -> str:
    datasets = [f"{dataset['name']}={dataset['weight']}" for dataset in mixture["datasets"]]
    options = {name: value for name, value in mixture.items() if name != "datasets"}
    defaults = {**asdict(DocumentOptions()), "epochs": 1}
    return f"polytok corpus mix {shlex.join([*datasets, *_flags(options, defaults), '-o', str(folder)])}"


def _flags(options: Mapping[str, Any], defaults: Mapping[str, Any]) -> Iterator[str]:
    """Yields the flags for the options that differ from their defaults."""
    for name, value in options.items():
        flag = f"--{name.replace('_', '-')}"
        if isinstance(value, list):
            for item in value:
                yield from (flag, item)
        elif value is True:
            yield flag
        elif value != defaults[name]:
            yield from (flag, _escaped(value) if name == "separator" else str(value))


def _escaped(separator: str) -> str:
    return separator.encode("unicode_escape").decode()
