"""Kinds of text to documents of about 4 KB: the first half of each source to warm up on, the second to be tested on."""

from __future__ import annotations

import sysconfig
from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path

from .cases import DATA, PYTHON_LIBRARY, Size, Text

DOCUMENT = 4096


def documents(text: Text, size: Size) -> tuple[list[str], list[str]]:
    """The documents to warm up on and those to test on; they share no text. The same on every call."""
    warm_up: list[str] = []
    test: list[str] = []
    for name in text.sources:
        data = source(name)
        middle = border(data, len(data) // 2)
        warm_up += cut(data[:middle], size.warm_up // len(text.sources))
        test += cut(data[middle:], size.test // len(text.sources))
    return warm_up, test


def source(name: str) -> bytes:
    """A corpus file, or the standard library."""
    if name == PYTHON_LIBRARY:
        return b"".join(library_sources(Path(sysconfig.get_path("stdlib"))))
    return (DATA / "corpus" / name).read_bytes()


def library_sources(root: Path) -> Iterable[bytes]:
    """All modules in the order of their paths, without tests, installed packages and what is not UTF-8."""
    for path in sorted(root.rglob("*.py")):
        if {"test", "tests", "idle_test", "site-packages", "dist-packages"}.isdisjoint(path.relative_to(root).parts):
            data = path.read_bytes()
            if is_utf8(data):
                yield data


def is_utf8(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def cut(data: bytes, limit: int) -> list[str]:
    """Documents of `DOCUMENT` bytes, or up to three fewer where a character would be cut, from ``limit`` bytes."""
    cuts = [0]
    end = border(data, limit)
    while cuts[-1] < end:
        cuts.append(border(data, min(end, cuts[-1] + DOCUMENT)))
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


def utf8_bytes(documents: list[str]) -> int:
    """Counted on a copy, because a str keeps its UTF-8 once it was asked for it, which would save the engine that
    work.""" return sum(len(document.encode()) for document in documents)
