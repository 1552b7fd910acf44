"""``polytok count``: counts the bytes, characters and tokens of texts."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ..options import Options
from ..tokenizer import Tokenizer
from .inputs import add_input_options
from .models import add_model_options, load_tokenizers, take_model_of_inputs
from .options import add_encoding_options, add_json_option, add_verb_parser, encode_options
from .style import escape_line_breaks
from .texts import labelled_texts

_EXAMPLES = """\
  polytok count *.txt
  polytok count -m gpt2 -m llama.model corpus.jsonl.zst   a column for each tokenizer
  polytok count -m llama.model --add-special --lines texts.txt
  polytok count --by folder data                          a row for each folder
  polytok count --by meta.language corpus.jsonl           a row for each value of a field
  polytok count --max 4096 prompts/*.txt                  exits with 1 if a text is longer
"""


class TextCounts(NamedTuple):
    """The counts of bytes and characters of some texts, and of tokens for each tokenizer."""

    bytes: int
    characters: int
    tokens: tuple[int, ...]

    def plus(self, other: TextCounts) -> TextCounts:
        """Returns the sum of two counts, field by field."""
        tokens = tuple(left + right for left, right in zip(self.tokens, other.tokens, strict=True))
        return TextCounts(self.bytes + other.bytes, self.characters + other.characters, tokens)


def add_parser(subparsers: Any) -> None:
    """Adds the parser of ``count`` to ``subparsers``."""
    parser = add_verb_parser(subparsers, "count", "count bytes, characters and tokens", _EXAMPLES)
    add_model_options(parser, has_several=True)
    add_input_options(parser, ["error", "replace", "skip", "keep"], "by default keep")
    parser.add_argument(
        "--by",
        default="file",
        metavar="file|folder|FIELD",
        help="what a row of the table counts: a file (the default), a folder, or the texts with one value of a field",
    )
    parser.add_argument("--max", type=int, metavar="N", help="exit with 1 if a row of the table has more than N tokens")
    add_json_option(parser)
    add_encoding_options(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Counts the texts and prints a table or JSON. Returns exit code 1 if a row exceeds ``--max``, else 0."""
    take_model_of_inputs(arguments)
    models = load_tokenizers(arguments)
    rows = _count_rows(arguments, [tokenizer for _, tokenizer in models])
    total = TextCounts(0, 0, (0,) * len(models))
    for counts in rows.values():
        total = total.plus(counts)
    names = [name for name, _ in models]
    if arguments.json:
        print(json.dumps(_report_to_json(rows, total, names, arguments.by), indent=2))
    else:
        _print_table(rows if len(rows) == 1 else {**rows, "total": total}, names, arguments.by)
    return _check_maximum(rows, arguments.max)


def _count_rows(arguments: argparse.Namespace, tokenizers: Sequence[Tokenizer]) -> dict[str, TextCounts]:
    """Returns the counts of each row of the table, in the order in which the rows first occur."""
    options = encode_options(arguments)
    rows: dict[str, TextCounts] = {}
    for label, texts in labelled_texts(arguments, arguments.by):
        counts = _count_texts(texts, tokenizers, options)
        rows[label] = rows[label].plus(counts) if label in rows else counts
    return rows


def _count_texts(texts: list[bytes], tokenizers: Sequence[Tokenizer], options: Options) -> TextCounts:
    tokens = tuple(_count_tokens(texts, tokenizer, options) for tokenizer in tokenizers)
    return TextCounts(sum(map(len, texts)), sum(map(_character_count, texts)), tokens)


def _count_tokens(texts: list[bytes], tokenizer: Tokenizer, options: Options) -> int:
    if len(texts) == 1:
        return tokenizer.count(texts[0], options=options)
    return len(tokenizer.encode_batch(texts, options=options).ids)


def _character_count(text: bytes) -> int:
    """Returns the count of characters in UTF-8 text by counting the bytes that begin a character."""
    return int(np.count_nonzero((np.frombuffer(text, dtype=np.uint8) & 0xC0) != 0x80))


def _check_maximum(rows: dict[str, TextCounts], maximum: int | None) -> int:
    """Reports rows with more than ``maximum`` tokens on standard error. Returns the exit code."""
    long_rows = [] if maximum is None else [(label, row) for label, row in rows.items() if max(row.tokens) > maximum]
    for label, row in long_rows:
        print(f"polytok: {escape_line_breaks(label)}: {max(row.tokens)} tokens, more than {maximum}", file=sys.stderr)
    return 1 if long_rows else 0


def _report_to_json(rows: dict[str, TextCounts], total: TextCounts, names: list[str], by: str) -> dict[str, Any]:
    label_name = by if by in ("file", "folder") else "value"
    return {
        "rows": [{label_name: label, **_counts_to_json(counts, names)} for label, counts in rows.items()],
        "total": _counts_to_json(total, names),
    }


def _counts_to_json(counts: TextCounts, names: list[str]) -> dict[str, Any]:
    tokens: Any = counts.tokens[0] if len(names) == 1 else dict(zip(names, counts.tokens, strict=True))
    return {"bytes": counts.bytes, "characters": counts.characters, "tokens": tokens}


def _print_table(rows: dict[str, TextCounts], names: list[str], by: str) -> None:
    """Prints a line for each row: the counts, aligned to the right, and then the label, which is not aligned."""
    token_heads = ["tokens"] if len(names) == 1 else [os.path.basename(name) for name in names]
    heads = ["bytes", "characters", *(cell for head in token_heads for cell in (head, "bytes/token"))]
    cell_rows = [heads, *map(_cells, rows.values())]
    widths = [max(len(cells[column]) for cells in cell_rows) for column in range(len(heads))]
    for cells, label in zip(cell_rows, [by, *rows], strict=True):
        numbers = (cell.rjust(width) for cell, width in zip(cells, widths, strict=True))
        line = "  ".join([*numbers, escape_line_breaks(label)]) + "\n"
        sys.stdout.buffer.write(line.encode(errors="surrogateescape"))


def _cells(counts: TextCounts) -> list[str]:
    token_cells = (cell for tokens in counts.tokens for cell in (str(tokens), _ratio(counts.bytes, tokens)))
    return [str(counts.bytes), str(counts.characters), *token_cells]


def _ratio(bytes: int, tokens: int) -> str:
    return f"{bytes / tokens:.2f}" if tokens else "-"
