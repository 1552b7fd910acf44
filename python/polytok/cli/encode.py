"""``polytok encode``: texts to ids."""

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
from ..files import replacing
from ..npy import NpyWriter
from ..options import Options
from ..spec import Kind
from ..tokenizer import Tokenizer
from ..values import Batch, IdArray, Token
from . import style
from .options import (
    add_color,
    add_encoding,
    add_verb,
    encode_options,
    is_colored,
    load_tokenizer,
    stdout,
)
from .texts import STDIN, line_batches, whole_texts

_EXAMPLES = """\
  echo 'Hello, world' | polytok encode
  polytok encode --output json --lines texts.txt > tokens.jsonl
  polytok encode -m llama.model --add-special corpus.txt -o corpus.npy
  polytok encode --special '<|endoftext|>' --reject-special corpus.txt
"""
_ROW = 1 << 20


def add_parser(verbs: Any) -> None:
    """Add the verb."""
    parser = add_verb(verbs, "encode", "encode texts to ids", _EXAMPLES)
    parser.add_argument("files", nargs="*", metavar="FILE", help="a text each; standard input without, or for `-`")
    parser.add_argument(
        "--output",
        choices=["ids", "pieces", "json", "npy"],
        help="ids and pieces: a line per text; json: an object per text; npy: one array of the ids of all texts. "
        "By default pieces in a terminal, npy into a file .npy, else ids",
    )
    parser.add_argument(
        "-o", dest="out", metavar="FILE", type=Path, help="write to a file, which is replaced at the end"
    )
    add_color(parser)
    add_encoding(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Encode."""
    output = _output(arguments)
    tokenizer = load_tokenizer(arguments)
    options = encode_options(arguments)
    batches = _batches(arguments)
    if output == "npy":
        with _rewindable(arguments.out) as file:
            writer = NpyWriter(file, tokenizer.encode_array(b"").dtype)
            for ids in _flat_ids(tokenizer, batches, options):
                writer.write(ids)
            writer.finish()
        return 0
    with _sequential(arguments.out) as file:
        is_terminal = file.isatty()
        for text in _shown(arguments, output, tokenizer, batches, is_colored(arguments, file)):
            file.write(text.encode())
            if is_terminal:
                file.flush()
    return 0


def _output(arguments: argparse.Namespace) -> str:
    """The kind of output, if it is not given."""
    if arguments.output == "npy" and arguments.out is None and sys.stdout.isatty():
        raise ArgumentError("a .npy file is not for a terminal: say -o FILE")
    if arguments.output is not None:
        return str(arguments.output)
    if arguments.out is not None:
        return "npy" if arguments.out.suffix == ".npy" else "ids"
    return "pieces" if sys.stdout.isatty() else "ids"


def _batches(arguments: argparse.Namespace) -> Iterator[list[bytes]]:
    """Texts, in batches that are encoded together."""
    if not arguments.lines:
        return ([text] for _, text in whole_texts(arguments.files))
    return (batch for name in arguments.files or [STDIN] for batch in line_batches(name))


def _flat_ids(tokenizer: Tokenizer, batches: Iterable[list[bytes]], options: Options) -> Iterator[IdArray]:
    for batch in batches:
        if len(batch) == 1:
            yield tokenizer.encode_array(batch[0], options=options)
        else:
            yield tokenizer.encode_batch(batch, options=options).ids


def _shown(
    arguments: argparse.Namespace, output: str, tokenizer: Tokenizer, batches: Iterable[list[bytes]], is_colored: bool
) -> Iterator[str]:
    options = encode_options(arguments)
    if output == "ids":
        for batch in batches:
            encoded = tokenizer.encode_batch(batch, options=options)
            yield from _id_lines(encoded) if len(batch) > 1 else _id_line(encoded[0])
        return
    special = _special_ids(tokenizer)
    for batch in batches:
        for text in batch:
            tokens = tokenizer.tokens(text, options=options)
            yield _json(tokens) if output == "json" else _pieces(tokens, special if is_colored else None)


def _id_lines(batch: Batch) -> Iterator[str]:
    words = list(map(str, batch.ids.tolist()))
    ends = batch.offsets.tolist()
    yield "".join(f"{' '.join(words[start:end])}\n" for start, end in pairwise(ends))


def _id_line(row: IdArray) -> Iterator[str]:
    """The ids separated by spaces, a part at a time, because a text can be long."""
    for start in range(0, len(row), _ROW):
        yield " " * (start > 0) + " ".join(map(str, row[start : start + _ROW].tolist()))
    yield "\n"


def _json(tokens: list[Token]) -> str:
    record = {
        "ids": [token.id for token in tokens],
        "pieces": [style.json_piece(token.piece) for token in tokens],
        "spans": [[token.start, token.end] for token in tokens],
        "byte_spans": [[token.byte_start, token.byte_end] for token in tokens],
    }
    return json.dumps(record, ensure_ascii=False) + "\n"


def _pieces(tokens: list[Token], special: frozenset[int] | None) -> str:
    """The pieces: coloured, or separated by spaces if ``special`` is None."""
    if special is None:
        return " ".join(style.visible(token.piece) for token in tokens) + "\n"
    shown = style.colored((token.piece, token.id in special) for token in tokens)
    return shown if shown.endswith("\n") else shown + "\n"


def _special_ids(tokenizer: Tokenizer) -> frozenset[int]:
    """Special tokens, and the unknown piece, which is not an ordinary piece either."""
    vocab = tokenizer.spec.vocab
    return frozenset(tokenizer.special_tokens.values()) | set(vocab.ids[vocab.kinds == Kind.UNKNOWN].tolist())


@contextmanager
def _sequential(path: Path | None) -> Iterator[IO[bytes]]:
    """The file to write, or standard output."""
    if path is None:
        yield stdout()
        stdout().flush()
    else:
        with replacing(path) as file:
            yield file


@contextmanager
def _rewindable(path: Path | None) -> Iterator[IO[bytes]]:
    """The file to write, or a temporary one that is copied to standard output at the end."""
    if path is not None:
        with replacing(path) as file:
            yield file
        return
    with tempfile.TemporaryFile() as temporary:
        yield temporary
        temporary.seek(0)
        copyfileobj(temporary, stdout())
        stdout().flush()
