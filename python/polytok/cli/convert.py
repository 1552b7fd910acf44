"""``polytok convert``: writes a tokenizer file in another format and reports what the new file cannot hold."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from ..convert import Conversion, convert
from ..errors import ArgumentError
from ..file_names import format_of
from ..files import save_all
from ..formats import all_formats
from . import divergences
from .inputs import add_input_options
from .models import add_model_argument, add_model_options, load_tokenizer, model_name, positional_arguments
from .options import add_verb_parser, binary_stdout
from .texts import requested_texts

_EXAMPLES = """\
  polytok convert llama.model tokenizer.bin --to llama2c
  polytok convert o200k_base.tiktoken tokenizer.json --strict
  polytok convert tokenizer.json model.gguf --text "Hello, world" --text "x = 1"
  polytok convert tokenizer.json model.gguf --lines texts.txt    compare both files on these texts
"""


def add_parser(subparsers: Any) -> None:
    """Adds the parser of ``convert`` to ``subparsers``."""
    parser = add_verb_parser(subparsers, "convert", "write a tokenizer file in another format", _EXAMPLES)
    add_model_argument(parser)
    parser.add_argument("target", nargs="?", metavar="OUT", help="the same as -o")
    add_input_options(parser, ["error", "replace", "skip", "keep"], "by default keep")
    add_model_options(parser)
    parser.add_argument("-o", "--out", help="the file to write; an existing file is replaced")
    parser.add_argument(
        "--to",
        choices=[format.name for format in all_formats() if format.name != "bpe_files"],
        help="the format to write; by default chosen by the name of OUT",
    )
    parser.add_argument(
        "--strict", action="store_true", help="write nothing if the format loses data or any text gets different ids"
    )
    parser.add_argument("--json", action="store_true", help="print the report as a JSON object")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Converts the file, compares the two tokenizers, writes the result and prints a report.

    Returns exit code 1 in three cases: a text of the user gets different ids; a generated text gets different ids
    although the conversion lost nothing; or ``--strict`` prevented writing. Otherwise it returns 0.
    """
    target = _take_target(arguments)
    tokenizer = load_tokenizer(arguments)
    source_format = tokenizer.spec.origin.format
    format_name = arguments.to or format_of(target, source_format)
    texts = requested_texts(arguments)
    result = convert(tokenizer, format_name, strict=arguments.strict, texts=texts, path=target)
    is_write_refused = arguments.strict and bool(result.divergences)
    if not is_write_refused:
        save_all(target, result.data, result.companions)
    if arguments.json:
        report = json.dumps(_report_as_json(result, is_written=not is_write_refused), ensure_ascii=False, indent=2)
    else:
        heading = f"{model_name(arguments)} ({source_format}) to {target} ({format_name})"
        report = "\n".join(
            [heading + (": not written" if is_write_refused else ""), *_report_lines(result, source_format)]
        )
    binary_stdout().write(f"{report}\n".encode(errors="surrogateescape"))
    is_divergence_failure = texts is not None or is_write_refused or not result.losses
    return 1 if result.divergences and is_divergence_failure else 0


def _take_target(arguments: argparse.Namespace) -> Path:
    """Returns the file to write, and sets the inputs to the positional arguments after it."""
    names = positional_arguments(arguments, "target", "inputs")
    if arguments.out is None and not names:
        raise ArgumentError("no file to write: name it after the tokenizer, or with -o")
    out = arguments.out or names.pop(0)
    arguments.inputs = names
    return Path(out)


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
