"""A cut divides every text that has the same characters around it, whatever stands before and after them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

import polytok
from incremental_samples import SMALL, difficult_texts
from polytok import _core
from published import every_file

# The characters before and after a cut that its proof reads.
WINDOW = 2


def all_cuts(core: _core.Tokenizer, text: bytes, options: _core.ResolvedOptions | None) -> Iterator[int]:
    cut: int | None = len(text)
    while cut and (cut := core.safe_cut(text, 0, cut - 1, options)):
        yield cut


def option_values(core: _core.Tokenizer) -> list[_core.ResolvedOptions | None]:
    special = {text for text, _ in core.special_tokens()}
    return [None, core.options(False, special, set())] if special else [None]


def encode(core: _core.Tokenizer, text: bytes, options: _core.ResolvedOptions | None) -> list[int] | None:
    try:
        return core.encode(text, options)
    except polytok.EncodeError:
        return None


def check_cuts(tokenizer: polytok.Tokenizer, count: int) -> int:
    """Checks the cuts of random texts, also between other texts; returns the number of cuts."""
    core, rng, cut_count = tokenizer._core, Random(1), 0
    texts = list(difficult_texts(core, count))
    for options in option_values(core):
        for text in texts:
            text += rng.choice(texts) if rng.random() < 0.3 else b""
            for cut in all_cuts(core, text, options):
                cut_count += 1
                left, right = text[:cut].decode(), text[cut:].decode()
                window = left[-WINDOW:].encode(), right[:WINDOW].encode()
                before = rng.choice(texts) if len(left) > WINDOW - 1 else b""
                moved = before + window[0], window[1] + rng.choice(texts)
                for first, second in ((text[:cut], text[cut:]), moved):
                    whole, start = (encode(core, part, options) for part in (first + second, first))
                    if whole is not None and start is not None:
                        end = core.encode_from(first + second, len(first), options)
                        assert whole == start + end, (first, second)
    return cut_count


@pytest.mark.parametrize("name", SMALL)
def test_cuts_of_small_tokenizers_divide_every_text(name: str) -> None:
    check_cuts(polytok.Tokenizer(SMALL[name]()), 300)


def test_cuts_of_the_default_tokenizer_divide_every_text() -> None:
    assert check_cuts(polytok.load("default"), 300) > 100


@every_file
def test_cuts_of_real_tokenizers_divide_every_text(path: Path) -> None:
    check_cuts(polytok.load(path), 150)


def test_a_cut_does_not_depend_on_what_follows() -> None:
    core = polytok.load("default")._core
    text = b"one two three four"
    assert [core.safe_cut(text[:end], 0, end) for end in range(12)] == [None] * 5 + [3] * 4 + [7] * 3
    assert core.safe_cut(b"a" * 1000, 0, 1000) is None
    assert core.safe_cut(b"one\xff two", 0, 4) is None


def test_special_tokens_are_not_divided() -> None:
    spec = polytok.spec.SpecialToken("a b", 300, special=False)
    tokenizer = polytok.Tokenizer(SMALL["ranks"](split=(polytok.spec.PatternSplit(r" ?\S+|\s+"),), special=(spec,)))
    assert list(all_cuts(tokenizer._core, b"xa bx bx", None)) == [5]
