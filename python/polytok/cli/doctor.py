"""``polytok doctor``: finds problems of a tokenizer file, and differences between two files that should agree."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Any

from ..doctor import Diagnosis, Finding, examine
from ..loading import load
from . import divergences
from .inputs import add_input_options
from .json_output import add_json_option, print_json
from .models import add_model_argument, add_model_options, load_tokenizer, model_name, positional_arguments
from .options import add_verb_parser, binary_stdout
from .style import escape_line_breaks, shorten_list
from .texts import requested_texts

_EXAMPLES = """\
  polytok doctor tokenizer.json
  polytok doctor model.gguf --against tokenizer.json
  polytok doctor model.gguf --against tokenizer.json --text "Hello  world" --text "x = 1"
  polytok doctor model.gguf --against tokenizer.json --lines texts.txt
"""


def add_parser(subparsers: Any) -> None:
    """Adds the parser of ``doctor`` to ``subparsers``."""
    parser = add_verb_parser(subparsers, "doctor", "find problems of a tokenizer file", _EXAMPLES)
    add_model_argument(parser)
    add_input_options(parser, ["error", "replace", "skip", "keep"], "by default keep")
    add_model_options(parser)
    parser.add_argument("--against", metavar="OTHER", help="a tokenizer that should return the same ids")
    add_json_option(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Examines the file and prints the findings. Returns exit code 1 if any finding is more than a note, else 0."""
    arguments.inputs = positional_arguments(arguments, "inputs")
    texts, places = requested_texts(arguments) or (None, [])
    other_tokenizer = None if arguments.against is None else load(arguments.against)
    diagnosis = examine(load_tokenizer(arguments), other_tokenizer, texts)
    if arguments.json:
        print_json(_diagnosis_to_json(diagnosis, places))
    else:
        report = "\n".join(_report_lines(diagnosis, arguments, places))
        binary_stdout().write(f"{report}\n".encode(errors="surrogateescape"))
    return 0 if diagnosis.is_well else 1


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
