"""Tests decoding: containers of ids, bytes that are not UTF-8, streams."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import polytok
from format_samples import sentencepiece_spec
from polytok import Tokenizer
from polytok.spec import SpecialToken
from polytok.values import Errors
from tokenizer_samples import rank_spec


@pytest.fixture(scope="module")
def default() -> Tokenizer:
    return polytok.load("default")


def test_unknown_ids_are_errors(default: Tokenizer) -> None:
    for unknown_id in (default.vocab_size, -1, 2**40):
        with pytest.raises(polytok.TokenIdError, match=f"id {unknown_id} is not in the vocabulary"):
            default.decode([unknown_id])
        with pytest.raises(KeyError):
            default.id_to_piece(unknown_id)
    for text in ("12", b"12", ["a"], [1.5]):
        with pytest.raises(TypeError):
            default.decode(text)  # type: ignore[arg-type]


def test_bytes_that_are_not_utf8(default: Tokenizer) -> None:
    half = default.encode("😀"[:1].encode()[:3])
    assert default.decode_bytes(half) == "😀".encode()[:3]
    assert default.decode(half) == "\ufffd"
    assert default.decode(half, errors="ignore") == ""
    with pytest.raises(UnicodeDecodeError):
        default.decode(half, errors="strict")
    for text in ("", "a", "語の本、" * 20):
        with pytest.raises(ValueError, match="errors="):
            default.decode(default.encode(text), errors="re\0place")  # type: ignore[arg-type]


KINDS_OF_TEXT = [
    b"plain text, ",
    "é à ".encode(),
    "語の本、".encode(),
    "😀".encode(),
    b"\xe8\xaa",
    b"\xff",
    "\ufeff\ufffe".encode(),
    b"\xed\xa0\x80",
]


@settings(deadline=None)
@given(st.lists(st.sampled_from(KINDS_OF_TEXT), max_size=40), st.sampled_from(["replace", "ignore", "strict"]))
def test_any_text_is_decoded_as_in_python(parts: list[bytes], errors: Errors) -> None:
    default = polytok.load("default")
    data = b"".join(parts)
    ids = [id for part in parts for id in default.encode(part)]
    try:
        expected = data.decode(errors=errors)
    except UnicodeDecodeError:
        with pytest.raises(UnicodeDecodeError):
            default.decode(ids, errors=errors)
        return
    assert default.decode(ids, errors=errors) == expected
    assert default.decode_batch([ids, [], ids], errors=errors) == [expected, "", expected]


@pytest.mark.parametrize("dtype", [np.uint16, np.int32, np.uint32, np.int64, np.uint64, np.int8])
def test_ids_of_every_type_decode_alike(dtype: type) -> None:
    tokenizer = Tokenizer(rank_spec())
    text = "Hello, world! " * 2000
    ids = tokenizer.encode(text)
    array = np.array(ids, dtype=dtype)
    assert tokenizer.decode(array) == tokenizer.decode(ids) == text
    assert tokenizer.decode(tuple(ids)) == tokenizer.decode(iter(ids)) == text
    assert tokenizer.decode(np.repeat(array, 2)[::2]) == text
    assert tokenizer.decode_batch([array, ids, []]) == [text, text, ""]
    assert tokenizer.decode_bytes(array[:100]) == text[:100].encode()


def test_values_that_are_not_ids() -> None:
    tokenizer = Tokenizer(rank_spec())
    for ids in ([97, -1], [97, 2**40], [97, 2**70], np.array([97, -1]), np.array([97, 2**40]), [97, 256]):
        with pytest.raises(polytok.TokenIdError):
            tokenizer.decode(ids)
    for invalid_ids in ([97, "b"], [97, 1.5], "ab", b"ab", 97):
        with pytest.raises(TypeError):
            tokenizer.decode(invalid_ids)  # type: ignore[arg-type]
    assert tokenizer.decode([True, np.int64(98)]) == "\x01b"


class Shrinking(int):
    """Removes items of a list when its integer value is read."""

    items: list[int]

    def __index__(self) -> int:
        del self.items[1:]
        return 97


def test_a_list_that_changes_while_it_is_read() -> None:
    tokenizer, shrinking_id = Tokenizer(rank_spec()), Shrinking(97)
    shrinking_id.items = [shrinking_id, *range(90, 120)]
    try:
        assert tokenizer.decode(shrinking_id.items).startswith("a")
    except IndexError:
        assert len(shrinking_id.items) == 1


@given(st.lists(st.integers(0, 263)), st.integers(1, 4))
@settings(max_examples=300, deadline=None)
def test_a_stream_equals_the_whole(ids: list[int], step: int) -> None:
    for spec in (sentencepiece_spec(), rank_spec(*(b"ab", "é世".encode()[:4]), *[b"x%d" % n for n in range(10)])):
        tokenizer = Tokenizer(spec)
        known_ids = [id for id in ids if id < tokenizer.vocab_size]
        stream = tokenizer.decoder()
        parts = [stream.push(known_ids[at : at + step]) for at in range(0, len(known_ids), step)]
        assert "".join([*parts, stream.finish()]) == tokenizer.decode(known_ids)
        # After finish the stream starts again.
        assert stream.push(known_ids) + stream.finish() == tokenizer.decode(known_ids)


def test_a_stream_returns_characters_when_they_are_complete(default: Tokenizer) -> None:
    stream = default.decoder()
    bytes_of_face = [default.piece_to_id(bytes([byte])) for byte in "😀".encode()]
    assert [stream.push(id) for id in bytes_of_face] == ["", "", "", "😀"]
    assert stream.finish() == ""


def test_a_stream_accepts_numpy_ids_and_loses_nothing_on_errors(default: Tokenizer) -> None:
    stream = default.decoder()
    assert "".join(stream.push(id) for id in default.encode_array("hi 😀")) + stream.finish() == "hi 😀"
    with pytest.raises(polytok.TokenIdError):
        stream.push([*default.encode("lost"), 10**6])
    assert stream.push(default.encode("kept")) + stream.finish() == "kept"
    strict_decoder = default.decoder(errors="strict")
    strict_decoder.push(default.piece_to_id(b"\xf0"))
    with pytest.raises(UnicodeDecodeError):
        strict_decoder.finish()
    assert strict_decoder.push(default.piece_to_id("a")) == "a"


def test_special_tokens_in_sentencepiece_decoding_are_text() -> None:
    tokenizer = Tokenizer(replace(sentencepiece_spec(), special=(SpecialToken("<X>", 9000),)))
    space_a = tokenizer.piece_to_id("▁a")
    assert tokenizer.decode([space_a]) == "a"
    assert tokenizer.decode([9000, space_a]) == "<X> a"
