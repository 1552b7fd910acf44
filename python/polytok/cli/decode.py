"""``polytok decode``: ids to text."""

from __future__ import annotations

import argparse
import codecs
from collections.abc import Iterator
from io import BufferedReader
from typing import Any

from ..errors import ArgumentError, FormatError
from ..npy import MAGIC, read_ids
from ..tokenizer import Tokenizer
from ..values import Ids
from .options import add_verb, load_tokenizer, stdout
from .texts import STDIN, opened

_EXAMPLES = """\
  polytok encode book.txt | polytok decode
  echo '[72, 101, 108]' | polytok decode
  polytok decode -m llama.model corpus.npy > corpus.txt
"""
_READ = 1 << 20
_LONGEST_NUMBER = 10
_SEPARATORS = bytes.maketrans(b",[]\n\r\t\v\f", b" " * 8)


def add_parser(verbs: Any) -> None:
    """Add the verb."""
    parser = add_verb(verbs, "decode", "decode ids to text", _EXAMPLES)
    parser.add_argument(
        "files",
        nargs="*",
        metavar="FILE",
        help="ids as text (between spaces, line breaks or commas, or a JSON array) or a .npy array; standard input "
        "without, or for `-`. Each file is one sequence",
    )
    parser.add_argument("--skip-special", action="store_true", help="leave special tokens out")
    parser.add_argument("--lines", action="store_true", help="each line of ids is a text of its own, and gives a line")
    parser.add_argument(
        "--errors",
        choices=["replace", "strict", "ignore"],
        help="bytes that are not UTF-8: U+FFFD for them, an error, or nothing; by default they are written as they are",
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Decode."""
    tokenizer = load_tokenizer(arguments)
    out = stdout()
    for name in arguments.files or [STDIN]:
        with opened(name) as file:
            for part in _decoded(arguments, tokenizer, file, name):
                out.write(part)
                if not arguments.lines:  # parts are blocks of the input; lines are too short to flush each of them
                    out.flush()
    out.flush()
    return 0


def _decoded(arguments: argparse.Namespace, tokenizer: Tokenizer, file: BufferedReader, name: str) -> Iterator[bytes]:
    """The bytes of a file's ids, part by part."""
    if file.peek(len(MAGIC)).startswith(MAGIC):
        if arguments.lines:
            raise ArgumentError(f"{name}: --lines is for ids as text, and this is a .npy array")
        yield from _stream(arguments, tokenizer, _array_parts(file, name))
    elif arguments.lines:
        for number, line in enumerate(file, start=1):
            ids = _numbers(line, f"{name}: line {number}")
            yield b"".join(_stream(arguments, tokenizer, iter([ids]))) + b"\n"
    else:
        yield from _stream(arguments, tokenizer, _text_parts(file, name))


def _stream(arguments: argparse.Namespace, tokenizer: Tokenizer, parts: Iterator[Ids]) -> Iterator[bytes]:
    """Decode the parts of one sequence; only an incomplete character is held back."""
    stream = tokenizer.byte_decoder(skip_special=arguments.skip_special)
    if arguments.errors is None:
        for ids in parts:
            yield stream.push(ids)
        yield stream.finish()
        return
    text = codecs.getincrementaldecoder("utf-8")(arguments.errors)
    for ids in parts:
        yield text.decode(stream.push(ids)).encode()
    yield text.decode(stream.finish(), final=True).encode()


def _array_parts(file: BufferedReader, name: str) -> Iterator[Ids]:
    try:
        yield from read_ids(file)
    except ValueError as error:
        raise FormatError(f"{name}: {error}") from error


def _text_parts(file: BufferedReader, name: str) -> Iterator[Ids]:
    """The numbers of a text; a number split by the end of the block is completed by the next one."""
    rest = b""
    at = 0
    while block := file.read1(_READ):
        text = (rest + block).translate(_SEPARATORS)
        # A number that never ends is not a number, and reading does not continue for it.
        cut = text.rfind(b" ") + 1 or (len(text) if len(text) > _LONGEST_NUMBER else 0)
        rest = text[cut:]
        yield _numbers(text[:cut], f"{name}: behind byte {at}")
        at += cut
    yield _numbers(rest, f"{name}: behind byte {at}")


def _numbers(text: bytes, where: str) -> list[int]:
    words = text.translate(_SEPARATORS).split()
    try:
        return [_number(word) for word in words]
    except ValueError as error:
        raise FormatError(f"{where}: {error}; ids are decimal numbers between spaces or commas") from error


def _number(word: bytes) -> int:
    if len(word) > _LONGEST_NUMBER or not word.isdigit():
        raise ValueError(f"{word[:40].decode(errors='backslashreplace')!r} is not an id")
    return int(word)
