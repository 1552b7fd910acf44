"""Tests that strings and lists are read and created alike in their memory and by the stable ABI alone."""

from __future__ import annotations

import platform
import random
import sys
from collections.abc import Iterator

import pytest

import polytok
from polytok import _core

ALPHABETS = ("az ", "é\xff\x80", "世界\uffff", "😀\U0010ffff", "\ud800\udfff")
KNOWN = (3, 10) <= sys.version_info < (3, 15) and platform.python_implementation() == "CPython"


class Text(str):
    """A subclass keeps its characters outside the object."""


@pytest.fixture(params=[True, False], ids=["memory", "stable-abi"])
def is_direct(request: pytest.FixtureRequest) -> Iterator[bool]:
    before = _core.has_direct_access()
    if not _core.select_direct_access(request.param):
        pytest.skip("the layouts of this Python are not known")
    yield request.param
    assert _core.select_direct_access(before)


def random_texts() -> list[str]:
    """Returns texts of all lengths and of all widths in which Python stores a str."""
    rng = random.Random(1)
    return [
        "".join(rng.choice(rng.choice(ALPHABETS[:width])) for _ in range(length))
        for width in range(1, len(ALPHABETS) + 1)
        for length in (0, 1, 2, 15, 16, 63, 64, 65, 300, 5000)
    ]


def test_the_layouts_are_known() -> None:
    """Tests that the usual Pythons use the memory."""
    is_gil_enabled = getattr(sys, "_is_gil_enabled", lambda: True)()
    assert _core.has_direct_access() == (KNOWN and is_gil_enabled and sys.byteorder == "little" and sys.maxsize > 2**32)


def test_texts_are_read_and_created(is_direct: bool) -> None:
    assert _core.has_direct_access() == is_direct
    tokenizer = polytok.load("default")
    for text in random_texts():
        repaired = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        ids = tokenizer.encode(repaired.encode())
        for given in (text, Text(text)):
            assert tokenizer.encode(given) == ids
            assert tokenizer.encode_array(given).tolist() == ids
        assert tokenizer.encode_batch([text, Text(text)]).to_list() == [ids, ids]
        decoded = tokenizer.decode(ids)
        assert decoded == repaired and hash(decoded) == hash(repaired)
        assert decoded.isascii() == repaired.isascii() and {decoded: 1}[repaired] == 1
        assert [token.id for token in tokenizer.tokens(text)] == ids


def test_lists_are_read_and_created(is_direct: bool) -> None:
    """Tests lists of few ids and of several slices, with the references of their ints."""
    tokenizer = polytok.load("default")
    text = "many different words, 123456789 " * 3000
    ids = tokenizer.encode(text)
    assert len(ids) > 10_000 and tokenizer.decode(ids) == text
    for count in (0, 1, 31, 32, 33):
        assert tokenizer.decode(ids[:count]).encode() == b"".join(tokenizer.ids_to_pieces(ids[:count]))
    first = ids[0] = int(str(10**6))
    references = sys.getrefcount(first)
    with pytest.raises(polytok.errors.TokenIdError):
        tokenizer.decode(ids)
    assert sys.getrefcount(first) == references
    with pytest.raises(TypeError):
        tokenizer.decode([1, "two"])  # type: ignore[list-item]
