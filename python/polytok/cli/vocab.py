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
from .options import add_verb, load_tokenizer, stdout
from .style import json_piece, visible_text

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


_RowTest = Callable[[VocabRow], bool]


def add_parser(verbs: Any) -> None:
    """Adds the parser of ``vocab`` to ``verbs``."""
    parser = add_verb(verbs, "vocab", "list, search and export the vocabulary", _EXAMPLES)
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
    """Lists or exports the entries that fit all options. Returns exit code 1 if no entry fits, else 0."""
    tokenizer = load_tokenizer(arguments)
    tests = list(_row_tests(arguments))
    selected_rows = (row for row in vocab_rows(tokenizer) if all(test(row) for test in tests))
    if arguments.export in (None, "-"):
        form = (
            _table_formatter(tokenizer)
            if arguments.export is None and arguments.form is None
            else _LINE_FORMATTERS[arguments.form or "tsv"]
        )
        count = sum(1 for line in _lines(form, selected_rows) if stdout().write(line))
        stdout().flush()
    else:
        path = Path(arguments.export)
        form = _LINE_FORMATTERS[arguments.form or ("jsonl" if path.suffix in (".jsonl", ".ndjson") else "tsv")]
        with open_replacement(path) as file:
            count = sum(1 for line in _lines(form, selected_rows) if file.write(line))
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


def _row_tests(arguments: argparse.Namespace) -> Iterator[_RowTest]:
    if arguments.search is not None:
        search = arguments.search.search
        yield lambda entry: search(entry.piece.decode(errors="surrogateescape")) is not None
    if arguments.contains is not None:
        part = arguments.contains.encode(errors="surrogateescape")
        yield lambda entry: part in entry.piece
    if arguments.kind is not None:
        yield lambda entry: entry.kind == arguments.kind
    if arguments.ids is not None:
        yield lambda entry: any(first <= entry.id <= last for first, last in arguments.ids)


def _lines(form: Callable[[VocabRow], str], rows: Iterable[VocabRow]) -> Iterator[bytes]:
    return (f"{form(row)}\n".encode() for row in rows)


def _table_formatter(tokenizer: Tokenizer) -> Callable[[VocabRow], str]:
    """Returns a function that formats a row in aligned columns.

    The column of kinds has 12 characters for the longest kind, and the column of scores 14 for the longest float32.
    """
    width = len(str(tokenizer.vocab_size))
    return lambda entry: f"{entry.id:>{width}}  {entry.kind:<12}  {entry.score:>14}  {visible_text(entry.piece)}"


def _tsv(entry: VocabRow) -> str:
    return f"{entry.id}\t{entry.kind}\t{entry.score}\t{visible_text(entry.piece)}"


def _json(entry: VocabRow) -> str:
    score = float(entry.score)
    # JSON has no NaN and no infinities.
    finite_score = score if abs(score) < float("inf") else None
    return json.dumps({**entry._asdict(), "score": finite_score, "piece": json_piece(entry.piece)}, ensure_ascii=False)


_LINE_FORMATTERS = {"tsv": _tsv, "jsonl": _json}


def _parse_regex(text: str) -> re.Pattern[str]:
    try:
        return re.compile(text)
    except re.error as error:
        raise argparse.ArgumentTypeError(f"not a regular expression: {error}") from error


def _parse_ranges(text: str) -> list[tuple[int, int]]:
    ranges = []
    for part in text.split(","):
        match = _ID_RANGE.fullmatch(part.strip())
        if not match:
            raise argparse.ArgumentTypeError(f"{part!r} is neither an id nor a range like 1-20")
        first = int(match[1])
        ranges.append((first, int(match[3]) if match[3] else 2**32 if match[2] else first))
    return ranges
