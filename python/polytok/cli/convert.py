"""``polytok convert``: writes a tokenizer file in another format and reports what the new file cannot hold."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..convert import Conversion, convert
from ..errors import ArgumentError
from . import divergences
from .inputs import add_input_options
from .json_output import add_json_option, print_json
from .models import (
    add_model_argument,
    add_model_options,
    load_tokenizer,
    model_name,
    positional_arguments,
    refuse_second_model,
)
from .options import add_verb_parser, binary_stdout
from .outputs import NewFile, add_output_options, check_outputs, chosen_format, refuse_folder, refuse_input, save_files
from .style import piece_to_json, shorten_list
from .texts import requested_texts
from .wording import note_with_flags

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
    add_output_options(parser, is_required=False)
    parser.add_argument(
        "--strict",
        action="store_true",
        help="write nothing if the format loses data, or any text is encoded or decoded differently",
    )
    add_json_option(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Converts the file, compares the two tokenizers, writes the result and prints a report.

    Returns exit code 1 in three cases: a text of the user gets different ids; a generated text gets different ids
    although the conversion lost nothing; or ``--strict`` prevented writing. Otherwise it returns 0.
    """
    target = _take_target(arguments)
    check_outputs(arguments, [target])
    tokenizer = load_tokenizer(arguments)
    source_format = tokenizer.spec.origin.format
    format_name = chosen_format(arguments, target, source_format)
    texts, places = requested_texts(arguments) or (None, [])
    # With --json, a refusal is a report too; otherwise it is an error with the losses.
    is_strict_error = arguments.strict and not arguments.json
    result = convert(tokenizer, format_name, strict=is_strict_error, texts=texts, path=target)
    is_write_refused = arguments.strict and not result.keeps_everything
    is_copy = _has_bytes(model_name(arguments), result.data)
    if not is_write_refused:
        save_files(arguments, [NewFile(target, result.data, result.companions)])
    summary = "the same bytes" if is_copy else result.summary
    if arguments.json:
        facts = {"summary": summary, **report_as_json(result, places), "written": not is_write_refused, "copy": is_copy}
        print_json(facts)
    else:
        first_line = f"{target}: {'not written; ' if is_write_refused else ''}{summary}"
        heading = f"{model_name(arguments)} ({source_format}) to {target} ({format_name})"
        report = "\n".join([first_line, heading, *([] if is_copy else _report_lines(result, source_format, places))])
        binary_stdout().write(f"{report}\n".encode(errors="surrogateescape"))
    is_divergence_failure = bool(result.divergences) and (texts is not None or not result.losses)
    return 1 if is_write_refused or is_divergence_failure else 0


def _has_bytes(name: str, data: bytes) -> bool:
    """Reports whether a tokenizer's file has these bytes. A name or a folder is not a file."""
    path = Path(name)
    return path.is_file() and path.stat().st_size == len(data) and path.read_bytes() == data


def _take_target(arguments: argparse.Namespace) -> Path:
    """Returns the file to write, and sets the inputs to the positional arguments after it."""
    names = positional_arguments(arguments, "target", "inputs")
    is_only_target = arguments.out is None and len(names) == 1  # it can be a tokenizer file to replace
    if arguments.out is None and not names:
        raise ArgumentError("no file to write: name it after the tokenizer, or with -o")
    out = arguments.out or names.pop(0)
    arguments.inputs = names
    refuse_folder(out)
    refuse_input(arguments, Path(out))
    if not is_only_target:
        refuse_second_model(arguments)
    return Path(out)


def _report_lines(result: Conversion, source_format: str, places: list[str]) -> list[str]:
    lines = []
    loss_heading = f"{result.format} itself differs from {source_format}" if result.is_reference_export else "lost"
    note_heading = "other differences, for no valid text without special tokens"
    for heading, rows in ((loss_heading, result.losses), (note_heading, result.notes)):
        lines += [heading, *(f"  {note_with_flags(row)}" for row in shorten_list(rows))] if rows else []
    lines += decoding_lines(result)
    if result.divergences:
        lines += divergences.describe_divergence(result.divergences[0], source_format, result.format, places)
    return lines


def decoding_lines(result: Conversion) -> list[str]:
    """Returns a line with the first text that is decoded differently from the same ids."""
    pairs = [
        [json.dumps(data.decode(errors="replace"), ensure_ascii=False) for data in pair] for pair in result.decoded
    ]
    return [f"decoded differently: {before} becomes {after}" for before, after in pairs[:1]]


def report_as_json(result: Conversion, places: Sequence[str] = ()) -> dict[str, Any]:
    """Returns the facts of a conversion as a JSON value. ``places`` has the place of each text that was given."""
    return {
        "format": result.format,
        "kept_everything": result.keeps_everything,
        "reference_export": result.is_reference_export,
        "losses": list(result.losses),
        "notes": list(result.notes),
        "texts": result.checked,
        "same_ids": result.same_ids,
        "decoded_differently": [[piece_to_json(data) for data in pair] for pair in result.decoded],
        "lost_roles": dict(result.lost_roles),
        "divergences": [divergences.divergence_to_json(divergence, places) for divergence in result.divergences],
    }
