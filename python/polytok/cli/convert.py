"""``polytok convert``: a tokenizer file in another format, with a report of what is lost."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from ..convert import Conversion, convert
from ..file_names import format_of
from ..files import save_all
from ..formats import all_formats
from . import divergences
from .options import add_verb, load_tokenizer, stdout

_EXAMPLES = """\
  polytok convert llama.model tokenizer.bin --to llama2c
  polytok convert o200k_base.tiktoken tokenizer.json --strict
  polytok convert tokenizer.json model.gguf --verify "Hello, world" "x = 1"
"""


def add_parser(verbs: Any) -> None:
    """Add the verb."""
    parser = add_verb(verbs, "convert", "write a tokenizer file in another format", _EXAMPLES, source="IN")
    parser.add_argument("out", metavar="OUT", help="the file to write, which is replaced")
    names = [known.name for known in all_formats()]
    parser.add_argument(
        "--to",
        choices=[name for name in names if name != "bpe_files"],
        help="the format to write, if the name of OUT does not tell",
    )
    parser.add_argument("--strict", action="store_true", help="write nothing if anything is lost, or any text differs")
    parser.add_argument(
        "--verify", nargs="+", metavar="TEXT", help="compare on these texts, instead of on some that are made up"
    )
    parser.add_argument("--verify-lines", metavar="FILE", help="compare on the lines of a file")
    parser.add_argument("--json", action="store_true", help="the report as an object")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Convert, compare, write, report.

    Exit code 1: a given text differs, or a generated one although nothing is lost, or nothing was written.
    """
    tokenizer = load_tokenizer(arguments)
    target = Path(arguments.out)
    origin = tokenizer.spec.origin.format
    format_name = arguments.to or format_of(target, origin)
    texts = divergences.texts(arguments.verify, arguments.verify_lines)
    result = convert(tokenizer, format_name, strict=arguments.strict, texts=texts)
    refused = arguments.strict and bool(result.divergences)
    if not refused:
        save_all(target, result.data, result.companions)
    if arguments.json:
        report = json.dumps(_record(result, written=not refused), ensure_ascii=False, indent=2)
    else:
        heading = f"{arguments.model} ({origin}) to {target} ({format_name})"
        report = "\n".join([heading + (": not written" if refused else ""), *_lines(result, origin)])
    stdout().write(f"{report}\n".encode(errors="surrogateescape"))
    is_surprise = texts is not None or refused or not result.losses
    return 1 if result.divergences and is_surprise else 0


def _lines(result: Conversion, origin: str) -> list[str]:
    listed = []
    for heading, rows in (("lost", result.losses), ("other differences, for no valid text", result.notes)):
        listed += [heading, *(f"  {row}" for row in rows)] if rows else []
    if not result.losses:
        listed.append("nothing is lost")
    equal = result.checked - len(result.divergences)
    listed.append(f"{equal} of {result.checked} texts have the same ids")
    if result.divergences:
        listed += divergences.lines(result.divergences[0], origin, result.format)
    return listed


def _record(result: Conversion, *, written: bool) -> dict[str, Any]:
    return {
        "format": result.format,
        "written": written,
        "losses": list(result.losses),
        "notes": list(result.notes),
        "texts": result.checked,
        "divergences": [divergences.record(found) for found in result.divergences],
    }
