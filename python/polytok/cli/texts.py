"""Reads the texts of the command line, of files of any kind, and of standard input."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedReader
from typing import IO, Any

from ..reading import InputOptions, SkippedTexts
from ..reading.files import open_file, read
from ..reading.kinds import format_by_name
from ..reading.names import files_named
from .inputs import input_names, parse_input_options

STDIN = "-"  # the file name that selects standard input
TEXT_OPTION = "--text"  # the name of texts on the command line, in tables

_NO_LABEL = "(none)"
_Batch = tuple[str, list[bytes], list[Any]]  # the name of an input, texts, and the value of a field of each text


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

    Without inputs, standard input is read. Skipped texts are reported on standard error at the end. By default, bad
    bytes are kept.
    """
    return ((name, texts) for name, texts, _ in _batches(arguments))


def labelled_texts(arguments: argparse.Namespace, by: str) -> Iterator[tuple[str, list[bytes]]]:
    """Yields the texts of all inputs in batches, each with its label: by ``file``, ``folder``, or the value of a field.

    Texts without the field have the label ``(none)``.
    """
    if by in ("file", "folder"):
        for name, texts in named_texts(arguments):
            yield name if by == "file" or name in (STDIN, TEXT_OPTION) else os.path.dirname(name) or os.curdir, texts
        return
    for _, texts, values in _batches(arguments, by):
        texts_of_label: dict[str, list[bytes]] = {}
        for text, value in zip(texts, values, strict=True):
            texts_of_label.setdefault(_NO_LABEL if value is None else str(value), []).append(text)
        yield from texts_of_label.items()


def requested_texts(arguments: argparse.Namespace) -> list[bytes] | None:
    """Returns all texts of the inputs and of ``--text``; None if none are named."""
    if not arguments.text and not input_names(arguments):
        return None
    return [text for _, texts in named_texts(arguments) for text in texts]


def _batches(arguments: argparse.Namespace, field: str | None = None) -> Iterator[_Batch]:
    input_options = parse_input_options(arguments)
    skipped = SkippedTexts()
    for text in arguments.text:
        yield TEXT_OPTION, [text.encode("utf-8", "surrogateescape")], [None]
    for name in input_file_names(arguments):
        yield from _file_batches(name, input_options, field, skipped)
    if report := str(skipped):
        print(f"polytok: {report}", file=sys.stderr)


def input_file_names(arguments: argparse.Namespace) -> list[str]:
    """Returns the files of all inputs; ``-`` for standard input, also without any input and text."""
    names = input_names(arguments)
    if not names:
        return [] if arguments.text else [STDIN]
    return [file for name in names for file in ([name] if name == STDIN else files_named(name))]


def _file_batches(name: str, input_options: InputOptions, field: str | None, skipped: SkippedTexts) -> Iterator[_Batch]:
    """Yields the texts of a file in batches. An empty text file is an empty text, unless it is split."""
    columns = [] if field is None else [field]
    with _open(name) as file:
        if input_options.lines and file.isatty():
            yield from ((name, [line.removesuffix(b"\n")], [None]) for line in file)
            return
        is_empty = True
        for documents in read(name, file, input_options, input_options.bad_bytes or "keep", columns):
            is_empty = False
            for text in documents.skipped:
                skipped.add(text)
            if documents.damage is not None:
                skipped.damage.append(documents.damage)
            texts = [text or b"" for text in documents.texts.to_list()]
            yield (
                name,
                texts,
                documents.columns[field].to_pylist() if documents.columns is not None else [None] * len(texts),
            )
    if is_empty and input_options.is_whole_file and format_by_name(name) == "text":
        yield name, [b""], [None]


@contextmanager
def _open(name: str) -> Iterator[IO[bytes]]:
    if name == STDIN:
        yield sys.stdin.buffer
    else:
        with open_file(name) as file:
            yield file
