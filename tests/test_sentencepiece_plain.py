"""Compares the parser for ordinary SentencePiece messages with protobuf."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from format_samples import REAL, VOCAB
from polytok import _core
from polytok.errors import FormatError
from polytok.formats import sentencepiece_plain
from polytok.formats import sentencepiece_proto as proto


def plain(data: bytes) -> dict[str, Any] | None:
    return sentencepiece_plain.parse(data, proto._MESSAGE_TABLES, "ModelProto")


def require_same(data: bytes) -> bool:
    """Requires that both parsers return the same fields in the same order; returns False for an unusual message."""
    fields = plain(data)
    if fields is not None:
        assert repr(fields) == repr(proto.parse_with_protobuf(data))
    return fields is not None


INT32 = st.integers(-(2**31), 2**31 - 1)
TRAINER = st.fixed_dictionaries(
    {},
    optional={
        "input": st.lists(st.binary(), min_size=1).map(tuple),
        "model_type": st.integers(1, 4),
        "vocab_size": INT32,
        "input_sentence_size": st.integers(0, 2**64 - 1),
        "character_coverage": st.floats(width=32),
        "byte_fallback": st.booleans(),
        "unk_surface": st.binary(max_size=300),
    },
)
NORMALIZER = st.fixed_dictionaries({}, optional={"name": st.binary(), "add_dummy_prefix": st.booleans()})
MODEL = st.fixed_dictionaries(
    {},
    optional={
        "trainer_spec": TRAINER,
        "normalizer_spec": NORMALIZER,
        "denormalizer_spec": NORMALIZER,
        "self_test_data": st.lists(st.binary(), min_size=1).map(tuple),
    },
)


@given(MODEL)
def test_ordinary_messages_are_parsed_as_by_protobuf(fields: dict[str, Any]) -> None:
    assert require_same(proto.serialize(fields))


@given(MODEL, st.integers(0), st.binary(max_size=3), st.integers(0, 3))
def test_changed_messages_are_refused_or_parsed_as_by_protobuf(
    fields: dict[str, Any], at: int, inserted_bytes: bytes, removed_count: int
) -> None:
    data = proto.serialize(fields)
    at %= len(data) + 1
    require_same(data[:at] + inserted_bytes + data[at + removed_count :])


@given(st.binary(max_size=40))
def test_any_bytes_are_refused_or_parsed_as_by_protobuf(data: bytes) -> None:
    require_same(data)


@pytest.mark.parametrize(
    "data",
    [
        b"\x80",  # a truncated tag
        b"\x08\x01",  # an unknown field
        b"\x12\x05\x18\x02",  # a message that is longer than the data
        b"\x12\x02\x18\x05",  # an unknown model type
        b"\x12\x02\x18\x02\x12\x02\x18\x01",  # two messages, which protobuf merges
        b"\x12\x04\x18\x01\x18\x02",  # two values of a field
        b"\x12\x03\x98\x02\x02",  # a boolean that is neither 0 nor 1
        b"\x12\x06\x20\xff\xff\xff\xff\x0f",  # an int32 of 32 bits
        b"\x12\x83\x80\x80\x80\x80\x00\x18\x01\x00",  # a length of more than five bytes
        b"\x13\x14",  # a group
        b"\x12\x0b\x20" + b"\x85" + b"\x80" * 8 + b"\x02",  # a number of 65 bits
    ],
)
def test_unusual_messages_are_left_to_protobuf(data: bytes) -> None:
    assert plain(data) is None
    with suppress(FormatError):
        assert proto.parse(data) == proto.parse_with_protobuf(data)


def test_the_messages_of_real_models_are_ordinary() -> None:
    paths = [VOCAB / path for path in REAL if path.startswith("sentencepiece/")]
    if not any(path.exists() for path in paths):
        pytest.skip("no test data; set POLYTOK_DATA to its folder")
    for path in filter(lambda path: path.exists(), paths):
        _, (_, other_messages, _) = _core.sentencepiece_read(path.read_bytes())
        assert require_same(other_messages)
