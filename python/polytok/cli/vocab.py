"""``polytok vocab``: list, search and export the vocabulary."""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from ..files import replacing
from ..spec import Kind
from ..tokenizer import Tokenizer
from .options import add_verb, load_tokenizer, stdout
from .style import json_piece, visible

_EXAMPLES = """\
  polytok vocab --ids 0-20
  polytok vocab -m llama.model --search '^▁un.*ing$'
  polytok vocab -m llama.model --kind control
  polytok vocab -m llama.model --export vocab.tsv
  polytok vocab --export - --as jsonl | jq .piece
"""
_SPECIAL = "special"
_KINDS = (*(kind.name.lower() for kind in Kind), _SPECIAL)
_RANGE = re.compile(r"(\d{1,10})(?:(-)(\d{1,10})?)?")


class Entry(NamedTuple):
    """A row of the vocabulary, or a special token that is not in it (kind ``special``)."""

    id: int
    kind: str
    score: str
    piece: bytes


_Test = Callable[[Entry], bool]


def add_parser(verbs: Any) -> None:
    """Add the verb."""
    parser = add_verb(verbs, "vocab", "list, search and export the vocabulary", _EXAMPLES)
    parser.add_argument("--search", metavar="REGEX", type=_regex, help="pieces in which a Python regex is found")
    parser.add_argument("--contains", metavar="TEXT", help="pieces in which a text stands")
    parser.add_argument("--kind", choices=_KINDS, help="entries of a kind; special: tokens beside the vocabulary")
    parser.add_argument(
        "--ids", metavar="1-20,30", type=_ranges, help="entries with these ids; 100- is all from 100 on"
    )
    parser.add_argument("--export", metavar="FILE", help="write the entries to a file, which is replaced, or `-`")
    parser.add_argument(
        "--as", dest="form", choices=_FORMS, help="of the export; by default jsonl into .jsonl, else tsv"
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """List, or export."""
    tokenizer = load_tokenizer(arguments)
    tests = list(_tests(arguments))
    found = (entry for entry in entries(tokenizer) if all(test(entry) for test in tests))
    if arguments.export in (None, "-"):
        form = (
            _table(tokenizer)
            if arguments.export is None and arguments.form is None
            else _FORMS[arguments.form or "tsv"]
        )
        count = sum(1 for line in _lines(form, found) if stdout().write(line))
        stdout().flush()
    else:
        path = Path(arguments.export)
        form = _FORMS[arguments.form or ("jsonl" if path.suffix in (".jsonl", ".ndjson") else "tsv")]
        with replacing(path) as file:
            count = sum(1 for line in _lines(form, found) if file.write(line))
    return 0 if count else 1


def entries(tokenizer: Tokenizer) -> Iterator[Entry]:
    """The rows in file order, then the special tokens that are not among them."""
    vocab = tokenizer.spec.vocab
    names = {int(kind): kind.name.lower() for kind in Kind}
    # numpy prints a float32 with the fewest digits that identify it.
    scores = vocab.scores.astype(str).tolist()
    kinds = vocab.kinds if vocab.active_kinds is None else vocab.active_kinds
    for id, kind, score, piece in zip(vocab.ids.tolist(), kinds.tolist(), scores, vocab.pieces(), strict=True):
        yield Entry(id, names[kind], score, piece)
    for token in tokenizer.spec.special:
        yield Entry(token.id, _SPECIAL, "0.0", token.text.encode())


def _tests(arguments: argparse.Namespace) -> Iterator[_Test]:
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


def _lines(form: Callable[[Entry], str], found: Iterable[Entry]) -> Iterator[bytes]:
    return (f"{form(entry)}\n".encode() for entry in found)


def _table(tokenizer: Tokenizer) -> Callable[[Entry], str]:
    """Aligned columns; the longest kind has twelve letters, and a float32 prints in at most fourteen."""
    width = len(str(tokenizer.vocab_size))
    return lambda entry: f"{entry.id:>{width}}  {entry.kind:<12}  {entry.score:>14}  {visible(entry.piece)}"


def _tsv(entry: Entry) -> str:
    return f"{entry.id}\t{entry.kind}\t{entry.score}\t{visible(entry.piece)}"


def _json(entry: Entry) -> str:
    score = float(entry.score)
    # JSON has no NaN and no infinities.
    finite = score if abs(score) < float("inf") else None
    return json.dumps({**entry._asdict(), "score": finite, "piece": json_piece(entry.piece)}, ensure_ascii=False)


_FORMS = {"tsv": _tsv, "jsonl": _json}


def _regex(text: str) -> re.Pattern[str]:
    try:
        return re.compile(text)
    except re.error as error:
        raise argparse.ArgumentTypeError(f"not a regular expression: {error}") from error


def _ranges(text: str) -> list[tuple[int, int]]:
    found = []
    for part in text.split(","):
        match = _RANGE.fullmatch(part.strip())
        if not match:
            raise argparse.ArgumentTypeError(f"{part!r} is neither an id nor a range like 1-20")
        first = int(match[1])
        found.append((first, int(match[3]) if match[3] else 2**32 if match[2] else first))
    return found
