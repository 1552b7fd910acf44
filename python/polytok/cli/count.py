"""``polytok count``: counts the bytes, characters and tokens of texts."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from itertools import groupby
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np

from ..options import Options
from ..tokenizer import Tokenizer
from .inputs import add_input_options
from .options import add_encoding_options, add_tokenizer_verb_parser, encode_options, load_tokenizer
from .style import escape_line_breaks
from .texts import named_texts

_EXAMPLES = """\
  polytok count *.txt
  polytok count -m llama.model --add-special --lines texts.txt
  polytok count --json book.txt
"""
_COLUMN_NAMES = ("bytes", "characters", "tokens", "bytes/token")


class TextCounts(NamedTuple):
    """The counts of bytes, characters and tokens of a file."""

    bytes: int = 0
    characters: int = 0
    tokens: int = 0

    def plus(self, other: TextCounts) -> TextCounts:
        """Returns the sum of two counts, field by field."""
        return TextCounts(self.bytes + other.bytes, self.characters + other.characters, self.tokens + other.tokens)

    @property
    def bytes_per_token(self) -> float | None:
        """The average number of bytes per token; None if there are no tokens."""
        return self.bytes / self.tokens if self.tokens else None


def add_parser(subparsers: Any) -> None:
    """Adds the parser of ``count`` to ``subparsers``."""
    parser = add_tokenizer_verb_parser(subparsers, "count", "count bytes, characters and tokens", _EXAMPLES)
    add_input_options(parser, ["error", "replace", "skip", "keep"], "by default keep")
    parser.add_argument("--json", action="store_true", help="print a JSON object with the files and the total")
    add_encoding_options(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Counts the files and prints a table or JSON. Returns exit code 0."""
    tokenizer = load_tokenizer(arguments)
    options = encode_options(arguments)
    rows: list[tuple[str, TextCounts]] = []
    total = TextCounts()
    for name, counts in _count_files(arguments, tokenizer, options):
        rows.append((name, counts))
        total = total.plus(counts)
    if arguments.json:
        files = [{"file": name, **_counts_as_json(counts)} for name, counts in rows]
        print(json.dumps({"files": files, "total": _counts_as_json(total)}, indent=2))
    else:
        _print_table(rows if len(rows) == 1 else [*rows, ("total", total)])
    return 0


def _count_files(
    arguments: argparse.Namespace, tokenizer: Tokenizer, options: Options
) -> Iterator[tuple[str, TextCounts]]:
    """Yields the counts of each input, in order."""
    for name, batches in groupby(named_texts(arguments), key=itemgetter(0)):
        counts = TextCounts()
        for _, texts in batches:
            counts = counts.plus(_count_texts(texts, tokenizer, options))
        yield name, counts


def _count_texts(texts: list[bytes], tokenizer: Tokenizer, options: Options) -> TextCounts:
    if len(texts) == 1:
        token_count = tokenizer.count(texts[0], options=options)
    else:
        token_count = len(tokenizer.encode_batch(texts, options=options).ids)
    return TextCounts(sum(map(len, texts)), sum(map(_character_count, texts)), token_count)


def _character_count(text: bytes) -> int:
    """Returns the count of characters in UTF-8 text by counting the bytes that begin a character."""
    return int(np.count_nonzero((np.frombuffer(text, dtype=np.uint8) & 0xC0) != 0x80))


def _counts_as_json(counts: TextCounts) -> dict[str, int | float | None]:
    return {**counts._asdict(), "bytes_per_token": counts.bytes_per_token}


def _print_table(rows: list[tuple[str, TextCounts]]) -> None:
    """Prints a line for each row: the counts, aligned to the right, and then the file name, which is not aligned."""
    cell_rows = [(*map(str, counts), _bytes_per_token_text(counts), escape_line_breaks(name)) for name, counts in rows]
    column_widths = [
        max(len(row[column]) for row in (_COLUMN_NAMES, *cell_rows)) for column in range(len(_COLUMN_NAMES))
    ]
    for row in ((*_COLUMN_NAMES, "file"), *cell_rows):
        numbers = (text.rjust(width) for text, width in zip(row, column_widths, strict=False))
        sys.stdout.buffer.write(("  ".join([*numbers, row[-1]]) + "\n").encode(errors="surrogateescape"))


def _bytes_per_token_text(counts: TextCounts) -> str:
    return "-" if counts.bytes_per_token is None else f"{counts.bytes_per_token:.2f}"
