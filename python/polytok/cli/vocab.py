"""``polytok vocab``: lists, searches and exports the vocabulary."""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from ..files import open_replacement
from ..spec import Kind
from ..tokenizer import Tokenizer
from .options import add_tokenizer_verb_parser, binary_stdout, load_tokenizer
from .style import piece_to_json, visible_text

_EXAMPLES = """\
  polytok vocab --ids 0-20
  polytok vocab -m llama.model --search '^▁un.*ing$'
  polytok vocab -m llama.model --kind control
  polytok vocab -m llama.model --export vocab.tsv
  polytok vocab --export - --as jsonl | jq .piece
"""
_SPECIAL_KIND = "special"
_KIND_NAMES = (*(kind.name.lower() for kind in Kind), _SPECIAL_KIND)
_ID_RANGE = re.compile(r"(\d{1,10})(?:(-)(\d{1,10})?)?")


class VocabRow(NamedTuple):
    """An entry of the vocabulary, or a special token outside the vocabulary (kind ``special``)."""

    id: int
    kind: str
    score: str
    piece: bytes


_RowFilter = Callable[[VocabRow], bool]


def add_parser(subparsers: Any) -> None:
    """Adds the parser of ``vocab`` to ``subparsers``."""
    parser = add_tokenizer_verb_parser(subparsers, "vocab", "list, search and export the vocabulary", _EXAMPLES)
    parser.add_argument(
        "--search", metavar="REGEX", type=_parse_regex, help="entries that match a Python regex anywhere"
    )
    parser.add_argument("--contains", metavar="TEXT", help="entries that contain TEXT")
    parser.add_argument("--kind", choices=_KIND_NAMES, help="entries of a kind; special: tokens outside the vocabulary")
    parser.add_argument(
        "--ids", metavar="1-20,30", type=_parse_ranges, help="entries with these ids; 100- is 100 and above"
    )
    parser.add_argument(
        "--export", metavar="FILE", help="the file to write; an existing file is replaced; `-` is standard output"
    )
    parser.add_argument(
        "--as",
        dest="form",
        choices=_LINE_FORMATTERS,
        help="the format of the export; by default jsonl for a file .jsonl or .ndjson, otherwise tsv",
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Lists or exports the entries that pass all filters. Returns exit code 1 if no entry passes, else 0."""
    tokenizer = load_tokenizer(arguments)
    row_filters = list(_row_filters(arguments))
    selected_rows = (row for row in vocab_rows(tokenizer) if all(is_selected(row) for is_selected in row_filters))
    if arguments.export in (None, "-"):
        format_row = (
            _table_formatter(tokenizer)
            if arguments.export is None and arguments.form is None
            else _LINE_FORMATTERS[arguments.form or "tsv"]
        )
        count = sum(1 for line in _encode_lines(format_row, selected_rows) if binary_stdout().write(line))
        binary_stdout().flush()
    else:
        path = Path(arguments.export)
        format_row = _LINE_FORMATTERS[arguments.form or ("jsonl" if path.suffix in (".jsonl", ".ndjson") else "tsv")]
        with open_replacement(path) as file:
            count = sum(1 for line in _encode_lines(format_row, selected_rows) if file.write(line))
    return 0 if count else 1


def vocab_rows(tokenizer: Tokenizer) -> Iterator[VocabRow]:
    """Yields the entries in the order of the file, then the special tokens outside the vocabulary."""
    vocab = tokenizer.spec.vocab
    names = {int(kind): kind.name.lower() for kind in Kind}
    # numpy prints a float32 with the fewest digits that identify it.
    scores = vocab.scores.astype(str).tolist()
    kinds = vocab.kinds if vocab.active_kinds is None else vocab.active_kinds
    for id, kind, score, piece in zip(vocab.ids.tolist(), kinds.tolist(), scores, vocab.pieces(), strict=True):
        yield VocabRow(id, names[kind], score, piece)
    for token in tokenizer.spec.special:
        yield VocabRow(token.id, _SPECIAL_KIND, "0.0", token.text.encode())


def _row_filters(arguments: argparse.Namespace) -> Iterator[_RowFilter]:
    if arguments.search is not None:
        find_match = arguments.search.search
        yield lambda row: find_match(row.piece.decode(errors="surrogateescape")) is not None
    if arguments.contains is not None:
        contained_bytes = arguments.contains.encode(errors="surrogateescape")
        yield lambda row: contained_bytes in row.piece
    if arguments.kind is not None:
        yield lambda row: row.kind == arguments.kind
    if arguments.ids is not None:
        yield lambda row: any(first <= row.id <= last for first, last in arguments.ids)


def _encode_lines(format_row: Callable[[VocabRow], str], rows: Iterable[VocabRow]) -> Iterator[bytes]:
    return (f"{format_row(row)}\n".encode() for row in rows)


def _table_formatter(tokenizer: Tokenizer) -> Callable[[VocabRow], str]:
    """Returns a function that formats a row in aligned columns.

    The column of kinds has 12 characters for the longest kind, and the column of scores 14 for the longest float32.
    """
    width = len(str(tokenizer.vocab_size))
    return lambda row: f"{row.id:>{width}}  {row.kind:<12}  {row.score:>14}  {visible_text(row.piece)}"


def _format_tsv(row: VocabRow) -> str:
    return f"{row.id}\t{row.kind}\t{row.score}\t{visible_text(row.piece)}"


def _format_json(row: VocabRow) -> str:
    score = float(row.score)
    # JSON has no NaN and no infinities.
    finite_score = score if abs(score) < float("inf") else None
    return json.dumps({**row._asdict(), "score": finite_score, "piece": piece_to_json(row.piece)}, ensure_ascii=False)


_LINE_FORMATTERS = {"tsv": _format_tsv, "jsonl": _format_json}


def _parse_regex(text: str) -> re.Pattern[str]:
    try:
        return re.compile(text)
    except re.error as error:
        raise argparse.ArgumentTypeError(f"not a regular expression: {error}") from error


def _parse_ranges(text: str) -> list[tuple[int, int]]:
    id_ranges = []
    for range_text in text.split(","):
        match = _ID_RANGE.fullmatch(range_text.strip())
        if not match:
            raise argparse.ArgumentTypeError(f"{range_text!r} is neither an id nor a range like 1-20")
        first = int(match[1])
        id_ranges.append((first, int(match[3]) if match[3] else 2**32 if match[2] else first))
    return id_ranges
