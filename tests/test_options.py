"""Tests the options of encoding, as a value and as keywords."""

from __future__ import annotations

import inspect
import pickle
from collections.abc import Callable
from typing import Any

import pyarrow
import pytest

from format_samples import sentencepiece_spec
from polytok import Options, StreamEncoder, Tokenizer
from polytok.errors import ArgumentError, SpecialTokenError
from tokenizer_samples import rank_spec

TEXT = "<a>x<b>"
TOKENIZER = Tokenizer(rank_spec(special={"<a>": 300, "<b>": 301}))


def push_all(encoder: StreamEncoder, text: str) -> list[int]:
    return encoder.push(text) + encoder.finish()


METHODS: dict[str, Callable[..., Any]] = {
    "encode": TOKENIZER.encode,
    "encode_array": lambda text, **options: TOKENIZER.encode_array(text, **options).tolist(),
    "encode_batch": lambda text, **options: TOKENIZER.encode_batch([text], **options).to_list()[0],
    "encode_arrow": lambda text, **options: TOKENIZER.encode_arrow(pyarrow.array([text]), **options).to_pylist()[0],
    "count": TOKENIZER.count,
    "count_arrow": lambda text, **options: TOKENIZER.count_arrow(pyarrow.array([text]), **options).to_pylist()[0],
    "tokens": TOKENIZER.tokens,
    "spans": lambda text, **options: [column.tolist() for column in TOKENIZER.spans(text, **options)],
    "encoding": lambda text, **options: TOKENIZER.encoding(text, **options).ids,
    "encodings": lambda text, **options: TOKENIZER.encodings([text], **options)[0].ids,
    "count_batch": lambda text, **options: TOKENIZER.count_batch([text], **options).tolist(),
    "fits": lambda text, **options: [TOKENIZER.fits(text, limit, **options) for limit in range(10)],
    "truncate": lambda text, **options: TOKENIZER.truncate(text, 3, **options),
    "truncate_batch": lambda text, **options: TOKENIZER.truncate_batch([text], 3, **options),
    "chunk": lambda text, **options: TOKENIZER.chunk(text, 3, **options).tolist(),
    "trace": lambda text, **options: TOKENIZER.trace(text, **options).ids,
    "encoder": lambda text, **options: push_all(TOKENIZER.encoder(**options), text),
    "incremental": lambda text, **options: TOKENIZER.incremental(text, **options).ids,
}


@pytest.mark.parametrize("way", METHODS)
@pytest.mark.parametrize("special", [(), "all", {"<a>"}, ["<b>", "<a>"]], ids=str)
def test_a_value_equals_its_keywords(way: str, special: Any) -> None:
    expected = METHODS[way](TEXT, special=special)
    assert METHODS[way](TEXT, options=Options(special=special)) == expected
    with pytest.raises(TypeError, match="set the same options"):
        METHODS[way](TEXT, options=Options(), special=special)


@pytest.mark.parametrize("way", METHODS)
def test_rejection_works_in_every_method(way: str) -> None:
    for options in ({"reject_special": True}, {"options": Options(reject_special=True)}):
        with pytest.raises(SpecialTokenError):
            METHODS[way](TEXT, **options)


def test_one_value_works_with_several_tokenizers() -> None:
    options = Options(add_special=True, special="all")
    other = Tokenizer(sentencepiece_spec())
    assert TOKENIZER.encode("<a>", options=options) == [300]
    assert other.encode("a", options=options) == other.encode("a", add_special=True) == [1, *other.encode("a")]


def test_more_values_than_are_cached() -> None:
    names = {f"<{number}>": 300 + number for number in range(40)}
    tokenizer = Tokenizer(rank_spec(special=names))
    for _ in range(2):
        assert [tokenizer.encode(name, special={name}) for name in names] == [[id] for id in names.values()]


def test_equal_values_are_equal() -> None:
    assert Options(special=["<a>", "<b>"]) == Options(special={"<b>", "<a>"}) != Options(special={"<a>"})
    assert hash(Options(special=["<a>"])) == hash(Options(special={"<a>"}))
    assert pickle.loads(pickle.dumps(Options(True, {"<a>"}))) == Options(True, {"<a>"})
    with pytest.raises(AttributeError):
        Options().add_special = True  # type: ignore[misc]


def test_wrong_options() -> None:
    with pytest.raises(ArgumentError, match="is not"):
        Options(special="<a>")
    with pytest.raises(TypeError, match="has no keyword argument 'add_specials'"):
        TOKENIZER.encode("a", add_specials=True)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match=r"options='all' is not a polytok\.Options"):
        TOKENIZER.encode("a", options="all")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="positional"):
        TOKENIZER.encode("a", "b")  # type: ignore[call-arg, arg-type]


def test_the_encoding_methods() -> None:
    """Tests that all methods with options of encoding are tested here, and that completion shows no others."""
    public = [name for name in dir(TOKENIZER) if name[0] != "_"]
    methods = [(name, method) for name, method in inspect.getmembers(Tokenizer, inspect.isfunction) if name in public]
    with_options = {name for name, method in methods if "options" in inspect.signature(method).parameters}
    assert set(METHODS) == with_options - {"decoder", "decoders"}
    prefixes = ("encod", "count", "span", "token")
    assert {name for name in public if name.startswith(prefixes)} - with_options == {"encode_chat"}
