"""Reads texts from files or from standard input, whole or as lines."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedReader
from itertools import islice

_BATCH_LINES = 4096
_BATCH_BYTES = 1 << 22

STDIN = "-"  # the file name that selects standard input


@contextmanager
def open_input(name: str) -> Iterator[BufferedReader]:
    """Opens a file for reading bytes; the name ``-`` selects standard input."""
    if name == STDIN:
        assert isinstance(sys.stdin.buffer, BufferedReader)
        yield sys.stdin.buffer
    else:
        with open(name, "rb") as file:
            yield file


def whole_texts(names: list[str]) -> Iterator[tuple[str, bytes]]:
    """Yields the name and content of each file; without names, the name and content of standard input."""
    for name in names or [STDIN]:
        with open_input(name) as file:
            yield name, file.read()


def line_batches(name: str) -> Iterator[list[bytes]]:
    """Yields the lines of a file without their line feeds, in batches of a few megabytes.

    A line feed at the end of the file ends the last line; no empty line follows it.
    """
    with open_input(name) as file:
        if file.isatty():
            yield from ([line.removesuffix(b"\n")] for line in file)
            return
        while lines := file.readlines(_BATCH_BYTES):
            remaining_lines = iter(lines)
            while batch := [line.removesuffix(b"\n") for line in islice(remaining_lines, _BATCH_LINES)]:
                yield batch
