"""``polytok encode``: converts texts to ids."""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from shutil import copyfileobj
from typing import IO, Any

from ..errors import ArgumentError
from ..files import open_replacement
from ..npy import NpyWriter
from ..options import Options
from ..spec import Kind
from ..tokenizer import Tokenizer
from ..values import Batch, IdArray, Token
from . import style
from .inputs import add_input_options
from .json_output import add_json_option, json_list_parts
from .models import add_model_options, load_tokenizer, take_model_of_inputs
from .options import (
    add_color_option,
    add_encoding_options,
    add_verb_parser,
    binary_stdout,
    encode_options,
    is_colored,
    open_output,
)
from .outputs import OUTPUT_HELP, add_overwrite_option, check_outputs
from .texts import named_texts

_EXAMPLES = """\
  echo 'Hello, world' | polytok encode
  polytok encode --to json --lines texts.txt > tokens.jsonl
  polytok encode -m llama.model --add-special corpus.txt -o corpus.npy
  polytok encode --special '<|endoftext|>' --reject-special corpus.txt
"""
_IDS_PER_WRITE = 1 << 20


def add_parser(subparsers: Any) -> None:
    """Adds the parser of ``encode`` to ``subparsers``."""
    parser = add_verb_parser(subparsers, "encode", "encode texts to ids", _EXAMPLES)
    add_model_options(parser)
    add_input_options(parser, ["error", "replace", "skip", "keep"], "by default keep")
    form_group = parser.add_mutually_exclusive_group()
    form_group.add_argument(
        "--to",
        choices=["ids", "pieces", "json", "npy"],
        help="ids, pieces: a line for each text; json: a line with a JSON object for each; npy: one array with the "
        "ids of all texts. By default pieces in a terminal, npy for a file that ends in .npy, otherwise ids",
    )
    add_json_option(form_group)
    parser.add_argument("-o", "--out", metavar="FILE", type=Path, help=OUTPUT_HELP)
    add_overwrite_option(parser)
    add_color_option(parser)
    add_encoding_options(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Encodes the texts and writes the result. Returns exit code 0."""
    output = _output_kind(arguments)
    take_model_of_inputs(arguments)
    check_outputs(arguments, [arguments.out])
    tokenizer = load_tokenizer(arguments)
    options = encode_options(arguments)
    batches = (texts for _, texts in named_texts(arguments))
    if output == "npy":
        with _rewindable_output(arguments.out) as file:
            writer = NpyWriter(file, tokenizer.encode_array(b"").dtype)
            for ids in _encode_flat(tokenizer, batches, options):
                writer.write(ids)
            writer.finish()
        return 0
    with open_output(arguments.out) as file:
        is_terminal = file.isatty()
        for text in _text_output(arguments, output, tokenizer, batches, is_colored(arguments, file)):
            file.write(text.encode())
            if is_terminal:
                file.flush()
    return 0


def _output_kind(arguments: argparse.Namespace) -> str:
    """Returns the output kind of ``--to``, or the default for the output file; ``list`` for ``--json``."""
    if arguments.json:
        return "list"
    if arguments.to == "npy" and arguments.out is None and sys.stdout.isatty():
        raise ArgumentError("a .npy array cannot be shown in a terminal: name a file with -o FILE")
    if arguments.to is not None:
        return str(arguments.to)
    if arguments.out is not None:
        return "npy" if arguments.out.suffix == ".npy" else "ids"
    return "pieces" if sys.stdout.isatty() else "ids"


def _encode_flat(tokenizer: Tokenizer, batches: Iterable[list[bytes]], options: Options) -> Iterator[IdArray]:
    for batch in batches:
        if len(batch) == 1:
            yield tokenizer.encode_array(batch[0], options=options)
        else:
            yield tokenizer.encode_batch(batch, options=options).ids


def _text_output(
    arguments: argparse.Namespace, output: str, tokenizer: Tokenizer, batches: Iterable[list[bytes]], is_colored: bool
) -> Iterator[str]:
    """Yields the output for all texts in parts; ``output`` is any kind of output except npy."""
    options = encode_options(arguments)
    if output == "ids":
        for batch in batches:
            encodings = tokenizer.encode_batch(batch, options=options)
            yield from _id_line(encodings[0]) if len(batch) == 1 else _id_lines(encodings)
        return
    rows = (tokenizer.tokens(text, options=options) for batch in batches for text in batch)
    if output == "list":
        yield from json_list_parts(map(_row_to_json, rows))
    elif output == "json":
        yield from (json.dumps(_row_to_json(tokens), ensure_ascii=False) + "\n" for tokens in rows)
    else:
        special_ids = _special_ids(tokenizer) if is_colored else None
        yield from (_piece_line(tokens, special_ids) for tokens in rows)


def _id_lines(batch: Batch) -> Iterator[str]:
    numbers = list(map(str, batch.ids.tolist()))
    offsets = batch.offsets.tolist()
    yield "".join(f"{' '.join(numbers[start:end])}\n" for start, end in pairwise(offsets))


def _id_line(row: IdArray) -> Iterator[str]:
    """Yields a line of ids separated by spaces. Long lines are yielded in parts to limit memory."""
    for start in range(0, len(row), _IDS_PER_WRITE):
        yield " " * (start > 0) + " ".join(map(str, row[start : start + _IDS_PER_WRITE].tolist()))
    yield "\n"


def _row_to_json(tokens: list[Token]) -> dict[str, Any]:
    return {
        "ids": [token.id for token in tokens],
        "pieces": [style.piece_to_json(token.piece) for token in tokens],
        "spans": [[token.start, token.end] for token in tokens],
        "byte_spans": [[token.byte_start, token.byte_end] for token in tokens],
    }


def _piece_line(tokens: list[Token], special_ids: frozenset[int] | None) -> str:
    """Returns the pieces as a line of text: in colours, with another colour for ``special_ids``; or separated by spaces
    if ``special_ids`` is None."""
    if special_ids is None:
        return " ".join(style.visible_text(token.piece) for token in tokens) + "\n"
    text = style.color_pieces((token.piece, token.id in special_ids) for token in tokens)
    return text if text.endswith("\n") else text + "\n"


def _special_ids(tokenizer: Tokenizer) -> frozenset[int]:
    """Returns the ids that have the colour of special tokens: special tokens and the unknown piece."""
    vocab = tokenizer.spec.vocab
    return frozenset(tokenizer.special_tokens.values()) | set(vocab.ids[vocab.kinds == Kind.UNKNOWN].tolist())


@contextmanager
def _rewindable_output(path: Path | None) -> Iterator[IO[bytes]]:
    """Opens a file that can seek: the file ``path``, or a temporary file if ``path`` is None.

    The temporary file is copied to standard output at the end.
    """
    if path is not None:
        with open_replacement(path) as file:
            yield file
        return
    with tempfile.TemporaryFile() as temporary:
        yield temporary
        temporary.seek(0)
        copyfileobj(temporary, binary_stdout())
        binary_stdout().flush()
