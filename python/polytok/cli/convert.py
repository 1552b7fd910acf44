"""``polytok convert``: writes a tokenizer file in another format and reports what the new file cannot hold."""

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
from .options import add_tokenizer_verb_parser, binary_stdout, load_tokenizer

_EXAMPLES = """\
  polytok convert llama.model tokenizer.bin --to llama2c
  polytok convert o200k_base.tiktoken tokenizer.json --strict
  polytok convert tokenizer.json model.gguf --verify "Hello, world" "x = 1"
"""


def add_parser(subparsers: Any) -> None:
    """Adds the parser of ``convert`` to ``subparsers``."""
    parser = add_tokenizer_verb_parser(
        subparsers, "convert", "write a tokenizer file in another format", _EXAMPLES, positional_name="IN"
    )
    parser.add_argument("out", metavar="OUT", help="the file to write; an existing file is replaced")
    names = [format.name for format in all_formats()]
    parser.add_argument(
        "--to",
        choices=[name for name in names if name != "bpe_files"],
        help="the format to write; by default chosen by the name of OUT",
    )
    parser.add_argument(
        "--strict", action="store_true", help="write nothing if the format loses data or any text gets different ids"
    )
    parser.add_argument(
        "--verify", nargs="+", metavar="TEXT", help="compare both files on these texts instead of generated texts"
    )
    parser.add_argument("--verify-lines", metavar="FILE", help="compare both files on the lines of FILE")
    parser.add_argument("--json", action="store_true", help="print the report as a JSON object")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Converts the file, compares the two tokenizers, writes the result and prints a report.

    Returns exit code 1 in three cases: a text of the user gets different ids; a generated text gets different ids
    although the conversion lost nothing; or ``--strict`` prevented writing. Otherwise it returns 0.
    """
    tokenizer = load_tokenizer(arguments)
    target = Path(arguments.out)
    source_format = tokenizer.spec.origin.format
    format_name = arguments.to or format_of(target, source_format)
    texts = divergences.requested_texts(arguments.verify, arguments.verify_lines)
    result = convert(tokenizer, format_name, strict=arguments.strict, texts=texts)
    is_write_refused = arguments.strict and bool(result.divergences)
    if not is_write_refused:
        save_all(target, result.data, result.companions)
    if arguments.json:
        report = json.dumps(_report_as_json(result, is_written=not is_write_refused), ensure_ascii=False, indent=2)
    else:
        heading = f"{arguments.model} ({source_format}) to {target} ({format_name})"
        report = "\n".join(
            [heading + (": not written" if is_write_refused else ""), *_report_lines(result, source_format)]
        )
    binary_stdout().write(f"{report}\n".encode(errors="surrogateescape"))
    is_divergence_failure = texts is not None or is_write_refused or not result.losses
    return 1 if result.divergences and is_divergence_failure else 0


def _report_lines(result: Conversion, source_format: str) -> list[str]:
    lines = []
    for heading, rows in (("lost", result.losses), ("other differences, for no valid text", result.notes)):
        lines += [heading, *(f"  {row}" for row in rows)] if rows else []
    if not result.losses:
        lines.append("nothing is lost")
    equal_text_count = result.checked - len(result.divergences)
    lines.append(f"{equal_text_count} of {result.checked} texts have the same ids")
    if result.divergences:
        lines += divergences.describe_divergence(result.divergences[0], source_format, result.format)
    return lines


def _report_as_json(result: Conversion, *, is_written: bool) -> dict[str, Any]:
    return {
        "format": result.format,
        "written": is_written,
        "losses": list(result.losses),
        "notes": list(result.notes),
        "texts": result.checked,
        "divergences": [divergences.divergence_to_json(divergence) for divergence in result.divergences],
    }
