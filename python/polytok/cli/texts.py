"""Reads input from files, or from standard input."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedReader
from itertools import islice

_BATCH_LINES = 4096
_BATCH_BYTES = 1 << 22

STDIN = "-"


@contextmanager
def opened(name: str) -> Iterator[BufferedReader]:
    """A file by its name; ``-`` is standard input."""
    if name == STDIN:
        assert isinstance(sys.stdin.buffer, BufferedReader)
        yield sys.stdin.buffer
    else:
        with open(name, "rb") as file:
            yield file


def whole_texts(names: list[str]) -> Iterator[tuple[str, bytes]]:
    """The files, each as one text, with their names."""
    for name in names or [STDIN]:
        with opened(name) as file:
            yield name, file.read()


def line_batches(name: str) -> Iterator[list[bytes]]:
    """A file's lines without their line feeds, a few megabytes at a time.

    A line feed at the end of the file ends the last line and does not begin another.
    """
    with opened(name) as file:
        if file.isatty():
            yield from ([line.removesuffix(b"\n")] for line in file)
            return
        while lines := file.readlines(_BATCH_BYTES):
            rest = iter(lines)
            while batch := [line.removesuffix(b"\n") for line in islice(rest, _BATCH_LINES)]:
                yield batch
