"""``polytok encode``: converts texts to ids."""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from shutil import copyfileobj
from typing import IO, Any

import numpy as np

from ..columns import has_kind
from ..errors import ArgumentError
from ..files import open_replacement
from ..npy import NpyWriter
from ..options import Options
from ..reading.files import Part
from ..spec import Kind
from ..tokenizer import Tokenizer
from ..values import Batch, IdArray, Token
from ..visible import visible_text
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
from .texts import named_texts, texts_in_parts

_EXAMPLES = """\
  echo 'Hello, world' | polytok encode
  polytok encode --to json --lines texts.txt > tokens.jsonl
  polytok encode -m llama.model --add-special corpus.txt -o corpus.npy
  polytok encode --special '<|endoftext|>' --reject-special corpus.txt
"""
_IDS_PER_WRITE = 1 << 18


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
    if output == "npy":
        with _rewindable_output(arguments.out) as file:
            writer = NpyWriter(file, tokenizer.encode_array(b"").dtype)
            for encoded in _encodings(tokenizer, texts_in_parts(arguments), options):
                writer.write(encoded.ids)
            writer.finish()
        return 0
    with open_output(arguments.out) as file:
        is_terminal = file.isatty()
        for text in _text_output(arguments, output, tokenizer, is_colored(arguments, file)):
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


@dataclass(frozen=True, slots=True)
class _EncodedPart:
    """Ids of a text that is read in parts; ``is_last`` is true for the last ids of the text."""

    ids: IdArray
    is_last: bool


def _encodings(
    tokenizer: Tokenizer, items: Iterable[list[bytes] | Part], options: Options
) -> Iterator[Batch | _EncodedPart]:
    """Encodes batches of texts, and texts in parts as their parts are read, so that memory never holds a long text."""
    dtype: Any = tokenizer.encode_array(b"").dtype
    encoder = None
    for item in items:
        if not isinstance(item, Part):
            yield tokenizer.encode_batch(item, options=options)
        elif item.is_last and encoder is None:
            yield _EncodedPart(tokenizer.encode_array(item.data, options=options), True)
        else:
            encoder = encoder or tokenizer.encoder(options=options)
            ids = encoder.push(item.data)
            item.check_open(encoder.pending_bytes)
            if item.is_last:
                ids += encoder.finish()
                encoder = None
            yield _EncodedPart(np.array(ids, dtype), item.is_last)


def _text_output(arguments: argparse.Namespace, output: str, tokenizer: Tokenizer, is_colored: bool) -> Iterator[str]:
    """Yields the output for all texts in parts; ``output`` is any kind of output except npy."""
    options = encode_options(arguments)
    if output == "ids":
        has_ids = False
        for encoded in _encodings(tokenizer, texts_in_parts(arguments), options):
            if isinstance(encoded, Batch):
                yield from _id_lines(encoded)
                continue
            yield from _id_parts(encoded.ids, has_ids)
            has_ids = not encoded.is_last and (has_ids or len(encoded.ids) > 0)
            yield "\n" * encoded.is_last
        return
    rows = (tokenizer.tokens(text, options=options) for _, batch in named_texts(arguments) for text in batch)
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


def _id_parts(ids: IdArray, has_ids: bool) -> Iterator[str]:
    """Yields ids separated by spaces, in parts to limit memory; ``has_ids`` is true if ids precede on the line."""
    for start in range(0, len(ids), _IDS_PER_WRITE):
        yield " " * (has_ids or start > 0) + " ".join(map(str, ids[start : start + _IDS_PER_WRITE].tolist()))


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
        return " ".join(visible_text(token.piece) for token in tokens) + "\n"
    text = style.color_pieces((token.piece, token.id in special_ids) for token in tokens)
    return text if text.endswith("\n") else text + "\n"


def _special_ids(tokenizer: Tokenizer) -> frozenset[int]:
    """Returns the ids that have the colour of special tokens: special tokens and the unknown piece."""
    vocab = tokenizer.spec.vocab
    return frozenset(tokenizer.special_tokens.values()) | set(vocab.ids[has_kind(vocab.kinds, Kind.UNKNOWN)].tolist())


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
