"""Splits texts into documents: the first half of each source is for the warm-up, the second half for the test."""

from __future__ import annotations

import functools
import hashlib
import os
import sysconfig
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TypeAlias

from . import worst_texts
from .cases import DATA, Text
from .workloads import RunSize

Document: TypeAlias = "str | bytes"

MAX_SOURCE_BYTES = 16 << 20
"""The maximum number of bytes of source code to read from each folder."""


@dataclass(frozen=True, slots=True)
class Inputs:
    """The documents of the warm-up and of each round. Warm-up and rounds use different parts of the sources."""

    warm_up: Sequence[str]
    rounds: Sequence[Sequence[Document]]


def create_inputs(text: Text, document_bytes: int, run_size: RunSize) -> Inputs:
    """Splits a text into documents of about ``document_bytes`` bytes. The result is the same on every call."""
    if text.name in worst_texts.TEXT_GENERATORS:
        return Inputs(
            [], [[worst_texts.generate_worst_text(text.name, document_bytes, turn)] for turn in range(run_size.rounds)]
        )
    warm_up, test = read_documents(text, document_bytes, run_size)
    return Inputs(warm_up, split_portions(test, run_size.rounds))


def read_documents(text: Text, document_bytes: int, run_size: RunSize) -> tuple[list[str], list[str]]:
    """Returns the documents of the warm-up and of the test."""
    warm_up: list[str] = []
    test: list[str] = []
    share = -(-run_size.test_bytes // len(text.sources) // document_bytes) * document_bytes  # whole documents
    for name in text.sources:
        data = read_source(name)
        middle_position = character_border(data, len(data) // 2)
        warm_up += split_documents(data[:middle_position], run_size.warm_up_bytes // len(text.sources), document_bytes)
        test += split_documents(data[middle_position:], share, document_bytes)
    return warm_up, test[: run_size.test_bytes // document_bytes]


@functools.cache
def read_source(name: str) -> bytes:
    """Returns the content of a source, which is a file of the corpus or the source code that is installed on this
    machine."""
    if name == "python library":
        return b"\n".join(read_library_sources(Path(sysconfig.get_path("stdlib"))))
    if name == "cargo registry":
        cargo_home = Path(os.environ.get("CARGO_HOME", Path.home() / ".cargo"))
        return b"\n".join(read_sources(cargo_home / "registry" / "src", "*.rs")) or read_source("python library")
    return (DATA / "corpus" / name).read_bytes()


def read_library_sources(root: Path) -> Iterable[bytes]:
    """Yields the modules of Python's library, without tests and installed packages."""
    skipped_folders = frozenset({"test", "tests", "idle_test", "site-packages", "dist-packages"})
    return read_sources(root, "*.py", skipped_folders)


def read_sources(root: Path, pattern: str, skipped_folders: frozenset[str] = frozenset()) -> Iterable[bytes]:
    """Yields the content of files below ``root``, sorted by a hash of the path, until `MAX_SOURCE_BYTES` are reached.

    Files in ``skipped_folders`` and files that are not UTF-8 are skipped.
    """
    paths = {path.relative_to(root).as_posix(): path for path in root.rglob(pattern)}
    size = 0
    for name in sorted(paths, key=lambda name: hashlib.blake2b(name.encode()).digest()):
        if size >= MAX_SOURCE_BYTES:
            return
        if skipped_folders.isdisjoint(name.split("/")):
            data = paths[name].read_bytes()
            if is_utf8(data):
                size += len(data)
                yield data


def is_utf8(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def split_documents(data: bytes, limit: int, document_bytes: int) -> list[str]:
    """Splits the first ``limit`` bytes into documents. A document has ``document_bytes`` bytes, or up to three bytes
    fewer so that it does not end inside a character.
    """
    borders = [0]
    end = character_border(data, limit)
    while borders[-1] < end:
        borders.append(character_border(data, min(end, borders[-1] + document_bytes)))
    return [data[start:stop].decode() for start, stop in pairwise(borders)]


def character_border(data: bytes, at: int) -> int:
    """Returns ``at``, or the start of the character that contains ``at``, but at most the length of the data."""
    if at >= len(data):
        return len(data)
    while data[at] & 0xC0 == 0x80:
        at -= 1
    return at


def split_portions(documents: list[str], rounds: int) -> list[list[str]]:
    """Divides documents among the rounds; each round gets documents from all parts of the text, so that rounds are
    similar."""
    return [documents[start::rounds] for start in range(rounds)]


def repeat_documents(documents: Sequence[Document], count: int) -> Sequence[Document]:
    """Repeats the text of the documents ``count`` times and splits each copy at other positions, so no document
    repeats."""
    if count == 1:
        return documents
    joined_text = "".join(map(str, documents))
    length = max(1, len(joined_text) // len(documents))
    document_copies: list[str] = []
    for turn in range(count):
        shift = turn * length // count
        starts = [0, *range(shift, len(joined_text), length)] if shift else list(range(0, len(joined_text), length))
        document_copies += [joined_text[start:stop] for start, stop in pairwise([*starts, len(joined_text)])]
    return document_copies


def count_utf8_bytes(documents: Iterable[Document]) -> int:
    """Returns the number of bytes of UTF-8. `str.encode` does not cache the UTF-8 in the str."""
    return sum(len(document.encode()) if isinstance(document, str) else len(document) for document in documents)
