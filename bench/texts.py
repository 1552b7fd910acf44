"""Kinds of text to documents: the first half of each source to warm up on, the second to be tested on."""

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

ENOUGH = 16 << 20
"""Bytes of source code that are read at most of each place."""


@dataclass(frozen=True, slots=True)
class Inputs:
    """The documents to warm up on, and those of each round; they share no text."""

    warm_up: Sequence[str]
    rounds: Sequence[Sequence[Document]]


def inputs(text: Text, document: int, amount: Amount) -> Inputs:
    """A text as documents of about so many bytes. The same on every call."""
    if text.name in worst_texts.MAKERS:
        return Inputs([], [[worst_texts.made(text.name, document, turn)] for turn in range(amount.rounds)])
    warm_up, test = documents(text, document, amount)
    return Inputs(warm_up, portions(test, amount.rounds))


def documents(text: Text, document: int, amount: Amount) -> tuple[list[str], list[str]]:
    """The documents to warm up on and those to test on."""
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
    """The source code on this machine, or a file of the corpus."""
    if name == "python library":
        return b"\n".join(library_sources(Path(sysconfig.get_path("stdlib"))))
    if name == "cargo registry":
        home = Path(os.environ.get("CARGO_HOME", Path.home() / ".cargo"))
        return b"\n".join(sources(home / "registry" / "src", "*.rs")) or source("python library")
    return (DATA / "corpus" / name).read_bytes()


def library_sources(root: Path) -> Iterable[bytes]:
    """All modules, without tests and installed packages."""
    skipped = frozenset({"test", "tests", "idle_test", "site-packages", "dist-packages"})
    return sources(root, "*.py", skipped)


def sources(root: Path, pattern: str, skipped: frozenset[str] = frozenset()) -> Iterable[bytes]:
    """The files below, in the order of their paths' hashes, up to `ENOUGH`; without folders that are skipped and what
    is not UTF-8."""
    paths = {path.relative_to(root).as_posix(): path for path in root.rglob(pattern)}
    size = 0
    for name in sorted(paths, key=lambda name: hashlib.blake2b(name.encode()).digest()):
        if size >= ENOUGH:
            return
        if skipped.isdisjoint(name.split("/")):
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
    """Documents of so many bytes, or up to three fewer where a character would be cut, from ``limit`` bytes."""
    cuts = [0]
    end = border(data, limit)
    while cuts[-1] < end:
        cuts.append(border(data, min(end, cuts[-1] + document)))
    return [data[start:stop].decode() for start, stop in pairwise(cuts)]


def border(data: bytes, at: int) -> int:
    """The last place up to ``at`` where a character starts, or the end."""
    if at >= len(data):
        return len(data)
    while data[at] & 0xC0 == 0x80:
        at -= 1
    return at


def portions(documents: list[str], rounds: int) -> list[list[str]]:
    """One portion a round. Every portion takes from all over the text, so that rounds are alike."""
    return [documents[start::rounds] for start in range(rounds)]


def copies(documents: Sequence[Document], count: int) -> Sequence[Document]:
    """The documents so often, each time cut at other places, so that no document comes twice."""
    if count == 1:
        return documents
    whole = "".join(map(str, documents))
    length = max(1, len(whole) // len(documents))
    made: list[str] = []
    for turn in range(count):
        shift = turn * length // count
        starts = [0, *range(shift, len(whole), length)] if shift else list(range(0, len(whole), length))
        made += [whole[start:stop] for start, stop in pairwise([*starts, len(whole)])]
    return made


def utf8_bytes(documents: Iterable[Document]) -> int:
    """Counted on a copy: a str keeps its UTF-8 once it was asked for it, which would save the engine that work."""
    return sum(len(document.encode()) if isinstance(document, str) else len(document) for document in documents)
