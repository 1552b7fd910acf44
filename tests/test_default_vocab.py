"""Tests the default vocabulary: the file, the split pattern, and both together, without the test data."""

from __future__ import annotations

import base64
import hashlib
import random
import unicodedata
from itertools import pairwise

import pytest
import regex
import tiktoken

from polytok.data import (
    DEFAULT_NAME,
    DEFAULT_PATTERN,
    DEFAULT_RANKS_SHA256,
    DEFAULT_SIZE,
    DEFAULT_SPECIAL_TOKENS,
    default_ranks,
)

MAX_ENTRY_BYTES = 32

NASTY = [
    "",
    " ",
    "\n",
    "\r\n\r\n \t\n",
    "   leading and trailing   ",
    "a" * 5000,
    " " * 5000,
    "\n" * 3000,
    "1234567890" * 300,
    "😀" * 1000,
    "\x00\x01\x1c\x1d\x1e\x1f\x7f\x85\xa0\u2028\u2029\ufeff",
    "e\u0301\u0301\u0301 \u0301 \u0301a 1\u0301 \n\u0301",
    "don't DON'T don’t l'homme ſ'ſ 'S K",
    "camelCase HTTPServer snake_case kebab-case ǅungla ǈ",
    "👨‍👩‍👧‍👦 👍🏽 ❤️love 1️⃣ 🏴󠁧󠁢󠁥󠁮󠁧󠁿 🇩🇪🇫🇷🇺 \u200d\ufe0f\U0001f3fb",
    "हिन्दी में ภาษาไทย العَرَبِيَّة שָׁלוֹם தமிழ் မြန်မာ 한국어 日本語 中文 한",
    "\u0378\ue000\uf8ff\ufdd0\ufffe\uffff\U000e0001\U0010ffff",
    "<|endoftext|> <|im_start|> <s>",
    "²³½Ⅷ٣३𝟗 1,234.56",
    "if x:\n\tif y:\n\t\treturn {'a': [1, 2]}\n\n\n",
]


@pytest.fixture(scope="module")
def entries() -> list[bytes]:
    return [base64.b64decode(line.split(b" ")[0], validate=True) for line in default_ranks().splitlines()]


@pytest.fixture(scope="module")
def encoding(entries: list[bytes]) -> tiktoken.Encoding:
    ranks = {entry: rank for rank, entry in enumerate(entries)}
    return tiktoken.Encoding(
        DEFAULT_NAME, pat_str=DEFAULT_PATTERN, mergeable_ranks=ranks, special_tokens=DEFAULT_SPECIAL_TOKENS
    )


def test_the_rank_file_has_the_hash_in_the_module() -> None:
    assert hashlib.sha256(default_ranks()).hexdigest() == DEFAULT_RANKS_SHA256


def test_lines_are_base64_and_contiguous_ranks() -> None:
    lines = default_ranks().decode("ascii").split("\n")
    assert lines.pop() == ""
    for rank, line in enumerate(lines):
        encoded, _, number = line.partition(" ")
        assert number == str(rank)
        assert base64.b64encode(base64.b64decode(encoded, validate=True)).decode() == encoded


def test_ids_fill_the_size(entries: list[bytes]) -> None:
    ids = [*range(len(entries)), *sorted(DEFAULT_SPECIAL_TOKENS.values())]
    assert ids == list(range(DEFAULT_SIZE))


def test_bytes_are_first_and_no_entry_occurs_twice(entries: list[bytes]) -> None:
    assert entries[:256] == [bytes([byte]) for byte in range(256)]
    assert len(set(entries)) == len(entries)
    assert max(map(len, entries)) <= MAX_ENTRY_BYTES


def begins_a_character(entry: bytes) -> bool:
    """Reports whether an entry is the start of a character: the lowest or highest continuation bytes can follow."""
    for fill in (b"\x80\x80", b"\xbf\xbf"):
        for more in (1, 2):
            try:
                return len((entry + fill[:more]).decode()) == 1
            except UnicodeDecodeError:
                continue
    return False


def test_entries_are_bytes_prefixes_of_a_character_or_whole_characters(entries: list[bytes]) -> None:
    for entry in entries[256:]:
        assert "\ufffd" not in entry.decode(errors="replace") or begins_a_character(entry), entry


def merge(piece: bytes, ranks: dict[bytes, int]) -> list[bytes]:
    parts = [piece[i : i + 1] for i in range(len(piece))]
    while len(parts) > 1:
        pairs = [(ranks.get(a + b, len(ranks)), i) for i, (a, b) in enumerate(pairwise(parts))]
        rank, i = min(pairs)
        if rank == len(ranks):
            break
        parts[i : i + 2] = [parts[i] + parts[i + 1]]
    return parts


def test_merging_reaches_every_entry(entries: list[bytes]) -> None:
    ranks = {entry: rank for rank, entry in enumerate(entries)}
    assert [entry for entry in entries if merge(entry, ranks) != [entry]] == []


def test_pattern_keeps_every_entry_whole_in_some_context(entries: list[bytes]) -> None:
    """Tests that every entry can occur: in some context the pattern does not split it."""
    pattern = regex.compile(DEFAULT_PATTERN)

    def in_one_piece(before: str, token: str, after: str) -> bool:
        start, end = len(before), len(before) + len(token)
        return any(m.start() <= start and m.end() >= end for m in pattern.finditer(before + token + after))

    company = [(before, after) for before in ("", "!", "a") for after in ("", "a", ".", "\n")]
    for entry in entries:
        token = entry.decode(errors="replace")
        if "\ufffd" not in token:
            assert any(in_one_piece(before, token, after) for before, after in company), token


@pytest.mark.parametrize("text", NASTY)
def test_pattern_drops_nothing(text: str) -> None:
    assert "".join(regex.findall(DEFAULT_PATTERN, text)) == text


def test_pattern_drops_no_code_point() -> None:
    chars = [chr(code) for code in range(0x110000) if not 0xD800 <= code < 0xE000]
    for joiner in ("", " ", "a", "\n"):
        text = joiner.join(chars)
        assert "".join(regex.findall(DEFAULT_PATTERN, text)) == text


@pytest.mark.parametrize("text", NASTY)
def test_round_trip(encoding: tiktoken.Encoding, text: str) -> None:
    assert encoding.decode(encoding.encode_ordinary(text)) == text


def test_round_trip_of_joined_entries(encoding: tiktoken.Encoding, entries: list[bytes]) -> None:
    tokens = [token for token in (entry.decode(errors="replace") for entry in entries) if "\ufffd" not in token]
    choose = random.Random(32768)
    for _ in range(300):
        text = "".join(choose.choices(tokens, k=choose.randint(1, 60)))
        assert encoding.decode(encoding.encode_ordinary(text)) == text


def test_round_trip_of_every_code_point(encoding: tiktoken.Encoding) -> None:
    text = "".join(chr(code) for code in range(0x110000) if not 0xD800 <= code < 0xE000)
    assert encoding.decode(encoding.encode_ordinary(text)) == text


def test_numbers_are_split_by_length_alone(encoding: tiktoken.Encoding) -> None:
    for number in range(1000):
        assert len(encoding.encode_ordinary(f"{number:03d}")) == 1
        assert len(encoding.encode_ordinary(str(number))) == 1
    assert len(encoding.encode_ordinary("1234567")) == 3


@pytest.mark.parametrize("text", ["😂", "🙏", "🥺", "👍", "🔥", "🎉", "\U0001f3fd", "\u200d", "\ufe0f", "\U0001f1ea"])
def test_common_emoji_and_their_parts_are_one_entry(encoding: tiktoken.Encoding, text: str) -> None:
    assert len(encoding.encode_ordinary(text)) == 1


def test_no_character_below_u10000_costs_more_than_two_entries(encoding: tiktoken.Encoding) -> None:
    """Tests all characters except Han Extension A, the surrogates and the private use area."""
    for char in map(chr, (*range(0x3400), *range(0x4DC0, 0xD800), *range(0xF900, 0x10000))):
        if unicodedata.category(char) != "Cn":
            assert len(encoding.encode_ordinary(char)) <= 2, f"U+{ord(char):04X}"


def test_no_emoji_costs_more_than_two_entries(encoding: tiktoken.Encoding) -> None:
    for char in map(chr, range(0x1F000, 0x1FB00)):
        assert len(encoding.encode_ordinary(char)) <= 2, f"U+{ord(char):04X}"


def test_special_token_is_not_in_plain_text(encoding: tiktoken.Encoding) -> None:
    (name, number), *_ = DEFAULT_SPECIAL_TOKENS.items()
    assert number not in encoding.encode_ordinary(name)
    assert encoding.encode(name, allowed_special="all") == [number]
