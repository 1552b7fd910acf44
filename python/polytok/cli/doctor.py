"""``polytok doctor``: problems of a tokenizer file, and its differences from one that should be the same."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from typing import Any

from ..doctor import Diagnosis, Finding, examine
from ..loading import load
from . import divergences
from .options import add_verb, load_tokenizer, stdout
from .style import one_line

_EXAMPLES = """\
  polytok doctor tokenizer.json
  polytok doctor model.gguf --against tokenizer.json
  polytok doctor model.gguf --against tokenizer.json "Hello  world" "x = 1"
"""


def add_parser(verbs: Any) -> None:
    """Add the verb."""
    parser = add_verb(verbs, "doctor", "tell what is wrong with a tokenizer file", _EXAMPLES, source="MODEL")
    parser.add_argument(
        "texts", nargs="*", metavar="TEXT", help="texts to compare on, or without --against, to encode and decode"
    )
    parser.add_argument("--against", metavar="OTHER", help="a file that should give the same ids")
    parser.add_argument("--lines", metavar="FILE", help="the lines of a file as further texts")
    parser.add_argument("--json", action="store_true", help="the findings as an object")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Examine the file; exit code 1 if anything except notes is found."""
    texts = divergences.texts(arguments.texts or None, arguments.lines)
    against = None if arguments.against is None else load(arguments.against)
    diagnosis = examine(load_tokenizer(arguments), against, texts)
    if arguments.json:
        shown = json.dumps(_record(diagnosis), ensure_ascii=False, indent=2)
    else:
        shown = "\n".join(_lines(diagnosis, arguments))
    stdout().write(f"{shown}\n".encode(errors="surrogateescape"))
    return 0 if diagnosis.is_well else 1


def _lines(diagnosis: Diagnosis, arguments: argparse.Namespace) -> Iterator[str]:
    for finding in diagnosis.findings:
        yield f"{finding.severity.name.lower()}: {one_line(finding.message)} [{finding.id}]"
        yield f"  {one_line(finding.advice)}"
    for found in diagnosis.divergences:
        yield from divergences.lines(found, arguments.model, arguments.against)
    if not diagnosis.findings:
        yield "nothing found"


def _record(diagnosis: Diagnosis) -> dict[str, Any]:
    return {
        "well": diagnosis.is_well,
        "findings": [_finding(finding) for finding in diagnosis.findings],
        "divergences": [divergences.record(found) for found in diagnosis.divergences],
    }


def _finding(finding: Finding) -> dict[str, str]:
    return {
        "id": finding.id,
        "severity": finding.severity.name.lower(),
        "message": finding.message,
        "advice": finding.advice,
    }
