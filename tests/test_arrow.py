"""Tests that Arrow columns have the same ids as texts encoded one by one."""

from __future__ import annotations

import ctypes
import gc
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import polars
import pyarrow as pa
import pytest

import polytok
from polytok import ArgumentError, EncodeError, SpecialTokenError, Tokenizer
from polytok._core import ArrowStream, Texts
from polytok.spec import Kind, Longest, Spec, Vocab

TOKENIZER = polytok.load("default")
ROWS = ["hello world", None, "", "日本語 text that is longer than twelve bytes", "é", None]
IDS = [None if row is None else TOKENIZER.encode(row) for row in ROWS]
COUNTS = [None if row is None else len(row) for row in IDS]
NARROW, WIDE = pa.list_(pa.uint16()), pa.large_list(pa.uint16())
TYPES = {
    pa.string(): NARROW,
    pa.binary(): NARROW,
    pa.large_string(): WIDE,
    pa.large_binary(): WIDE,
    pa.string_view(): WIDE,
    pa.binary_view(): WIDE,
    pa.dictionary(pa.int8(), pa.string()): WIDE,
    pa.dictionary(pa.uint64(), pa.large_binary()): WIDE,
}


class Foreign:
    """A column of a package that is unknown to polytok."""

    def __init__(self, column: Any) -> None:
        name = "__arrow_c_array__" if isinstance(column, pa.Array) else "__arrow_c_stream__"
        setattr(type(self), name, property(lambda self: getattr(self.column, name)))
        self.column = column


def as_type(rows: list[str | None], type: pa.DataType) -> pa.Array:
    value = type.value_type if pa.types.is_dictionary(type) else type
    is_binary = pa.types.is_binary(value) or pa.types.is_large_binary(value) or pa.types.is_binary_view(value)
    texts = [row.encode() if is_binary and row is not None else row for row in rows]
    column = pa.array(texts, value)
    return column.dictionary_encode().cast(type) if pa.types.is_dictionary(type) else column


@pytest.mark.parametrize("type", TYPES, ids=str)
@pytest.mark.parametrize("threads", [1, 2])
def test_arrays_and_chunked_arrays(type: pa.DataType, threads: int) -> None:
    column = as_type(ROWS, type)
    id_array = TOKENIZER.encode_arrow(column, threads=threads)
    id_array.validate(full=True)
    assert isinstance(id_array, pa.Array) and id_array.type == TYPES[type] and id_array.to_pylist() == IDS
    assert TOKENIZER.encode_arrow(column.slice(2, 3)).to_pylist() == IDS[2:5]
    assert TOKENIZER.count_arrow(column.slice(1)).to_pylist() == COUNTS[1:]
    chunks = pa.chunked_array([column.slice(3), column.slice(0, 0), column])
    id_array = TOKENIZER.encode_arrow(chunks, threads=threads)
    assert id_array.type == TYPES[type] and [len(chunk) for chunk in id_array.chunks] == [3, 0, 6]
    assert id_array.to_pylist() == IDS[3:] + IDS
    assert TOKENIZER.count_arrow(chunks).to_pylist() == COUNTS[3:] + COUNTS
    assert TOKENIZER.encode_arrow(pa.chunked_array([], type)).type == TYPES[type]


def test_a_column_of_many_rows() -> None:
    pick = random.Random(3)
    rows = ["".join(pick.choices(["text ", "日本", "a"], k=pick.choice([0, 3, 80]))) for _ in range(5000)]
    nulls = [None if pick.random() < 0.1 else row for row in rows]
    for texts in (rows, nulls):
        id_array = TOKENIZER.encode_arrow(pa.array(texts, pa.string_view()), threads=2)
        assert id_array.to_pylist() == [None if text is None else TOKENIZER.encode(text) for text in texts]


def test_empty_columns() -> None:
    assert TOKENIZER.encode_arrow(pa.nulls(2)).to_pylist() == [None, None]
    for type, result in TYPES.items():
        empty = TOKENIZER.encode_arrow(pa.array([], type) if not pa.types.is_dictionary(type) else as_type([], type))
        assert empty.type == result and len(empty) == 0
    assert (
        TOKENIZER.encode_arrow(as_type([None, None], pa.dictionary(pa.int8(), pa.string()))).to_pylist() == [None] * 2
    )


def test_large_vocabularies_have_wide_ids() -> None:
    rows = [(piece, id, 0.0, Kind.NORMAL) for piece, id in [(b"a", 1), (b"b", 70_000)]]
    id_array = Tokenizer(Spec(Vocab.from_rows(rows), Longest())).encode_arrow(pa.array(["ab", "b"]))
    assert id_array.type == pa.list_(pa.uint32()) and id_array.to_pylist() == [[1, 70_000], [70_000]]


def test_columns_of_other_packages() -> None:
    array = TOKENIZER.encode_arrow(Foreign(pa.array(ROWS)))
    assert len(array) == len(ROWS) and pa.array(array).to_pylist() == IDS
    series = polars.Series(ROWS)
    stream = TOKENIZER.encode_arrow(series)
    assert isinstance(stream, ArrowStream) and len(stream) == len(ROWS)
    # A stream can be read several times, and columns that are built from a stream outlive the stream.
    polars_column, pyarrow_column = polars.Series(stream), pa.chunked_array(stream)
    del stream, array
    gc.collect()
    assert (
        polars_column.dtype == polars.List(polars.UInt16)
        and polars_column.to_list() == pyarrow_column.to_pylist() == IDS
    )
    assert polars.Series(TOKENIZER.count_arrow(series.cast(polars.Categorical))).to_list() == COUNTS


def test_results_are_not_copied() -> None:
    array = TOKENIZER.encode_arrow(pa.chunked_array([ROWS]))
    assert array.chunk(0).values.buffers()[1].address == pa.chunked_array(array).chunk(0).values.buffers()[1].address
    stream = TOKENIZER.encode_arrow(polars.Series(ROWS))
    first_array, second_array = pa.chunked_array(stream), pa.chunked_array(stream)
    assert first_array.chunk(0).values.buffers()[1].address == second_array.chunk(0).values.buffers()[1].address


def test_options_are_those_of_encode() -> None:
    column = pa.array(["a<|endoftext|>b", None])
    assert TOKENIZER.encode_arrow(column, special="all").to_pylist() == [
        TOKENIZER.encode("a<|endoftext|>b", special="all"),
        None,
    ]
    with pytest.raises(SpecialTokenError, match="text 0: "):
        TOKENIZER.encode_arrow(column, reject_special=True)
    with pytest.raises(SpecialTokenError, match="no special token|not a special token"):
        TOKENIZER.count_arrow(column, special={"<nothing>"})
    with pytest.raises(ArgumentError, match="threads=0 is not a whole number"):
        TOKENIZER.encode_arrow(column, threads=0)


def test_errors_name_the_row_among_all_chunks() -> None:
    tokenizer = Tokenizer(Spec(Vocab.from_rows([(b"a", 0, 0.0, Kind.NORMAL)]), Longest()))
    for column in (pa.array(["a", None, "aa", "ab"]), pa.chunked_array([["a", None], ["aa", "ab"], ["b"]])):
        for threads in (1, 2):
            with pytest.raises(EncodeError, match="text 3: "):
                tokenizer.encode_arrow(column, threads=threads)
            with pytest.raises(EncodeError, match="text 3: "):
                tokenizer.count_arrow(column, threads=threads)


@pytest.mark.parametrize(
    ("column", "message"),
    [
        (["a"], "pyarrow.array"),
        ("a", "not str"),
        (pa.array([1]), "not Int64"),
        (pa.array([["a"]]), "pass one column of the table"),
        (pa.table({"text": ["a"]}), "pass one column of the table"),
        (pa.record_batch({"text": ["a"]}), "pass one column of the table"),
        (polars.DataFrame({"text": ["a"]}), "pass one column of the table"),
        (pa.array([1, 2]).dictionary_encode(), "not Dictionary"),
    ],
    ids=["list", "str", "numbers", "lists", "table", "batch", "frame", "dictionary"],
)
def test_columns_without_texts_are_refused(column: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        TOKENIZER.encode_arrow(column)


def test_a_capsule_can_be_read_only_once() -> None:
    class Once:
        def __init__(self, column: Any, name: str) -> None:
            capsules = getattr(column, name)()
            setattr(self, name, lambda: capsules)

    for column, name in ((pa.array(ROWS), "__arrow_c_array__"), (pa.chunked_array([ROWS]), "__arrow_c_stream__")):
        single_use = Once(column, name)
        assert len(TOKENIZER.count_arrow(single_use)) == len(ROWS)
        with pytest.raises(ArgumentError, match="can be read once"):
            TOKENIZER.count_arrow(single_use)


class CArray(ctypes.Structure):
    _fields_ = [(name, ctypes.c_int64) for name in ("length", "nulls", "offset", "buffers", "children")] + [
        (name, ctypes.c_void_p) for name in ("buffer", "child", "dictionary", "release", "private")
    ]


GET = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
RELEASE = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class CStream(ctypes.Structure):
    """A hand-written stream of strings that returns one array and then fails or continues."""

    _fields_ = [
        ("get_schema", GET),
        ("get_next", GET),
        ("get_last_error", ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)),
        ("release", RELEASE),
        ("private", ctypes.c_void_p),
    ]

    def __init__(self, next: Any) -> None:
        self.message = ctypes.create_string_buffer(b"the disk is gone")
        super().__init__(
            GET(lambda _, out: pa.string()._export_to_c(out) or 0),
            GET(next),
            type(self)._fields_[2][1](lambda _: ctypes.addressof(self.message)),
            RELEASE(lambda stream: ctypes.memset(stream, 0, ctypes.sizeof(CStream)) and None),
        )

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        make = ctypes.pythonapi.PyCapsule_New
        make.restype, make.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        self.name = b"arrow_array_stream"
        return make(ctypes.addressof(self), self.name, None)


def test_the_error_of_a_stream_is_reported() -> None:
    remaining_arrays: list[pa.Array] = [pa.array(["a"])]

    def next(_: int, out: int) -> int:
        if not remaining_arrays:
            return 5
        remaining_arrays.pop()._export_to_c(out)
        return 0

    with pytest.raises(ArgumentError, match="failed with code 5: the disk is gone"):
        TOKENIZER.encode_arrow(CStream(next))


@pytest.mark.parametrize(("length", "offset"), [(-1, 0), (1, -1), (2**62, 2**62), (2**63 - 1, 2**63 - 1)])
def test_impossible_lengths_are_refused(length: int, offset: int) -> None:
    release = RELEASE(lambda array: None)

    def next(_: int, out: int) -> int:
        array = CArray.from_address(out)
        array.length, array.offset, array.buffers = length, offset, 3
        array.release = ctypes.cast(release, ctypes.c_void_p)
        return 0

    with pytest.raises(ArgumentError, match=f"an array of length {length} at offset {offset}"):
        TOKENIZER.encode_arrow(CStream(next))


DATA = pa.py_buffer(b"abcdefghijklmnopqrstuvwxyz")


def corrupt_array(type: pa.DataType, length: int, numbers: list[int], width: Any = np.int32) -> pa.Array:
    """Returns an array whose offsets or views are replaced by ``numbers`` after pyarrow has checked the array."""
    numbers_buffer = np.zeros(len(numbers), width)
    array = pa.Array.from_buffers(type, length, [None, pa.py_buffer(numbers_buffer), DATA])
    numbers_buffer[:] = numbers
    return array


CORRUPT_ARRAYS = {
    "offsets that fall": corrupt_array(pa.string(), 2, [0, 9, 4]),
    "an offset below zero": corrupt_array(pa.string(), 2, [-4, 2, 4]),
    "an end below zero": corrupt_array(pa.string(), 1, [0, -4]),
    "a large end below zero": corrupt_array(pa.large_binary(), 1, [0, -4], np.int64),
    "an offset beyond": corrupt_array(pa.binary(), 2, [0, 99, 26]),
    "a view of no buffer": corrupt_array(pa.string_view(), 1, [13, 0, 1, 0]),
    "a view beyond": corrupt_array(pa.string_view(), 1, [13, 0, 0, 14]),
    "a view below zero": corrupt_array(pa.string_view(), 1, [13, 0, 0, -1]),
    "a view of no length": corrupt_array(pa.binary_view(), 1, [-1, 0, 0, 0]),
    "a key beyond": pa.DictionaryArray.from_arrays(pa.array([0, 2], pa.int8()), pa.array(["a"]), safe=False),
    "a key below zero": pa.DictionaryArray.from_arrays(pa.array([0, -1], pa.int8()), pa.array(["a"]), safe=False),
}


@pytest.mark.parametrize("column", CORRUPT_ARRAYS.values(), ids=CORRUPT_ARRAYS.keys())
def test_columns_with_wrong_offsets_are_refused(column: pa.Array) -> None:
    for arrow_object in (column, pa.chunked_array([column])):
        with pytest.raises(ArgumentError, match="Arrow: "):
            TOKENIZER.encode_arrow(arrow_object)
        with pytest.raises(ArgumentError, match="Arrow: "):
            Texts.of_arrow(arrow_object)


def set_number(array: CArray, buffer: int, index: int, number: int, width: Any = ctypes.c_int64) -> None:
    """Changes a number in a buffer of an array."""
    address = ctypes.c_void_p.from_address(array.buffer + 8 * buffer).value
    assert address
    width.from_address(address + index * ctypes.sizeof(width)).value = number


def entries(array: CArray) -> CArray:
    """Returns the array of the entries of a dictionary."""
    return CArray.from_address(array.dictionary)


DICTIONARY = pa.dictionary(pa.int8(), pa.string())
WRONG_STRUCTS: dict[str, tuple[pa.DataType, Callable[[CArray], object]]] = {
    "too few buffers": (pa.string(), lambda array: setattr(array, "buffers", 2)),
    "buffers below zero": (pa.string_view(), lambda array: setattr(array, "buffers", -1)),
    "no list of buffers": (pa.string(), lambda array: setattr(array, "buffer", None)),
    "no list of buffers of entries": (DICTIONARY, lambda array: setattr(entries(array), "buffer", None)),
    "no views": (pa.binary_view(), lambda array: setattr(array, "buffers", 2)),
    "a buffer of views below zero": (pa.string_view(), lambda array: set_number(array, 3, 0, -1)),
    "no keys": (DICTIONARY, lambda array: setattr(array, "buffers", 1)),
    "entries below zero": (DICTIONARY, lambda array: setattr(entries(array), "length", -1)),
    "entries at an offset below zero": (DICTIONARY, lambda array: setattr(entries(array), "offset", -1)),
    "an end of entries below zero": (DICTIONARY, lambda array: set_number(entries(array), 1, 1, -4, ctypes.c_int32)),
}


@pytest.mark.parametrize(("type", "change"), WRONG_STRUCTS.values(), ids=WRONG_STRUCTS.keys())
def test_structs_with_impossible_lengths_of_buffers_are_refused(
    type: pa.DataType, change: Callable[[CArray], object]
) -> None:
    column = as_type(["a text that is longer than a view"], type)

    class Changed:
        def __arrow_c_array__(self, requested_schema: object | None = None) -> object:
            schema, array = column.__arrow_c_array__()
            pointer = ctypes.pythonapi.PyCapsule_GetPointer
            pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
            change(CArray.from_address(pointer(array, b"arrow_array")))
            return schema, array

    with pytest.raises(ArgumentError, match="Arrow: "):
        TOKENIZER.encode_arrow(Changed())


class CapsuleChanger:
    """An object whose Arrow interface returns changed capsules."""

    def __init__(self, change: Callable[[Any, Any], Any], name: str) -> None:
        column = pa.array(ROWS)
        setattr(type(self), name, lambda _: change(*column.__arrow_c_array__()))


@pytest.mark.parametrize(
    "change",
    [
        lambda schema, array: (),
        lambda schema, array: None,
        lambda schema, array: (schema,),
        lambda schema, array: (array, schema),
        lambda schema, array: (schema, schema),
        lambda schema, array: [schema, array],
        lambda schema, array: (schema, array, array),
        lambda schema, array: ("schema", "array"),
        lambda schema, array: array,
    ],
)
def test_an_object_without_capsules_is_refused(change: Callable[[Any, Any], Any]) -> None:
    for name in ("__arrow_c_array__", "__arrow_c_stream__"):
        capsule_class = type("CapsuleChanger", (CapsuleChanger,), {})(change, name)
        for take in (TOKENIZER.encode_arrow, TOKENIZER.count_arrow, Texts.of_arrow):
            with pytest.raises(ArgumentError, match=f"Arrow: {name} of CapsuleChanger did not return "):
                take(capsule_class)


@pytest.mark.parametrize("type", TYPES, ids=str)
def test_texts_of_arrow(type: pa.DataType) -> None:
    column = as_type(ROWS, type)
    rows = [None if row is None else row.encode() for row in ROWS]
    texts = Texts.of_arrow(column)
    assert (
        texts.to_list() == rows
        and texts.validity is not None
        and texts.validity.tolist() == [row is not None for row in rows]
    )
    assert Texts.of_arrow(pa.chunked_array([column.slice(2), column])).to_list() == rows[2:] + rows
    assert Texts.of_arrow(column.slice(2, 3)).validity is None
    selected_texts = texts.take(np.array([1, 0, 5]))
    assert selected_texts.to_list() == [None, rows[0], None]
    assert texts.checked("skip")[0].to_list() == rows
