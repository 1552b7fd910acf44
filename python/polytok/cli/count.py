"""``polytok count``: counts the bytes, characters and tokens of texts."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..files import distinct_ends
from ..options import Options
from ..reading.documents import PlaceFunction
from ..tokenizer import Tokenizer
from .inputs import add_input_options
from .json_output import add_json_option, print_json
from .models import add_model_options, load_tokenizers, take_model_of_inputs
from .options import add_encoding_options, add_verb_parser, encode_options
from .parsers import parse_count
from .style import escape_line_breaks
from .texts import labelled_texts

_EXAMPLES = """\
  polytok count *.txt
  polytok count -m gpt2 -m llama.model corpus.jsonl.zst   a column for each tokenizer
  polytok count -m llama.model --add-special --lines texts.txt
  polytok count --by folder data                          a row for each folder
  polytok count --by meta.language corpus.jsonl           a row for each value of a field
  polytok count --max 4096 prompts/*.txt                  exits with 1 if a text is longer
  polytok count --max 4096 prompts.jsonl                  the same for each record
"""


_MAX_LONG_TEXTS = 20


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
    parser.add_argument("--max", type=parse_count, metavar="N", help="exit with 1 if a text has more than N tokens")
    add_json_option(parser)
    add_encoding_options(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Counts the texts and prints a table or JSON. Returns exit code 1 if a text exceeds ``--max``, else 0."""
    take_model_of_inputs(arguments)
    models = list(dict(load_tokenizers(arguments)).items())  # a tokenizer that is named twice has one column
    limit = _Limit(arguments.max, _token_heads([name for name, _ in models]))
    rows = _count_rows(arguments, [tokenizer for _, tokenizer in models], limit)
    total = TextCounts(0, 0, (0,) * len(models))
    for counts in rows.values():
        total = total.plus(counts)
    names = [name for name, _ in models]
    if arguments.json:
        print_json(_report_to_json(rows, total, names, arguments.by))
    else:
        _print_table(rows if len(rows) == 1 else {**rows, "total": total}, names, arguments.by)
    return limit.exit_code()


def _count_rows(arguments: argparse.Namespace, tokenizers: Sequence[Tokenizer], limit: _Limit) -> dict[str, TextCounts]:
    """Returns the counts of each row of the table, in the order in which the rows first occur."""
    options = encode_options(arguments)
    rows: dict[str, TextCounts] = {}
    for label, texts, place in labelled_texts(arguments, arguments.by):
        token_counts = [_count_tokens(texts, tokenizer, options) for tokenizer in tokenizers]
        limit.check(token_counts, place)
        tokens = tuple(int(counts.sum()) for counts in token_counts)
        counts = TextCounts(sum(map(len, texts)), sum(map(_character_count, texts)), tokens)
        rows[label] = rows[label].plus(counts) if label in rows else counts
    return rows


def _count_tokens(texts: list[bytes], tokenizer: Tokenizer, options: Options) -> npt.NDArray[np.int64]:
    """Returns the number of tokens of each text."""
    if len(texts) == 1:
        return np.array([tokenizer.count(texts[0], options=options)])
    return np.diff(tokenizer.encode_batch(texts, options=options).offsets)


def _character_count(text: bytes) -> int:
    """Returns the count of characters in UTF-8 text by counting the bytes that begin a character."""
    return int(np.count_nonzero((np.frombuffer(text, dtype=np.uint8) & 0xC0) != 0x80))


@dataclass(slots=True)
class _Limit:
    """The limit of the tokens of a text, and the texts that exceed it for some tokenizer."""

    maximum: int | None
    tokenizer_names: Sequence[str]
    excess_count: int = 0
    lines: list[str] = field(default_factory=list)

    def check(self, token_counts: Sequence[npt.NDArray[np.int64]], place: PlaceFunction) -> None:
        """Notes the texts that exceed the limit. ``token_counts`` has the number of tokens of each text, for each
        tokenizer."""
        if self.maximum is None:
            return
        for name, counts in zip(self.tokenizer_names, token_counts, strict=True):
            rows = np.flatnonzero(counts > self.maximum)
            self.excess_count += len(rows)
            suffix = f" of {name}" if len(self.tokenizer_names) > 1 else ""
            for row in rows[: _MAX_LONG_TEXTS - len(self.lines)].tolist():
                text_name = escape_line_breaks(place(row))
                self.lines.append(f"{text_name}: {counts[row]} tokens{suffix}, more than {self.maximum}")

    def exit_code(self) -> int:
        """Reports the texts on standard error. Returns the exit code of the command."""
        for line in self.lines:
            print(f"polytok: {line}", file=sys.stderr)
        if other_count := self.excess_count - len(self.lines):
            print(f"polytok: and {other_count:,} more, more than {self.maximum}", file=sys.stderr)
        return 1 if self.excess_count else 0


def _report_to_json(rows: dict[str, TextCounts], total: TextCounts, names: list[str], by: str) -> dict[str, Any]:
    label_name = by if by in ("file", "folder") else "value"
    return {
        "rows": [{label_name: label, **_counts_to_json(counts, names)} for label, counts in rows.items()],
        "total": _counts_to_json(total, names),
    }


def _counts_to_json(counts: TextCounts, names: list[str]) -> dict[str, Any]:
    tokens = dict(zip(names, counts.tokens, strict=True))
    return {"bytes": counts.bytes, "characters": counts.characters, "tokens": tokens}


def _print_table(rows: dict[str, TextCounts], names: list[str], by: str) -> None:
    """Prints a line for each row: the counts, aligned to the right, and then the label, which is not aligned."""
    heads = ["bytes", "characters", *(cell for head in _token_heads(names) for cell in (head, "bytes/token"))]
    cell_rows = [heads, *map(_cells, rows.values())]
    widths = [max(len(cells[column]) for cells in cell_rows) for column in range(len(heads))]
    for cells, label in zip(cell_rows, [by, *rows], strict=True):
        numbers = (cell.rjust(width) for cell, width in zip(cells, widths, strict=True))
        line = "  ".join([*numbers, escape_line_breaks(label)]) + "\n"
        sys.stdout.buffer.write(line.encode(errors="surrogateescape"))


def _token_heads(names: list[str]) -> list[str]:
    """Returns the heads of the tokens' columns: for several tokenizers, the end of each path that no other path has."""
    return ["tokens"] if len(names) == 1 else distinct_ends(names)


def _cells(counts: TextCounts) -> list[str]:
    token_cells = (cell for tokens in counts.tokens for cell in (str(tokens), _ratio(counts.bytes, tokens)))
    return [str(counts.bytes), str(counts.characters), *token_cells]


def _ratio(bytes: int, tokens: int) -> str:
    return f"{bytes / tokens:.2f}" if tokens else "-"
