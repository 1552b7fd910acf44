"""Reads the texts of the command line, of files of any kind, and of standard input."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedReader
from typing import IO

from ..reading import BadBytes, InputOptions, SkippedTexts
from ..reading.files import open_file, read
from ..reading.kinds import format_by_name
from ..reading.names import files_named
from .inputs import input_names, parse_input_options

STDIN = "-"  # the file name that selects standard input
TEXT_OPTION = "--text"  # the name of texts on the command line, in tables


@contextmanager
def open_input(name: str) -> Iterator[BufferedReader]:
    """Opens a file for reading bytes; the name ``-`` selects standard input."""
    if name == STDIN:
        assert isinstance(sys.stdin.buffer, BufferedReader)
        yield sys.stdin.buffer
    else:
        with open(name, "rb") as file:
            yield file


def named_texts(arguments: argparse.Namespace) -> Iterator[tuple[str, list[bytes]]]:
    """Yields the texts of all inputs in batches of a few megabytes, each with the name of its input.

    Without inputs, standard input is read. Skipped texts are reported on standard error at the end.
    """
    for text in arguments.text:
        yield TEXT_OPTION, [text.encode("utf-8", "surrogateescape")]
    yield from texts_of_files(input_file_names(arguments), parse_input_options(arguments))


def texts_of_files(names: list[str], input_options: InputOptions) -> Iterator[tuple[str, list[bytes]]]:
    """Yields the texts of files in batches, each with the name of its file. By default, bad bytes are kept.

    Skipped texts are reported on standard error at the end.
    """
    skipped = SkippedTexts()
    for name in names:
        for batch in _file_batches(name, input_options, input_options.bad_bytes or "keep", skipped):
            yield name, batch
    if skipped.skipped:
        print(f"polytok: {skipped}", file=sys.stderr)


def input_file_names(arguments: argparse.Namespace) -> list[str]:
    """Returns the files of all inputs; ``-`` for standard input, also without any input and text."""
    names = input_names(arguments)
    if not names:
        return [] if arguments.text else [STDIN]
    return [file for name in names for file in ([name] if name == STDIN else files_named(name))]


def _file_batches(
    name: str, input_options: InputOptions, bad_bytes: BadBytes, skipped: SkippedTexts
) -> Iterator[list[bytes]]:
    """Yields the texts of a file in batches. An empty text file is an empty text, unless it is split."""
    with _open(name) as file:
        if input_options.lines and file.isatty():
            yield from ([line.removesuffix(b"\n")] for line in file)
            return
        is_empty = True
        for documents in read(name, file, input_options, bad_bytes):
            is_empty = False
            for text in documents.skipped:
                skipped.add(text)
            yield [text or b"" for text in documents.texts.to_list()]
    if is_empty and input_options.is_whole_file and format_by_name(name) == "text":
        yield [b""]


@contextmanager
def _open(name: str) -> Iterator[IO[bytes]]:
    if name == STDIN:
        yield sys.stdin.buffer
    else:
        with open_file(name) as file:
            yield file
