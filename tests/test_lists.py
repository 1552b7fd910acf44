"""Tests lists of ids: their ints are shared, have correct reference counts, and are freed with the tokenizer."""

from __future__ import annotations

import gc
import sys
import threading
import tracemalloc

import pytest

import polytok
from polytok import Tokenizer
from polytok.spec import Kind, Longest, Spec, Vocab

#: More ids than a tokenizer returns before it stores the ints.
MANY = 20_000


def tokenizer_of(first_id: int, count: int) -> Tokenizer:
    """Returns a tokenizer with a token for each of ``count`` characters from U+4E00."""
    return Tokenizer(
        Spec(
            vocab=Vocab.from_rows([(chr(0x4E00 + n).encode(), first_id + n, 0.0, Kind.NORMAL) for n in range(count)]),
            model=Longest(),
        )
    )


def text_of(count: int) -> str:
    return "".join(chr(0x4E00 + n) for n in range(count))


@pytest.mark.parametrize("first_id", [0, 1000, (1 << 20) - 50, 1 << 21])
def test_lists_equal_arrays_before_and_after_ints_are_stored(first_id: int) -> None:
    tokenizer, text = tokenizer_of(first_id, 100), text_of(100)
    expected = tokenizer.encode_array(text).tolist()
    for _ in range(MANY // 100 + 50):
        assert tokenizer.encode(text) == expected
    assert expected == list(range(first_id, first_id + 100))


def test_ints_are_shared_with_correct_reference_counts() -> None:
    # Python has one int for each number below 257, and since 3.15 below 1,025.
    tokenizer, text = tokenizer_of(2000, 100), text_of(100)
    tokenizer.encode(text * (MANY // 100))
    first_ids, second_ids = tokenizer.encode(text), tokenizer.encode(text)
    assert all(first_id is second_id for first_id, second_id in zip(first_ids, second_ids, strict=True))
    counts = [sys.getrefcount(first_ids[7])]
    lists = [tokenizer.encode(text) for _ in range(50)]
    counts.append(sys.getrefcount(first_ids[7]))
    del lists
    counts.append(sys.getrefcount(first_ids[7]))
    del tokenizer
    gc.collect()
    counts.append(sys.getrefcount(first_ids[7]))
    assert [count - counts[0] for count in counts] == [0, 50, 0, -1]
    assert first_ids == second_ids == list(range(2000, 2100))


def test_ints_are_freed_with_the_tokenizer() -> None:
    text = text_of(5000)
    tracemalloc.start()
    try:
        sizes = []
        for _ in range(4):
            tokenizer = tokenizer_of(1000, 5000)
            for _ in range(MANY // 5000 + 4):
                tokenizer.encode(text)
            del tokenizer
            gc.collect()
            sizes.append(tracemalloc.get_traced_memory()[0])
        assert sizes[-1] - sizes[0] < 5000 * sys.getsizeof(1000) / 2
    finally:
        tracemalloc.stop()


def test_lists_in_many_threads() -> None:
    tokenizer, text = tokenizer_of(1000, 3000), text_of(3000)
    expected = list(range(1000, 4000))
    wrong_threads: list[int] = []

    def work(shift: int) -> None:
        for n in range(20):
            at = (shift * 97 + n * 131) % 3000
            if tokenizer.encode(text[at:]) != expected[at:]:
                wrong_threads.append(at)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong_threads


def test_an_empty_list() -> None:
    tokenizer = polytok.load("default")
    assert tokenizer.encode("") == []
