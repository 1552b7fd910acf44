"""Checks the arguments of Tokenizer's methods; see checks.py."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

from . import _core, checks
from .errors import ArgumentError
from .keywords import keyword
from .resources import processors

ERRORS = ("replace", "strict", "ignore")
MAX_COUNT = 2**31 - 1
_SEED_COUNT = 2**64


def thread_count(number: int | None) -> int:
    """Returns the requested number of threads, or the number of processors that this process can use."""
    return processors() if number is None else check_count("threads", number, least=1)


def seed_or_random(seed: int | None) -> int:
    return int.from_bytes(os.urandom(8), "little") if seed is None else checks.whole_number("seed", seed) % _SEED_COUNT


def check_count(name: str, value: int, least: int = 0) -> int:
    """Checks that the engine can accept a number, and returns the number."""
    return checks.number(name, value, least=least, most=MAX_COUNT)


def id_list(ids: Any) -> list[int]:
    """Returns ids as a list of ints."""
    values = ids.tolist() if hasattr(ids, "tolist") else list(checks.iterable("ids", ids, "ids"))
    if not isinstance(values, list):
        raise TypeError(f"ids={checks.shown(ids)} is a single id, not a list of ids")
    if set(map(type, values)) <= {int}:
        return values
    return [checks.whole_number(f"ids[{place}]", id) for place, id in enumerate(values)]


def check_overlap(overlap: int, max_tokens: int) -> None:
    """Checks that chunks of up to ``max_tokens`` tokens can repeat ``overlap`` tokens and still have new ones."""
    if checks.number("overlap", overlap, least=0) >= max(max_tokens, 1):
        raise ArgumentError(
            f"{keyword('overlap', overlap)} is not less than {keyword('max_tokens', max_tokens)}, so a chunk would "
            "repeat the chunk before it; pass a smaller number"
        )


def check_decoding(
    skip_special: object, errors: object, other: Iterable[str], method: str = "decode", *own_keywords: str
) -> None:
    """Checks the options of decoding to text; ``other`` has the names of unknown keywords of ``method``."""
    if other:
        checks.keywords(method, other, ("skip_special", "errors", *own_keywords))
    checks.flag("skip_special", skip_special)
    checks.error_handler("errors", errors)


def check_byte_decoding(skip_special: object, other: Iterable[str]) -> None:
    """Checks the option of decoding to bytes; ``other`` has the names of unknown keywords of ``decode_bytes``."""
    if other:
        checks.keywords("decode_bytes", other, ("skip_special",))
    checks.flag("skip_special", skip_special)


def check_vocab(other: Iterable[str]) -> None:
    """Raises `TypeError` for a keyword of `Tokenizer.vocab`, which has none."""
    for name in other:
        raise TypeError(
            f"vocab() has no keyword argument {name!r}: it returns all entries, and arrays of the table select some, "
            "such as table.ids[table.kinds == polytok.Kind.BYTE]"
        )


def text_and_pair(item: Any, index: int) -> tuple[Any, Any]:
    """Returns the two texts of an item of ``texts``; the second is None for an item that is not a pair."""
    if not isinstance(item, tuple):
        return item, None
    if len(item) != 2:
        raise ArgumentError(
            f"texts[{index}]={checks.shown(item)} is a tuple of {len(item)}; a tuple is a pair of 2 texts, and a list "
            "with pretokenized=True is a text in words"
        )
    return item


def several_texts(texts: Iterable[Any], method: str) -> list[Any]:
    """Returns the texts as a list. ``method`` is the method for a single text."""
    if isinstance(texts, (str, bytes, _core.Parts)):
        raise TypeError(f"texts={checks.shown(texts)} is a single text: use {method} for one text")
    return list(checks.iterable("texts", texts, "texts"))
