"""``polytok doctor``: finds problems of a tokenizer file, and differences between two files that should agree."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from .. import lists
from ..doctor import Diagnosis, Finding, examine
from ..errors import ArgumentError
from ..loading import load
from ..reach import usages
from . import divergences
from .inputs import add_input_options, input_names
from .json_output import add_json_option, print_json
from .models import add_model_argument, add_model_options, load_tokenizer, model_name, positional_arguments
from .options import add_verb_parser, binary_stdout
from .style import escape_line_breaks, shorten_list
from .texts import requested_texts
from .usage import one_token_lines, usage_to_json

_EXAMPLES = """\
  polytok doctor tokenizer.json
  polytok doctor model.gguf --against tokenizer.json
  polytok doctor model.gguf --against tokenizer.json --text "Hello  world" --text "x = 1"
  polytok doctor model.gguf --against tokenizer.json --lines texts.txt
  polytok doctor rwkv_vocab.txt --one-token emoji --one-token kaomoji
"""


def add_parser(subparsers: Any) -> None:
    """Adds the parser of ``doctor`` to ``subparsers``."""
    parser = add_verb_parser(subparsers, "doctor", "find problems of a tokenizer file", _EXAMPLES)
    add_model_argument(parser)
    add_input_options(parser, ["error", "replace", "skip", "keep"], "by default keep")
    add_model_options(parser)
    parser.add_argument("--against", metavar="OTHER", help="a tokenizer that should return the same ids")
    parser.add_argument(
        "--one-token",
        action="append",
        default=[],
        metavar="LIST",
        help="show whether each text in LIST is one token at the start of a text, after a letter, after a space and "
        "after a line feed; LIST is a file with a text on each line, emoji, or kaomoji; can be repeated",
    )
    add_json_option(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Examines the file and prints the findings. Returns exit code 1 if any finding is more than a note, else 0.

    With ``--against``, the exit code only answers whether ids differ.
    """
    arguments.inputs = positional_arguments(arguments, "inputs")
    if arguments.one_token:
        return _run_one_token(arguments)
    texts, places = requested_texts(arguments) or (None, [])
    other_tokenizer = None if arguments.against is None else load(arguments.against)
    diagnosis = examine(load_tokenizer(arguments), other_tokenizer, texts)
    if arguments.json:
        same_ids = None if other_tokenizer is None else diagnosis.same_ids
        print_json({"same_ids": same_ids, **_diagnosis_to_json(diagnosis, places)})
    else:
        report = "\n".join(_report_lines(diagnosis, arguments, places))
        binary_stdout().write(f"{report}\n".encode(errors="surrogateescape"))
    return int(not (diagnosis.is_well if other_tokenizer is None else diagnosis.same_ids))


def _run_one_token(arguments: argparse.Namespace) -> int:
    """Prints whether the texts of lists are one token. Returns exit code 1 if any text is not, else 0."""
    if arguments.against is not None or arguments.text or input_names(arguments):
        raise ArgumentError("--one-token examines the texts of its lists: remove --against, --text and the inputs")
    tokenizer = load_tokenizer(arguments)
    usage_in_contexts = usages(tokenizer, [entry for name in arguments.one_token for entry in _texts_of_list(name)])
    if arguments.json:
        print_json({"usage": list(map(usage_to_json, usage_in_contexts))})
    else:
        report = "\n".join(one_token_lines(tokenizer.spec, usage_in_contexts))
        binary_stdout().write(f"{report}\n".encode(errors="surrogateescape"))
    return int(any(usage.unused for usage in usage_in_contexts))


def _texts_of_list(name: str) -> Sequence[lists.Entry]:
    """Returns the texts of a list with a name, or the path of a list."""
    if name == "emoji":
        return lists.emoji()
    return lists.kaomoji() if name == "kaomoji" else [Path(name)]


def _report_lines(diagnosis: Diagnosis, arguments: argparse.Namespace, places: list[str]) -> Iterator[str]:
    if diagnosis.compared:
        equal_count = diagnosis.compared - len(diagnosis.divergences)
        yield f"{equal_count} of {diagnosis.compared} texts have the same ids"
    for finding in diagnosis.findings:
        place = "" if finding.index is None else f"{places[finding.index]}: "
        yield f"{finding.severity.name.lower()}: {escape_line_breaks(place + finding.message)} [{finding.id}]"
        yield f"  {escape_line_breaks(finding.advice)}"
    yield from shorten_list(
        "\n".join(divergences.describe_divergence(divergence, model_name(arguments), arguments.against, places))
        for divergence in diagnosis.divergences
    )
    if not diagnosis.findings:
        yield "nothing found"


def _diagnosis_to_json(diagnosis: Diagnosis, places: list[str]) -> dict[str, Any]:
    return {
        "well": diagnosis.is_well,
        "compared": diagnosis.compared,
        "findings": [_finding_to_json(finding, places) for finding in diagnosis.findings],
        "divergences": [divergences.divergence_to_json(divergence, places) for divergence in diagnosis.divergences],
    }


def _finding_to_json(finding: Finding, places: list[str]) -> dict[str, str | None]:
    return {
        "id": finding.id,
        "severity": finding.severity.name.lower(),
        "message": finding.message,
        "advice": finding.advice,
        "place": None if finding.index is None else places[finding.index],
    }
