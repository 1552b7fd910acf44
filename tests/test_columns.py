"""Tests the columns of a Spec: formats set memoryviews, and programs read numpy arrays."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

import polytok
from polytok.columns import buffer, column_of
from polytok.spec import Bpe, Kind, Vocab

ROWS = [(b"a", 0, 0.5, Kind.NORMAL), (b"b", 1, -1.0, Kind.NORMAL), (b"ab", 2, 0.0, Kind.NORMAL)]


def test_a_column_that_was_not_set_is_no_attribute() -> None:
    assert not hasattr(Vocab.__new__(Vocab), "ids")


def test_a_memoryview_becomes_an_array_of_the_same_memory() -> None:
    ids = column_of("I", [0, 1, 2])
    vocab = Vocab(b"abab", column_of("I", [0, 1, 2, 4]), ids, column_of("f", [0, 0, 0]), column_of("B", [1, 1, 1]))
    assert buffer(vocab, "ids").obj is ids.obj
    assert vocab.ids is vocab.ids and vocab.ids.dtype == np.uint32 and vocab.scores.dtype == np.float32
    ids[0] = 7
    assert vocab.ids.tolist() == buffer(vocab, "ids").tolist() == [7, 1, 2]
    assert vocab.pieces() == [b"a", b"b", b"ab"] and vocab.piece(2) == b"ab" and len(vocab) == 3


def test_merges_have_three_columns_in_memoryviews_and_arrays() -> None:
    vocab = Vocab.from_rows(ROWS)
    flat_model = Bpe("merges", merges=column_of("I", [0, 1, 2]))
    array_model = Bpe("merges", merges=np.array([[0, 1, 2]], dtype=np.uint32))
    assert polytok.Tokenizer(polytok.Spec(vocab, flat_model)).encode("ab") == [2]
    assert polytok.Tokenizer(polytok.Spec(vocab, array_model)).encode("ab") == [2]
    assert flat_model == array_model and flat_model.merges is not None and flat_model.merges.shape == (1, 3)
    empty_model = Bpe("merges", merges=column_of("I", []))
    assert empty_model.merges is not None and empty_model.merges.shape == (0, 3)


def test_columns_are_copied_and_pickled() -> None:
    vocab, model = Vocab.from_rows(ROWS), Bpe("merges", merges=column_of("I", [0, 1, 2]))
    assert pickle.loads(pickle.dumps(vocab)) == copy.deepcopy(vocab) == copy.copy(vocab) == vocab
    assert pickle.loads(pickle.dumps(model)) == copy.deepcopy(model) == model


def test_a_required_column_is_required_and_a_column_is_frozen() -> None:
    with pytest.raises(TypeError, match="kinds"):
        Vocab(b"", column_of("I", [0]), column_of("I", []), column_of("f", []))
    with pytest.raises(AttributeError, match="ids"):
        Vocab.from_rows(ROWS).ids = np.zeros(3, dtype=np.uint32)  # type: ignore[misc]


@pytest.mark.parametrize(
    "merges",
    [np.zeros((1, 2), np.uint32), np.zeros(3, np.uint32), np.zeros((1, 3), np.int64), column_of("I", [0, 1]), "abc"],
)
def test_merges_of_another_shape_or_type_are_refused(merges: np.ndarray | memoryview) -> None:
    with pytest.raises(polytok.SpecError, match="three columns"):
        polytok.Tokenizer(polytok.Spec(Vocab.from_rows(ROWS), Bpe("merges", merges=merges)))


@pytest.mark.parametrize("ids", [np.arange(3), np.arange(3, dtype=">u4"), column_of("f", [0, 1, 2]), [0, 1, 2]])
def test_a_column_of_another_type_is_refused(ids: object) -> None:
    vocab = Vocab.from_rows(ROWS)
    columns = (buffer(vocab, "scores"), buffer(vocab, "kinds"))
    with pytest.raises(polytok.SpecError, match=r"vocab\.ids is not a one-dimensional array of u32"):
        polytok.Tokenizer(polytok.Spec(Vocab(vocab.blob, vocab.offsets, ids, *columns), Bpe("rank")))  # type: ignore[arg-type]


def test_an_array_that_is_not_contiguous_is_read_in_its_order() -> None:
    vocab = Vocab.from_rows(ROWS)
    ids = np.array([2, 9, 1, 9, 0, 9], dtype=np.uint32)[::2]
    spec = polytok.Spec(Vocab(vocab.blob, vocab.offsets, ids, vocab.scores, vocab.kinds), Bpe("rank"))
    assert polytok.Tokenizer(spec).encode("a") == [2]
