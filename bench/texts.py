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
from .workloads import Amount

Document: TypeAlias = "str | bytes"

MAX_SOURCE_BYTES = 16 << 20
"""The maximum number of bytes of source code to read from each folder."""


@dataclass(frozen=True, slots=True)
class Inputs:
    """The documents of the warm-up, and the documents of each round, which are from other parts of the sources."""

    warm_up: Sequence[str]
    rounds: Sequence[Sequence[Document]]


def inputs(text: Text, document: int, amount: Amount) -> Inputs:
    """Splits a text into documents of about ``document`` bytes. The result is the same on every call."""
    if text.name in worst_texts.MAKERS:
        return Inputs([], [[worst_texts.worst_text(text.name, document, turn)] for turn in range(amount.rounds)])
    warm_up, test = documents(text, document, amount)
    return Inputs(warm_up, portions(test, amount.rounds))


def documents(text: Text, document: int, amount: Amount) -> tuple[list[str], list[str]]:
    """Returns the documents of the warm-up and of the test."""
    warm_up: list[str] = []
    test: list[str] = []
    share = -(-amount.test // len(text.sources) // document) * document  # whole documents
    for name in text.sources:
        data = source(name)
        middle = border(data, len(data) // 2)
        warm_up += cut(data[:middle], amount.warm_up // len(text.sources), document)
        test += cut(data[middle:], share, document)
    return warm_up, test[: amount.test // document]


@functools.cache
def source(name: str) -> bytes:
    """Returns the content of a source: source code on this machine, or a file of the corpus."""
    if name == "python library":
        return b"\n".join(library_sources(Path(sysconfig.get_path("stdlib"))))
    if name == "cargo registry":
        home = Path(os.environ.get("CARGO_HOME", Path.home() / ".cargo"))
        return b"\n".join(sources(home / "registry" / "src", "*.rs")) or source("python library")
    return (DATA / "corpus" / name).read_bytes()


def library_sources(root: Path) -> Iterable[bytes]:
    """Yields the modules of Python's library, without tests and installed packages."""
    skipped_folders = frozenset({"test", "tests", "idle_test", "site-packages", "dist-packages"})
    return sources(root, "*.py", skipped_folders)


def sources(root: Path, pattern: str, skipped_folders: frozenset[str] = frozenset()) -> Iterable[bytes]:
    """Yields the content of files below ``root`` in the order of hashes of their paths, up to `MAX_SOURCE_BYTES` bytes.

    Folders in ``skipped_folders``, and files that are not UTF-8, are excluded.
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


def cut(data: bytes, limit: int, document: int) -> list[str]:
    """Splits the first ``limit`` bytes into documents of ``document`` bytes, or up to three bytes fewer.

    A document never ends inside a character.
    """
    cuts = [0]
    end = border(data, limit)
    while cuts[-1] < end:
        cuts.append(border(data, min(end, cuts[-1] + document)))
    return [data[start:stop].decode() for start, stop in pairwise(cuts)]


def border(data: bytes, at: int) -> int:
    """Returns the last position up to ``at`` where a character starts, or the end of the data."""
    if at >= len(data):
        return len(data)
    while data[at] & 0xC0 == 0x80:
        at -= 1
    return at


def portions(documents: list[str], rounds: int) -> list[list[str]]:
    """Returns a portion for each round, with documents of all parts of the text, so that rounds are similar."""
    return [documents[start::rounds] for start in range(rounds)]


def copies(documents: Sequence[Document], count: int) -> Sequence[Document]:
    """Returns the text of the documents ``count`` times, split at different positions, so that no document repeats."""
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


def utf8_bytes(documents: Iterable[Document]) -> int:
    """Returns the number of bytes of UTF-8. `str.encode` is used because it does not cache the UTF-8 in the str."""
    return sum(len(document.encode()) if isinstance(document, str) else len(document) for document in documents)
