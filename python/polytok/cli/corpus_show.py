"""``polytok corpus show``: prints documents of a dataset as text."""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from typing import Any

from ..corpus import StoredDocument, read_documents, sample
from ..corpus import open as open_dataset
from ..corpus.journal import TOKENIZER_NAME
from ..corpus.manifest import local_path
from ..errors import ArgumentError
from ..loading import load
from ..tokenizer import Tokenizer
from ..visible import visible_text
from .json_output import add_json_option, print_json
from .options import add_color_option, add_verb_parser, binary_stdout, is_colored
from .style import color_pieces, escape_line_breaks, piece_to_json, print_line

_EXAMPLES = """\
  polytok corpus show tokens                    five documents, chosen at random
  polytok corpus show tokens --sample 20 --seed 1
  polytok corpus show tokens --doc 0 --doc -1   the first and the last document
  polytok corpus show tokens --doc 7 --tokens   each token of a document
  polytok corpus show tokens --position 20      the document with this token
"""
_MAX_CHARACTERS = 2000
_CONTROL_CHARACTERS = re.compile(r"[^\S \n\t]|[\x00-\x08\x0e-\x1f\x7f-\x9f]")


def add_show_parser(subparsers: Any) -> None:
    """Adds the parser of ``show`` to ``subparsers``."""
    parser = add_verb_parser(subparsers, "show", "print documents of a dataset as text", _EXAMPLES)
    parser.add_argument("dataset", metavar="DIR", help="the folder of a dataset")
    group = parser.add_mutually_exclusive_group()
    group.add_argument(
        "--sample", type=int, default=5, metavar="N", help="the number of documents, chosen at random; by default 5"
    )
    group.add_argument(
        "--doc", type=int, action="append", metavar="I", help="the document with index I, from 0 on (can be repeated)"
    )
    group.add_argument(
        "--position",
        type=int,
        action="append",
        metavar="P",
        help="the document with the token at position P of the dataset, from 0 on (can be repeated)",
    )
    parser.add_argument("--seed", type=int, metavar="N", help="the seed of the choice; by default 0")
    parser.add_argument("--tokens", action="store_true", help="show each token instead of the text")
    add_json_option(parser)
    add_color_option(parser)
    parser.set_defaults(run=_run_show)


def _run_show(arguments: argparse.Namespace) -> int:
    documents, offsets = _chosen_documents(arguments)
    tokenizer = load(local_path(arguments.dataset) / TOKENIZER_NAME)
    if arguments.json:
        pairs = zip(documents, offsets, strict=True)
        print_json([_to_json(document, offset, tokenizer, arguments.tokens) for document, offset in pairs])
        return 0
    with_colors = is_colored(arguments, binary_stdout())
    for place, (document, offset) in enumerate(zip(documents, offsets, strict=True)):
        shown_text = _token_text(document, tokenizer, with_colors) if arguments.tokens else _text(document, tokenizer)
        print_line("\n" * (place > 0) + f"{_heading(document, offset, tokenizer)}\n{shown_text}")
    return 0


def _chosen_documents(arguments: argparse.Namespace) -> tuple[Sequence[StoredDocument], Sequence[int | None]]:
    """Returns the documents to show, and for ``--position`` the index of the chosen token in each, otherwise None."""
    if arguments.doc is None and arguments.position is None:
        documents = sample(arguments.dataset, arguments.sample, seed=arguments.seed or 0)
        return documents, [None] * len(documents)
    if arguments.seed is not None:
        chosen_by = "--doc" if arguments.doc else "--position"
        raise ArgumentError(f"--seed is for documents chosen at random: remove --seed or {chosen_by}")
    try:
        if arguments.doc is not None:
            return list(read_documents(arguments.dataset, arguments.doc)), [None] * len(arguments.doc)
        locations = list(map(open_dataset(arguments.dataset).locate, arguments.position))
        indices = [location.document for location in locations]
        return list(read_documents(arguments.dataset, indices)), [location.offset for location in locations]
    except IndexError as error:
        raise ArgumentError(str(error)) from error


def _heading(document: StoredDocument, offset: int | None, tokenizer: Tokenizer) -> str:
    parts = [f"document {document.index}", f"{len(document.ids):,} tokens"]
    if offset is not None:
        parts.append(f"token {offset} {visible_text(tokenizer.id_to_piece(int(document.ids[offset])))}")
    if document.source is not None:
        parts.append(escape_line_breaks(document.source))
    shown_columns = {
        name: value for name, value in document.columns.items() if _adds_information(name, value, document)
    }
    parts += [f"{name}: {escape_line_breaks(str(value))}" for name, value in shown_columns.items()]
    return f"[{', '.join(parts)}]"


def _adds_information(name: str, value: Any, document: StoredDocument) -> bool:
    """Returns False for columns of the documents table that repeat the source, or do not apply to the input."""
    is_repeated = name == "source" and value == document.source
    return not is_repeated and not (name == "group" and value is None)


def _text(document: StoredDocument, tokenizer: Tokenizer) -> str:
    text = tokenizer.decode(document.ids)
    shown_text = _CONTROL_CHARACTERS.sub(lambda match: escape_line_breaks(match[0]), text[:_MAX_CHARACTERS])
    remaining_count = len(text) - _MAX_CHARACTERS
    return shown_text if remaining_count <= 0 else f"{shown_text}… ({remaining_count:,} more characters)"


def _token_text(document: StoredDocument, tokenizer: Tokenizer, with_colors: bool) -> str:
    special_ids = set(tokenizer.special_tokens.values())
    pieces = [(tokenizer.id_to_piece(id), id in special_ids) for id in document.ids[:_MAX_CHARACTERS].tolist()]
    text = color_pieces(pieces) if with_colors else " ".join(visible_text(piece) for piece, _ in pieces)
    remaining_count = len(document.ids) - _MAX_CHARACTERS
    return text if remaining_count <= 0 else f"{text} … ({remaining_count:,} more tokens)"


def _to_json(document: StoredDocument, offset: int | None, tokenizer: Tokenizer, with_tokens: bool) -> dict[str, Any]:
    ids = document.ids.tolist()
    value: dict[str, Any] = {
        "document": document.index,
        "tokens": len(ids),
        "source": document.source,
        "text": tokenizer.decode(document.ids),
        "columns": dict(document.columns),
    }
    if offset is not None:
        value["offset"] = offset
    if with_tokens:
        value |= {"ids": ids, "pieces": [piece_to_json(tokenizer.id_to_piece(id)) for id in ids]}
    return value
