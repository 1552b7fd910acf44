"""``polytok vocab``: lists and searches the vocabulary, its merges, and the entries that texts never use."""

from __future__ import annotations

import argparse
import csv
import io
import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import IO, Any, NamedTuple

from ..errors import ArgumentError
from ..id_counts import count_ids
from ..merge_list import Merge
from ..space_mark import SPACE_MARK
from ..spec import Kind
from ..tokenizer import Tokenizer
from ..visible import visible_text
from ..vocab_table import VocabEntry
from .inputs import add_reading_options
from .json_output import add_json_option
from .models import add_model_argument, add_model_options, is_tokenizer, load_tokenizer, refuse_second_model
from .options import add_verb_parser, open_output
from .outputs import OUTPUT_HELP, add_overwrite_option, check_outputs
from .style import piece_to_json
from .texts import named_texts

_EXAMPLES = """\
  polytok vocab --ids 0-20
  polytok vocab llama.model --search '^▁un.*ing$'
  polytok vocab llama.model --kind control
  polytok vocab llama.model -o vocab.csv
  polytok vocab --to jsonl | jq .piece
  polytok vocab tokenizer.json --merges --contains ing
  polytok vocab llama.model --never-used corpus/*.txt

Columns show a space of a piece as ␣, other invisible characters as \\n, \\t or \\u00ad, bytes that are not UTF-8 as
\\xff, a backslash as \\\\ and ␣ itself as \\u2423. JSON has the piece itself, or a list of its bytes.
"""
_SHOWN_SPACE = "␣"
_SPECIAL_KIND = "special"
_KIND_NAMES = (*(kind.name.lower() for kind in Kind), _SPECIAL_KIND)
_ID_RANGE = re.compile(r"(\d{1,10})(?:(-)(\d{1,10})?)?")
_ENTRY_COLUMNS = ("id", "kind", "special", "score", "rank", "piece")
_MERGE_COLUMNS = ("rank", "id", "score", "left", "right", "piece")
_FORMATS_OF_SUFFIXES = {".csv": "csv", ".tsv": "tsv", ".json": "json", ".jsonl": "jsonl", ".ndjson": "jsonl"}
_MISSING = "-"  # the text of a missing score or rank, so that every line has all columns
_LONGEST_SCORE = 14  # the number of characters of the longest float32

_Row = VocabEntry | Merge
_RowFilter = Callable[[_Row], bool]


class _Form(NamedTuple):
    """A way to print rows: the text before the first row, between rows and after the last row, and a row's text."""

    begin: str
    separator: str
    end: str
    row_text: Callable[[_Row], str]


def add_parser(subparsers: Any) -> None:
    """Adds the parser of ``vocab`` to ``subparsers``."""
    summary = "list and search the vocabulary, its merges, and entries that texts never use"
    parser = add_verb_parser(subparsers, "vocab", summary, _EXAMPLES)
    add_model_argument(parser)
    parser.add_argument("inputs", nargs="*", metavar="INPUT", help="inputs of --never-used")
    add_model_options(parser)
    parser.add_argument(
        "--search", metavar="REGEX", type=_parse_regex, help="entries that match a Python regex anywhere"
    )
    parser.add_argument("--contains", metavar="TEXT", help="entries that contain TEXT")
    parser.add_argument("--kind", choices=_KIND_NAMES, help="entries of a kind; special: all special tokens")
    parser.add_argument(
        "--ids", metavar="1-20,30", type=_parse_ranges, help="entries with these ids; 100- is 100 and above"
    )
    parser.add_argument(
        "--never-used",
        nargs="*",
        metavar="INPUT",
        help="entries to which no text of the inputs is encoded, without special tokens; INPUT as in `polytok count`",
    )
    parser.add_argument("--merges", action="store_true", help="list the merges of BPE in order, instead of the entries")
    parser.add_argument("-o", "--out", metavar="FILE", type=Path, help=OUTPUT_HELP)
    add_overwrite_option(parser)
    form_group = parser.add_mutually_exclusive_group()
    form_group.add_argument(
        "--to",
        choices=["tsv", "csv", "json", "jsonl"],
        help="the format to write; by default chosen by the suffix of FILE, otherwise tsv; without -o and --to, "
        "aligned columns",
    )
    add_json_option(form_group)
    add_reading_options(parser, ["error", "replace", "skip", "keep"], "by default keep", has_text=True)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Lists the entries or merges that pass all filters. Returns exit code 1 if none passes, else 0."""
    _take_inputs(arguments)
    if arguments.merges and arguments.kind is not None:
        raise ArgumentError("--kind selects entries, and merges have no kind: remove --kind or --merges")
    check_outputs(arguments, [arguments.out])
    tokenizer = load_tokenizer(arguments)
    rows: Iterable[_Row] = tokenizer.merges() if arguments.merges else tokenizer.vocab()
    filters = list(_row_filters(arguments, tokenizer))
    selected_rows = (row for row in rows if all(is_selected(row) for is_selected in filters))
    form = _form(arguments, tokenizer)
    with open_output(arguments.out) as file:
        count = _write(file, selected_rows, form)
    if not count:
        print(f"polytok: {_empty_message(arguments, tokenizer)}", file=sys.stderr)
    return 0 if count else 1


def _empty_message(arguments: argparse.Namespace, tokenizer: Tokenizer) -> str:
    """Returns the message for filters that select nothing, with the reason if one filter alone is the reason."""
    message = f"no {'merge' if arguments.merges else 'entry'} is selected"
    largest_id = tokenizer.vocab_size - 1
    if arguments.ids is not None and min(first for first, _ in arguments.ids) > largest_id:
        return f"{message}: the largest id is {largest_id}"
    text = arguments.contains or ""
    pieces = tokenizer.vocab().pieces
    for space in (" ", SPACE_MARK) if _SHOWN_SPACE in text else ():
        written_text = text.replace(_SHOWN_SPACE, space)
        if any(written_text.encode(errors="surrogateescape") in piece for piece in pieces):
            return f"{message}: columns show a space as {_SHOWN_SPACE}, but it is written {written_text!r} here"
    return message


def _take_inputs(arguments: argparse.Namespace) -> None:
    """Stores all inputs of ``--never-used`` in ``arguments.inputs``.

    The inputs can follow other options, as in ``--never-used --field body texts.jsonl``. Then the first argument is
    the tokenizer only if it certainly is one.
    """
    refuse_second_model(arguments)
    names = [] if arguments.model is None else [arguments.model, *arguments.inputs]
    if arguments.never_used is None:
        if arguments.text or arguments.files_from or names[0 if arguments.models else 1 :]:
            raise ArgumentError("only --never-used reads texts: add --never-used, or remove the inputs")
        return
    begins_with_model = bool(names) and not arguments.models and (arguments.never_used or is_tokenizer(names[0]))
    arguments.model = names.pop(0) if begins_with_model else None
    arguments.inputs = [*names, *arguments.never_used]


def _row_filters(arguments: argparse.Namespace, tokenizer: Tokenizer) -> Iterator[_RowFilter]:
    if arguments.search is not None:
        find_match = arguments.search.search
        yield lambda row: find_match(row.piece.decode(errors="surrogateescape")) is not None
    if arguments.contains is not None:
        contained_bytes = arguments.contains.encode(errors="surrogateescape")
        yield lambda row: contained_bytes in row.piece
    if arguments.ids is not None:
        yield lambda row: any(first <= row.id <= last for first, last in arguments.ids)
    if arguments.kind is not None:
        kind_ids = {entry.id for entry in tokenizer.vocab() if arguments.kind in _kinds(entry)}
        yield lambda row: row.id in kind_ids
    if arguments.never_used is not None:
        unused_ids = _never_used_ids(arguments, tokenizer)
        yield lambda row: row.id in unused_ids


def _kinds(entry: VocabEntry) -> tuple[str, ...]:
    """Returns the values of ``--kind`` that select an entry."""
    return (entry.kind.name.lower(), *([_SPECIAL_KIND] if entry.special else []))


def _never_used_ids(arguments: argparse.Namespace, tokenizer: Tokenizer) -> set[int]:
    """Returns the ids to which no input is encoded, without special tokens, which plain texts never use."""
    counts = count_ids(tokenizer, (text for _, batch in named_texts(arguments) for text in batch))
    table = tokenizer.vocab()
    return set(table.ids[(counts[table.ids] == 0) & ~table.special].tolist())


# The output


def _write(file: IO[bytes], rows: Iterable[_Row], form: _Form) -> int:
    """Writes the rows and returns their number."""
    file.write(form.begin.encode())
    count = 0
    for row in rows:
        file.write(f"{form.separator if count else ''}{form.row_text(row)}".encode())
        count += 1
    file.write((form.end if count else form.end.lstrip("\n")).encode())
    return count


def _form(arguments: argparse.Namespace, tokenizer: Tokenizer) -> _Form:
    to = "json" if arguments.json else arguments.to
    if to is None and arguments.out is not None:
        to = _format_of(arguments.out)
    if to == "json":
        return _Form("[\n", ",\n", "\n]\n", _json_text)
    if to == "jsonl":
        return _Form("", "\n", "\n", _json_text)
    if to is None:
        return _Form("", "\n", "\n", _table_formatter(tokenizer))
    heads = _MERGE_COLUMNS if arguments.merges else _ENTRY_COLUMNS
    separator = "," if to == "csv" else "\t"
    return _Form(f"{separator.join(heads)}\n", "\n", "\n", lambda row: _csv_line(_cells(row), separator))


def _format_of(path: Path) -> str:
    """Returns the format of a file's suffix. Raises `ArgumentError` for a suffix that `vocab` does not write."""
    if not path.suffix:
        return "tsv"
    if path.suffix not in _FORMATS_OF_SUFFIXES:
        raise ArgumentError(
            f"{path} has none of the suffixes {', '.join(_FORMATS_OF_SUFFIXES)}: change it, or use --to"
        )
    return _FORMATS_OF_SUFFIXES[path.suffix]


def _csv_line(cells: Sequence[str], separator: str) -> str:
    """Returns a line of separated values as CSV quotes them, without a line feed.

    >>> _csv_line(["1", 'a "b", c'], ",")
    '1,"a ""b"", c"'
    """
    line = io.StringIO()
    csv.writer(line, delimiter=separator, lineterminator="").writerow(cells)
    return line.getvalue()


def _table_formatter(tokenizer: Tokenizer) -> Callable[[_Row], str]:
    """Returns a function that formats a row in aligned columns."""
    width = len(str(tokenizer.vocab_size))
    has_scores, has_ranks = (column is not None for column in (tokenizer.vocab().scores, tokenizer.vocab().ranks))

    def text_of(row: _Row) -> str:
        if isinstance(row, Merge):
            rank, id, score, *texts = _cells(row)
            return f"{rank:>{width}}  {id:>{width}}  {_score_column(score, has_scores)}{'  '.join(texts)}"
        id, kind, special, score, rank, text = _cells(row)
        ranks = f"{rank:>{width}}  " if has_ranks else ""
        return f"{id:>{width}}  {kind:<12}  {special:<7}  {_score_column(score, has_scores)}{ranks}{text}"

    return text_of


def _score_column(score: str, has_scores: bool) -> str:
    return f"{score:>{_LONGEST_SCORE}}  " if has_scores else ""


def _cells(row: _Row) -> list[str]:
    """Returns the columns of a row as texts."""
    score, rank = (_MISSING if number is None else str(number) for number in (row.score, row.rank))
    if isinstance(row, Merge):
        return [rank, str(row.id), score, *map(visible_text, (row.left, row.right, row.piece))]
    special = _SPECIAL_KIND if row.special else _MISSING
    return [str(row.id), row.kind.name.lower(), special, score, rank, visible_text(row.piece)]


def _json_text(row: _Row) -> str:
    # JSON has no NaN and no infinities.
    score = None if row.score is None or abs(row.score) == float("inf") or row.score != row.score else row.score
    fields = {**row._asdict(), "score": score, "piece": piece_to_json(row.piece)}
    if isinstance(row, Merge):
        fields |= {"left": piece_to_json(row.left), "right": piece_to_json(row.right)}
    else:
        fields |= {"kind": row.kind.name.lower()}
    return json.dumps(fields, ensure_ascii=False)


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
