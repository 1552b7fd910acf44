"""``polytok decode``: converts ids to text."""

from __future__ import annotations

import argparse
import codecs
import io
import os
from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedReader
from typing import Any, cast

from ..errors import ArgumentError, FormatError
from ..npy import MAGIC, read_ids
from ..tokenizer import Tokenizer
from ..values import Ids
from .json_output import add_json_option, print_json_list
from .models import add_model_options, load_tokenizer, take_model_of_inputs
from .options import add_verb_parser, binary_stdout
from .style import piece_to_json
from .texts import STDIN, open_input

_EXAMPLES = """\
  polytok encode book.txt | polytok decode
  polytok decode --ids 72 101 108
  echo '[72, 101, 108]' | polytok decode
  polytok decode -m llama.model corpus.npy > corpus.txt
"""
_BYTES_PER_READ = 1 << 20
_MAX_ID_DIGITS = 10
_SEPARATORS_TO_SPACES = bytes.maketrans(b",[]\n\r\t\v\f", b" " * 8)
_IDS_OPTION = "--ids"  # the name of ids on the command line


def add_parser(subparsers: Any) -> None:
    """Adds the parser of ``decode`` to ``subparsers``."""
    parser = add_verb_parser(subparsers, "decode", "decode ids to text", _EXAMPLES)
    parser.add_argument(
        "inputs",
        nargs="*",
        metavar="INPUT",
        help="files or URLs of ids, as numbers separated by spaces, line breaks or commas, as a JSON array, or as a "
        ".npy array; without INPUT and --ids, and for `-`, standard input. Each file is one sequence of ids",
    )
    parser.add_argument(
        _IDS_OPTION,
        nargs="+",
        action="append",
        default=[],
        metavar="ID",
        help="a sequence of ids on the command line, separated by spaces or commas (can be repeated)",
    )
    add_model_options(parser)
    parser.add_argument("--skip-special", action="store_true", help="write no special tokens")
    parser.add_argument("--lines", action="store_true", help="each line of ids is a separate text, written as a line")
    parser.add_argument(
        "--errors",
        choices=["replace", "strict", "ignore"],
        help="for bytes that are not UTF-8: write U+FFFD, fail, or write nothing; by default the bytes are unchanged",
    )
    add_json_option(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Decodes the files to standard output. Returns exit code 0."""
    take_model_of_inputs(arguments)
    _refuse_ids_as_files(arguments.inputs)
    tokenizer = load_tokenizer(arguments)
    if arguments.json:
        print_json_list(_texts_as_json(arguments, tokenizer))
        return 0
    out = binary_stdout()
    for name, file in _open_inputs(arguments):
        for part in _decode_file(arguments, tokenizer, file, name):
            out.write(part)
            if not arguments.lines:  # a flush after each short line would be slow; other parts are large blocks
                out.flush()
    out.flush()
    return 0


def _refuse_ids_as_files(names: list[str]) -> None:
    """Raises `ArgumentError` if an input is not a file but an id or a list of ids."""
    missing_names = [name for name in names if not os.path.exists(name)]
    words_of_names = [name.encode(errors="replace").translate(_SEPARATORS_TO_SPACES).split() for name in missing_names]
    id_words = [word.decode() for words in words_of_names if all(map(bytes.isdigit, words)) for word in words]
    if id_words:
        raise ArgumentError(
            f"{missing_names[0]}: no such file; for ids on the command line, use --ids {' '.join(id_words)}"
        )


def _open_inputs(arguments: argparse.Namespace) -> Iterator[tuple[str, BufferedReader]]:
    """Yields the ids of the command line and of each file, as open files with their names."""
    for words in arguments.ids:
        data = " ".join(words).encode(errors="surrogateescape")
        yield _IDS_OPTION, BufferedReader(cast("Any", io.BytesIO(data)))
    for name in arguments.inputs or ([] if arguments.ids else [STDIN]):
        with _open_ids(name) as file:
            yield name, file


@contextmanager
def _open_ids(name: str) -> Iterator[BufferedReader]:
    """Opens a file of ids. The files of URLs get a buffer, so that the first bytes can be examined."""
    with open_input(name) as file:
        yield file if isinstance(file, BufferedReader) else BufferedReader(cast("Any", file))


def _texts_as_json(arguments: argparse.Namespace, tokenizer: Tokenizer) -> Iterator[dict[str, Any]]:
    """Yields each text with the name of its file; with ``--lines``, a text for each line."""
    for name, file in _open_inputs(arguments):
        parts = _decode_file(arguments, tokenizer, file, name)
        texts = (part.removesuffix(b"\n") for part in parts) if arguments.lines else [b"".join(parts)]
        for text in texts:
            yield {"file": name, "text": piece_to_json(text)}


def _decode_file(
    arguments: argparse.Namespace, tokenizer: Tokenizer, file: BufferedReader, name: str
) -> Iterator[bytes]:
    """Decodes a file of ids and yields the text in parts; with ``--lines``, each part is a line."""
    if file.peek(len(MAGIC)).startswith(MAGIC):
        if arguments.lines:
            raise ArgumentError(f"{name}: a .npy array has no lines; remove --lines")
        yield from _decode_stream(arguments, tokenizer, _read_array_parts(file, name))
    elif arguments.lines:
        for number, line in enumerate(file, start=1):
            ids = _parse_ids(line, f"{name}: line {number}")
            yield b"".join(_decode_stream(arguments, tokenizer, iter([ids]))) + b"\n"
    else:
        yield from _decode_stream(arguments, tokenizer, _read_text_parts(file, name))


def _decode_stream(arguments: argparse.Namespace, tokenizer: Tokenizer, id_parts: Iterator[Ids]) -> Iterator[bytes]:
    """Decodes one sequence of ids that arrives in parts, and yields text for each part. A character that is incomplete
    at the end of a part is yielded with the next part."""
    decoder = tokenizer.byte_decoder(skip_special=arguments.skip_special)
    if arguments.errors is None:
        for ids in id_parts:
            yield decoder.push(ids)
        yield decoder.finish()
        return
    text_decoder = codecs.getincrementaldecoder("utf-8")(arguments.errors)
    for ids in id_parts:
        yield text_decoder.decode(decoder.push(ids)).encode()
    yield text_decoder.decode(decoder.finish(), final=True).encode()


def _read_array_parts(file: BufferedReader, name: str) -> Iterator[Ids]:
    try:
        yield from read_ids(file)
    except ValueError as error:
        raise FormatError(f"{name}: {error}") from error


def _read_text_parts(file: BufferedReader, name: str) -> Iterator[Ids]:
    """Yields the ids in a file of decimal numbers, one list for each block. A number that crosses the end of a block is
    in the list of the next block."""
    remaining_text = b""
    offset = 0
    while block := file.read1(_BYTES_PER_READ):
        text = (remaining_text + block).translate(_SEPARATORS_TO_SPACES)
        # For text without separators that is longer than any id, `_parse_ids` raises an error.
        end = text.rfind(b" ") + 1 or (len(text) if len(text) > _MAX_ID_DIGITS else 0)
        remaining_text = text[end:]
        yield _parse_ids(text[:end], f"{name}: after byte {offset}")
        offset += end
    yield _parse_ids(remaining_text, f"{name}: after byte {offset}")


def _parse_ids(text: bytes, place: str) -> list[int]:
    words = text.translate(_SEPARATORS_TO_SPACES).split()
    try:
        return [_parse_id(word) for word in words]
    except ValueError as error:
        raise FormatError(f"{place}: {error}; write ids as decimal numbers, separated by spaces or commas") from error


def _parse_id(word: bytes) -> int:
    if len(word) > _MAX_ID_DIGITS or not word.isdigit():
        raise ValueError(f"{word[:40].decode(errors='backslashreplace')!r} is not an id")
    return int(word)
