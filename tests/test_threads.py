"""Tests that other threads run while a call creates a long list, and that the list has the items of short lists."""

from __future__ import annotations

import gc
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

import polytok
from polytok import Encoding, Token

WORDS = "one naïve 吾輩は😀 two\n<|endoftext|>"
MANY_WORDS = WORDS * 8_000


@contextmanager
def turns_of_other_thread() -> Iterator[Callable[[], int]]:
    """Yields a function that returns how often another thread, which never ends a turn, has got a turn."""
    count, is_done = 0, False

    def work() -> None:
        nonlocal count
        while not is_done:
            count += 1

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield lambda: count
    finally:
        is_done = True
        thread.join()
        sys.setswitchinterval(interval)


@pytest.fixture(scope="module")
def long_encoding() -> Encoding:
    return polytok.load("default").encoding(MANY_WORDS, special="all")


@pytest.mark.parametrize("column", ["ids", "offsets", "word_ids"])
def test_other_threads_run_while_a_long_list_is_created(long_encoding: Encoding, column: str) -> None:
    columns: Any = long_encoding._parts[0]
    create = {"ids": columns.ids, "offsets": columns.offsets, "word_ids": columns.words}[column]
    create()
    with turns_of_other_thread() as turns:
        for _ in range(100):
            # A turn between two instructions is short, because the other thread lets this thread run again.
            before = turns()
            create()
            if turns() > before + 1_000:
                return
    pytest.fail("no other thread ran")


def test_long_lists_have_the_items_of_short_lists() -> None:
    tokenizer = polytok.load("default")
    short_tokens = tokenizer.tokens(WORDS, special="all")
    assert [type(token) for token in short_tokens] == [Token] * len(short_tokens)
    tokens = tokenizer.tokens(MANY_WORDS, special="all")
    assert len(tokens) > 1 << 16 and not any(map(gc.is_tracked, tokens))
    last_tokens = [
        Token(
            token.id,
            token.piece,
            token.start - len(MANY_WORDS) + len(WORDS),
            token.end - len(MANY_WORDS) + len(WORDS),
            token.byte_start - len(MANY_WORDS.encode()) + len(WORDS.encode()),
            token.byte_end - len(MANY_WORDS.encode()) + len(WORDS.encode()),
        )
        for token in tokens[-len(short_tokens) :]
    ]
    assert last_tokens == short_tokens
    assert {hash(token) for token in tokens} == {hash(tuple(token)) for token in tokens}


def test_the_columns_of_a_long_encoding_agree_with_its_tokens(long_encoding: Encoding) -> None:
    tokens = polytok.load("default").tokens(MANY_WORDS, special="all")
    assert long_encoding.ids == [token.id for token in tokens]
    assert long_encoding.offsets == [(token.start, token.end) for token in tokens]
    texts = long_encoding.tokens
    assert len(texts) == len(tokens) and texts.count("<|endoftext|>") == 8_000
    words = long_encoding.word_ids
    assert words[0] == 0 and set(words) == set(range(len(set(words))))
