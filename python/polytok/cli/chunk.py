"""``polytok chunk``: cuts texts into chunks of a number of tokens."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..errors import ArgumentError
from ..keywords import marked_message
from ..tokenizer import Tokenizer
from .inputs import add_input_options
from .json_output import add_json_option, json_list_parts
from .models import add_model_options, load_tokenizer, take_model_of_inputs
from .options import add_encoding_options, add_verb_parser, encode_options, open_output
from .outputs import OUTPUT_HELP, add_overwrite_option, check_outputs
from .parsers import parse_count
from .style import escape_line_breaks, piece_to_json
from .texts import labelled_texts

_EXAMPLES = """\
  polytok chunk book.txt --max-tokens 512
  polytok chunk book.txt --max-tokens 512 --overlap 64 --at sentence --to json > chunks.jsonl
  polytok chunk -m llama.model --add-special corpus.jsonl --max-tokens 256 --at line
"""


def add_parser(subparsers: Any) -> None:
    """Adds the parser of ``chunk`` to ``subparsers``."""
    parser = add_verb_parser(subparsers, "chunk", "cut texts into chunks of a number of tokens", _EXAMPLES)
    add_model_options(parser)
    add_input_options(parser, ["error", "replace", "skip", "keep"], "by default keep")
    parser.add_argument("--max-tokens", type=parse_count, required=True, metavar="N", help="the most tokens of a chunk")
    parser.add_argument(
        "--overlap", type=parse_count, default=0, metavar="N", help="the most tokens that a chunk repeats; by default 0"
    )
    parser.add_argument(
        "--at",
        choices=["token", "word", "line", "sentence"],
        default="token",
        help="where a chunk ends if possible: after a token (the default), a word, a line or a sentence",
    )
    form_group = parser.add_mutually_exclusive_group()
    form_group.add_argument(
        "--to",
        choices=["text", "json"],
        default="text",
        help="text (the default): a line for each chunk, with escapes for line breaks; json: a line with a JSON object "
        "for each",
    )
    add_json_option(form_group)
    parser.add_argument("-o", "--out", metavar="FILE", type=Path, help=OUTPUT_HELP)
    add_overwrite_option(parser)
    add_encoding_options(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Cuts the texts and writes the chunks. Returns exit code 0."""
    take_model_of_inputs(arguments)
    check_outputs(arguments, [arguments.out])
    tokenizer = load_tokenizer(arguments)
    tokenizer.chunk("", arguments.max_tokens, overlap=arguments.overlap)  # checks the options before texts are read
    rows = (
        row
        for texts in labelled_texts(arguments, "file")
        for index, text in enumerate(texts.texts)
        for row in _rows(arguments, tokenizer, texts.place(index), text)
    )
    with open_output(arguments.out) as file:
        if arguments.json:
            parts = json_list_parts(rows)
        elif arguments.to == "json":
            parts = (json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        else:
            parts = (_line(row) for row in rows)
        for part in parts:
            file.write(part.encode(errors="surrogateescape"))
    return 0


def _rows(arguments: argparse.Namespace, tokenizer: Tokenizer, place: str, text: bytes) -> Iterator[dict[str, Any]]:
    """Yields the chunks of a text. ``place`` describes where the text is."""
    options = encode_options(arguments)
    try:
        byte_spans = tokenizer.chunk(
            text, arguments.max_tokens, overlap=arguments.overlap, at=arguments.at, options=options
        ).tolist()
    except ArgumentError as error:
        raise ArgumentError(f"{escape_line_breaks(place)}: {marked_message(error)}") from error
    chunks = [text[start:end] for start, end in byte_spans]
    counts = tokenizer.count_batch(chunks, options=options).tolist()
    for (start, end), chunk, tokens in zip(byte_spans, chunks, counts, strict=True):
        yield {"place": place, "byte_span": [start, end], "tokens": tokens, "text": piece_to_json(chunk)}


def _line(row: dict[str, Any]) -> str:
    text = row["text"] if isinstance(row["text"], str) else bytes(row["text"]).decode(errors="backslashreplace")
    return f"{escape_line_breaks(text)}\n"
