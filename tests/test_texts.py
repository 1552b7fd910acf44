"""Tests columns of texts against Python's own splitting and decoding of the same bytes."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import polytok
from polytok import ArgumentError, TokenIdError
from polytok._core import Texts, cut_json_lines, cut_lines, cut_separated, end_of_texts

Cut = Callable[[bytes, bool], tuple[Any, ...]]

pieces = st.sampled_from([b"a", b"\n", b"\r\n", b"--", b"-", b"", "é日".encode(), b"\xff", b"longer text "])
blocks_of_bytes = st.lists(pieces, max_size=30).map(b"".join)


def split_in_blocks(data: bytes, size: int, cut: Cut) -> tuple[list[bytes], list[int], list[tuple[int, str]]]:
    """Splits a file that is read in blocks, as polytok.reading does."""
    texts: list[bytes] = []
    places: list[int] = []
    skipped_texts: list[tuple[int, str]] = []
    at, end = 0, 0
    while True:
        end = min(end + size, len(data))
        column, bytes_used, *other_values = cut(data[at:end], end == len(data))
        texts += column.to_list()
        places += (column.places + at).tolist()
        skipped_texts += [(at + place, reason) for place, reason in (other_values[0] if other_values else [])]
        at += bytes_used
        if end == len(data):
            assert at == end
            return texts, places, skipped_texts


def split(data: bytes, separator: bytes) -> list[bytes]:
    """Splits at separators; a separator at the end starts no further text."""
    texts = data.split(separator)
    return texts[:-1] if not texts[-1] else texts


@given(blocks_of_bytes, st.integers(1, 40))
def test_lines(data: bytes, size: int) -> None:
    texts, places, _ = split_in_blocks(data, size, cut_lines)
    assert texts == split(data, b"\n")
    assert [data[place : place + len(text)] for place, text in zip(places, texts, strict=True)] == texts


@given(blocks_of_bytes, st.integers(2, 40), st.sampled_from([b"-", b"--", b"a\n", "é".encode()]))
def test_separators(data: bytes, size: int, separator: bytes) -> None:
    texts, _, _ = split_in_blocks(data, size, lambda part, is_last: cut_separated(part, separator, is_last))
    assert texts == split(data, separator)


@given(blocks_of_bytes, st.integers(0, 20), st.sampled_from([b"-", b"--", b"a\n", "é".encode()]), st.integers(0, 9))
def test_the_end_of_a_number_of_texts(data: bytes, start: int, separator: bytes, most: int) -> None:
    start = min(start, len(data))
    texts = data[start:].split(separator)
    first_texts = separator.join(texts[:most]) + (separator if most else b"")
    assert end_of_texts(data, start, separator, most) == (start + len(first_texts) if most < len(texts) else len(data))


def test_an_empty_separator_is_refused() -> None:
    with pytest.raises(ArgumentError, match="separator is empty"):
        cut_separated(b"a", b"", True)
    with pytest.raises(ArgumentError, match="separator is empty"):
        end_of_texts(b"a", 0, b"", 1)


def test_texts_beyond_the_data_do_not_end() -> None:
    with pytest.raises(ArgumentError, match="2 is beyond the end"):
        end_of_texts(b"a", 2, b"-", 1)


def parse_by_python(line: bytes, path: list[str]) -> bytes | str | None:
    """Returns the text of a line by Python's json, or the reason why there is not a text; None for a blank line."""
    line = line.removeprefix(b"\xef\xbb\xbf")
    if not line.strip(b" \t\r"):
        return None
    try:
        value = json.loads(line.decode())
    except ValueError:
        return "not JSON"
    field = ".".join(path)
    for key in [] if isinstance(value, str) else path:
        if not isinstance(value, dict) or key not in value:
            return f"no field '{field}'"
        value = value[key]
    if isinstance(value, str):
        return value.encode("utf-8", "surrogatepass")
    return f"the field '{field}' is {'null' if value is None else 'not a text'}"


scalars = st.none() | st.booleans() | st.floats() | st.integers() | st.text(st.characters(codec="utf-8"), max_size=8)
keys = st.sampled_from(["a", "b", "text", "é", ""])
records = st.recursive(scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=3))
paths = st.lists(keys, max_size=2)
DAMAGE = b'"|\\|{|}|[|]|,|:|\\ud83d|\\uDE00|\\u00e9|\\x|\\/|NaN|-Infinity|null|0|-|.|e+|1E400|"a":'.split(b"|")
DAMAGE += b" |\t|\r|\x00|\xff|\xed\xa0\x80".split(b"|")


@st.composite
def json_lines(draw: st.DrawFn) -> bytes:
    lines = []
    for record in draw(st.lists(records, max_size=5)):
        line = json.dumps(record, ensure_ascii=draw(st.booleans())).encode()
        for _ in range(draw(st.integers(0, 2))):
            at = draw(st.integers(0, len(line)))
            line = line[:at] + draw(st.sampled_from(DAMAGE)) + line[at + draw(st.integers(0, 1)) :]
        lines.append(line)
    return draw(st.sampled_from([b"\n", b"\r\n", b"\n\n \n", b"\n\xef\xbb\xbf"])).join(lines)


@settings(max_examples=400)
@given(json_lines(), paths, st.integers(1, 60))
@example(b'{"a": "x", "a": {"b": "y"}}\n{"a": {"b": "y"}, "a": null}', ["a", "b"], 7)
@example(rb'{"te\u0078t": "\ud83d\ude00\ud83d\ud83d\ude00\/\b\f"}', ["text"], 9)
@example(b'{"a": 01}\n{"a": 1.}\n[1,]\n{"a" 1}\n"\x1f"\n"\\u12"\n"a" "b"\n-\ntrue1', ["a"], 90)
def test_json_lines(data: bytes, path: list[str], size: int) -> None:
    texts, places, skipped_texts = split_in_blocks(
        data, size, lambda part, is_last: cut_json_lines(part, path, is_last, 1 << 30)
    )
    results_by_place = dict(zip(places, texts, strict=True)) | {
        place: reason.partition(": ")[0] for place, reason in skipped_texts
    }
    lines = data.split(b"\n")
    starts = np.cumsum([0] + [len(line) + 1 for line in lines[:-1]]).tolist()
    expected = {start: parse_by_python(line, path) for start, line in zip(starts, lines, strict=True)}
    assert results_by_place == {start: value for start, value in expected.items() if value is not None}
    assert places == sorted(places)


def test_deep_nesting_and_long_numbers_are_read() -> None:
    deep = b'{"x": ' + b"[" * 500_000 + b"]" * 500_000 + b', "text": "found"}\n'
    unclosed = b'{"x": ' + b'{"a":[' * 200_000 + b"\n"
    long_number = b'{"x": ' + b"9" * 100_000 + b', "text": "too"}\n'
    texts, _, skipped_texts = cut_json_lines(deep + unclosed + long_number, ["text"], True, 1 << 30)
    assert texts.to_list() == [b"found", b"too"]
    assert [reason.partition(":")[0] for _, reason in skipped_texts] == ["not JSON"]


def test_reports_have_positions() -> None:
    data = b'{"text": tru}\n{"text": "a\xffb"}\n'
    reasons = [reason for _, reason in cut_json_lines(data, ["text"], True, 1 << 30)[2]]
    assert reasons == ["not JSON: error at byte 9 of the line", "not JSON: byte 11 of the line is not UTF-8"]


def test_the_length_of_a_path_is_limited() -> None:
    with pytest.raises(ArgumentError, match="at most 64"):
        cut_json_lines(b"{}", ["a"] * 65, True, 1 << 30)


@given(st.lists(st.binary(max_size=12) | blocks_of_bytes, max_size=8))
@example([b"\xe3\x81", b"\x82", b"\xe3\x81\x82", b""])  # joined, the bytes would be UTF-8
@example([b"\xf0\x9f\x98", b"\xed\xa0\x80", b"\xe2\x82a", b"\xc0\xaf", b"\xf4\x90\x80\x80"])
def test_undecodable_bytes(texts: list[bytes]) -> None:
    def is_bad(text: bytes) -> bool:
        return text.decode(errors="ignore").encode() != text

    bad = [row for row, text in enumerate(texts) if is_bad(text)]
    column = Texts.of_list(list(texts))
    replaced_column, rows = column.checked("replace")
    assert rows.tolist() == bad and replaced_column.to_list() == [
        text.decode(errors="replace").encode() for text in texts
    ]
    remaining_column, rows = column.checked("skip")
    assert rows.tolist() == bad and remaining_column.to_list() == [text for text in texts if not is_bad(text)]
    assert column.to_list() == texts


def test_a_lone_surrogate_in_json_is_one_replacement_character() -> None:
    column, _, _ = cut_json_lines(rb'"a\ud800\udc00\udfffb\ud7ff"' + b'\n"c"\n', [], True, 1 << 30)
    replaced_column, rows = column.checked("replace")
    assert replaced_column.to_list() == ["a\U00010000\ufffdb\ud7ff".encode(), b"c"]
    assert rows.tolist() == [0] and replaced_column.places.tolist() == column.places.tolist()
    assert replaced_column.checked("skip")[1].tolist() == []


def test_undecodable_bytes_are_replaced_or_skipped() -> None:
    with pytest.raises(ArgumentError, match="'?ignore"):
        Texts.of_list([b"a"]).checked("ignore")


def test_a_column_is_a_sequence() -> None:
    column = Texts.of_list(["é", b"", b"ab"])
    assert len(column) == 3 and column[-1] == b"ab" and column.nbytes == 4 and column.validity is None
    assert (column.starts.tolist(), column.ends.tolist()) == ([0, 2, 2], [2, 2, 4])
    selected_texts = column.take(np.array([2, 0, 2]))
    assert selected_texts.to_list() == [b"ab", "é".encode(), b"ab"]
    assert Texts.from_bytes(b"a\nb").to_list() == [b"a\nb"]
    for row in (3, -4):
        with pytest.raises(IndexError, match=f"row {row} does not exist"):
            column[row]
        with pytest.raises(IndexError, match=f"row {row} does not exist"):
            column.take(np.array([0, row]))
    with pytest.raises(TypeError, match="text must be str or bytes"):
        Texts.of_list([1])  # type: ignore[list-item]


@pytest.mark.parametrize("threads", [1, 3])
def test_encoding_a_column(threads: int) -> None:
    tokenizer = polytok.load("default")
    pick = random.Random(7)
    texts = ["".join(pick.choices(["text ", "é", "日本", "\n", "a"], k=pick.choice([0, 3, 900]))) for _ in range(400)]
    column = Texts.of_list(list(texts))
    batch = tokenizer._encode_texts(column, threads=threads)
    assert batch.to_list() == tokenizer.encode_batch(texts).to_list()
    padded_ids = tokenizer._encode_texts(column, begin=1, end=2, threads=threads)
    assert padded_ids.to_list() == [[1, *row, 2] for row in batch.to_list()]
    assert tokenizer._encode_texts(Texts.of_list([]), threads=threads).to_list() == []


def test_ids_around_texts_must_be_in_the_vocabulary() -> None:
    with pytest.raises(TokenIdError, match="id 32768 is not in the vocabulary"):
        polytok.load("default")._encode_texts(Texts.of_list([b"a"]), end=32768)
