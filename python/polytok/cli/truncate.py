"""``polytok truncate``: cuts texts to a number of tokens."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

from .inputs import add_input_options
from .json_output import add_json_option, json_list_parts
from .models import add_model_options, load_tokenizer, take_model_of_inputs
from .options import add_encoding_options, add_verb_parser, encode_options, open_output
from .outputs import OUTPUT_HELP, add_overwrite_option, check_outputs
from .parsers import parse_count
from .style import piece_to_json
from .texts import named_texts

_EXAMPLES = """\
  polytok truncate book.txt --max-tokens 512
  polytok truncate chat.txt --max-tokens 512 --direction left   the end of the text
  polytok truncate -m llama.model --add-special --lines texts.txt --max-tokens 16
  polytok truncate prompts.jsonl --max-tokens 16 --to json > short.jsonl
"""


def add_parser(subparsers: Any) -> None:
    """Adds the parser of ``truncate`` to ``subparsers``."""
    parser = add_verb_parser(subparsers, "truncate", "cut texts to a number of tokens", _EXAMPLES)
    add_model_options(parser)
    add_input_options(parser, ["error", "replace", "skip", "keep"], "by default keep")
    parser.add_argument(
        "--max-tokens", type=parse_count, required=True, metavar="N", help="the most tokens that a text keeps"
    )
    parser.add_argument(
        "--direction",
        choices=["right", "left"],
        default="right",
        help="the side that is cut: right (the default) keeps the start of a text, and left its end",
    )
    form_group = parser.add_mutually_exclusive_group()
    form_group.add_argument(
        "--to",
        choices=["text", "json"],
        default="text",
        help="text (the default): one text as it is, and several with a line break after each; json: a line with a "
        "JSON object for each",
    )
    add_json_option(form_group)
    parser.add_argument("-o", "--out", metavar="FILE", type=Path, help=OUTPUT_HELP)
    add_overwrite_option(parser)
    add_encoding_options(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Truncates the texts and writes them. Returns exit code 0."""
    take_model_of_inputs(arguments)
    check_outputs(arguments, [arguments.out])
    rows = _rows(arguments)
    with open_output(arguments.out) as file:
        if arguments.json:
            parts = json_list_parts(map(_row_to_json, rows))
        elif arguments.to == "json":
            parts = (json.dumps(_row_to_json(row), ensure_ascii=False) + "\n" for row in rows)
        else:
            file.writelines(_texts(rows, ends_line=file.isatty()))
            return 0
        for part in parts:
            file.write(part.encode())
    return 0


def _rows(arguments: argparse.Namespace) -> Iterator[tuple[bytes, int, bool]]:
    """Yields each truncated text, the number of its tokens, and whether it was truncated."""
    tokenizer, options = load_tokenizer(arguments), encode_options(arguments)
    for _, texts in named_texts(arguments):
        cut_texts = tokenizer.truncate_batch(
            texts, arguments.max_tokens, direction=arguments.direction, options=options
        )
        counts = tokenizer.count_batch(cut_texts, options=options).tolist()
        for text, cut_text, count in zip(texts, cut_texts, counts, strict=True):
            yield cut_text, count, len(cut_text) < len(text)


def _row_to_json(row: tuple[bytes, int, bool]) -> dict[str, Any]:
    text, tokens, is_truncated = row
    return {"text": piece_to_json(text), "tokens": tokens, "truncated": is_truncated}


def _texts(rows: Iterator[tuple[bytes, int, bool]], *, ends_line: bool) -> Iterator[bytes]:
    """Yields a single text unchanged, and several texts with a line break after each."""
    first_rows = [row for _, row in zip(range(2), rows, strict=False)]
    end = b"\n" if len(first_rows) > 1 or ends_line else b""
    return (text + end for text, _, _ in chain(first_rows, rows))
