"""Compares polytok.compat.tokenizers with the package tokenizers: the same calls, the same results."""

from __future__ import annotations

import asyncio
import copy
import itertools
import json
import pickle
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

tokenizers = pytest.importorskip("tokenizers")

import texts  # noqa: E402
from format_samples import VOCAB  # noqa: E402
from polytok.compat import tokenizers as face  # noqa: E402
from polytok.compat.tokenizers.decoders import DecodeStream  # noqa: E402
from published import marked_kinds  # noqa: E402
from texts import VocabularyPieces  # noqa: E402

FILES = sorted((VOCAB / "huggingface").glob("*.json"))
TEXTS = 12
LISTS = ("ids", "type_ids", "tokens", "offsets", "attention_mask", "special_tokens_mask", "word_ids", "sequence_ids")
INDICES = (0, 1, 2, 3, 7, 30)

Calls = Callable[[Any], Any]
Pair = tuple[Any, Any]


@pytest.fixture(scope="module", params=marked_kinds(FILES), ids=lambda path: path.stem)
def path(request: pytest.FixtureRequest) -> Path:
    found: Path = request.param
    return found


@pytest.fixture
def pair(path: Path) -> Pair:
    """The tokenizer of the package, and ours."""
    return loaded_pair(path)


def loaded_pair(path: Path) -> Pair:
    return tokenizers.Tokenizer.from_file(str(path)), face.Tokenizer.from_file(str(path))


@pytest.fixture(scope="module")
def loaded_once(path: Path) -> Pair:
    return loaded_pair(path)


@pytest.fixture
def shared_pair(loaded_once: Pair) -> Iterator[Pair]:
    """A pair for tests that change no more than truncation and padding."""
    yield loaded_once
    for tokenizer in loaded_once:
        tokenizer.no_truncation()
        tokenizer.no_padding()


@pytest.fixture(scope="module")
def some_texts(path: Path) -> list[str]:
    reference = tokenizers.Tokenizer.from_file(str(path))
    vocab = reference.get_vocab()
    added = [token.content for token in reference.get_added_tokens_decoder().values()]
    pieces = VocabularyPieces([piece.encode() for piece in vocab], [text.encode() for text in added])
    return [
        *("", " ", "a", "Hello, world!", f"x{added[0] if added else ''} y"),
        *(text.decode() for text in texts.generate_texts(5, TEXTS, pieces)),
    ]


def described(encoding: Any) -> list[Any]:
    """Returns all members of an encoding."""
    methods = ("word_to_tokens", "word_to_chars", "char_to_token", "char_to_word")
    return [
        len(encoding),
        encoding.n_sequences,
        *(getattr(encoding, name) for name in LISTS),
        *(getattr(encoding, name)(at, sequence) for name in methods for at in INDICES for sequence in (0, 1)),
        *(
            getattr(encoding, name)(at)
            for name in ("token_to_sequence", "token_to_word", "token_to_chars")
            for at in INDICES
        ),
        [described(window) for window in encoding.overflowing],
    ]


def outcome(call: Callable[[], Any]) -> Any:
    """Returns the result of a call; for an exception, its kind."""
    try:
        return call()
    except (TypeError, OverflowError, KeyError) as error:
        return type(error).__name__
    except BaseException as error:
        if isinstance(error, Exception) or type(error).__name__ == "PanicException":  # of Rust, no Exception
            return "Exception"
        raise


def check_equal(pair: Pair, call: Calls) -> None:
    reference, ours = pair
    assert outcome(lambda: call(ours)) == outcome(lambda: call(reference))


def encoding_calls(some_texts: list[str]) -> list[Calls]:
    calls: list[Calls] = []
    for text, other in zip(some_texts, reversed(some_texts), strict=True):
        words, other_words = text.split(), other.split()
        calls += [
            lambda t, a=text: described(t.encode(a)),
            lambda t, a=text: described(t.encode(a, add_special_tokens=False)),
            lambda t, a=text, b=other: described(t.encode(a, b)),
            lambda t, a=words: described(t.encode(a, is_pretokenized=True)),
            lambda t, a=words, b=other_words: described(t.encode(a, b, is_pretokenized=True)),
        ]
    calls += [
        lambda t: [described(e) for e in t.encode_batch(some_texts)],
        lambda t: [described(e) for e in t.encode_batch([(a, "b c") for a in some_texts], add_special_tokens=False)],
        lambda t: [e.ids for e in t.encode_batch_fast(some_texts)],
        lambda t: [described(e) for e in t.encode_batch([a.split() for a in some_texts], is_pretokenized=True)],
    ]
    return calls


def test_encodings_are_equal(shared_pair: Pair, some_texts: list[str]) -> None:
    for call in encoding_calls(some_texts):
        check_equal(shared_pair, call)


@pytest.mark.parametrize(
    ("length", "settings"),
    [
        (9, {}),
        (12, {"stride": 3, "direction": "left"}),
        (11, {"strategy": "only_first", "stride": 1}),
        (11, {"strategy": "only_second"}),
        (1, {}),
        (0, {}),
    ],
)
def test_truncation_is_equal(shared_pair: Pair, some_texts: list[str], length: int, settings: dict[str, Any]) -> None:
    for tokenizer in shared_pair:
        tokenizer.enable_truncation(length, **settings)
    for call in encoding_calls(some_texts[:10]):
        check_equal(shared_pair, call)
    check_equal(shared_pair, lambda t: t.truncation)
    check_equal(shared_pair, lambda t: (t.no_truncation(), t.truncation, described(t.encode("a b c " * 9))))


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"length": 20, "direction": "left", "pad_id": 3, "pad_token": "x", "pad_type_id": 2},
        {"pad_to_multiple_of": 8, "pad_id": 4_000_000_000},
    ],
)
def test_padding_is_equal(shared_pair: Pair, some_texts: list[str], settings: dict[str, Any]) -> None:
    for tokenizer in shared_pair:
        tokenizer.enable_padding(**settings)
        tokenizer.enable_truncation(10, stride=2)
    for call in encoding_calls(some_texts[:10]):
        check_equal(shared_pair, call)
    check_equal(shared_pair, lambda t: t.padding)
    check_equal(shared_pair, lambda t: (t.no_padding(), t.padding))


def test_decoding_is_equal(shared_pair: Pair, some_texts: list[str]) -> None:
    rng = random.Random(2)
    size = shared_pair[0].get_vocab_size()
    rows = [shared_pair[0].encode(text).ids for text in some_texts]
    rows += [[rng.randrange(size + 20) for _ in range(rng.randrange(12))] for _ in range(60)]
    for ids in rows:
        check_equal(shared_pair, lambda t, ids=ids: [t.decode(ids), t.decode(ids, skip_special_tokens=False)])
    check_equal(shared_pair, lambda t: t.decode_batch(rows))
    for ids in ([-1], [2**32], [2**31], ["a"], 5, [None], (1, 2)):
        check_equal(shared_pair, lambda t, ids=ids: t.decode(ids))


def test_decode_streams_are_equal(shared_pair: Pair, some_texts: list[str]) -> None:
    reference_class = tokenizers.decoders.DecodeStream
    for number, text in enumerate(some_texts):
        ids = shared_pair[0].encode(text).ids
        start, skips = number % 3, bool(number % 2)
        streams = [cls(ids[:start], skips) for cls in (reference_class, DecodeStream)]
        for id in [*ids[start:], ids[start:] or [1, 2]]:
            expected, found = (
                outcome(lambda s=s, t=t, id=id: s.step(t, id)) for s, t in zip(streams, shared_pair, strict=True)
            )
            assert found == expected


def test_the_vocabulary_is_equal(shared_pair: Pair) -> None:
    size = shared_pair[0].get_vocab_size()
    ids = [0, 1, 5, size - 1, size, size + 100, 2**31]
    check_equal(shared_pair, lambda t: [t.id_to_token(id) for id in ids])
    check_equal(
        shared_pair, lambda t: [t.token_to_id(token) for token in ("a", "Ġa", "▁a", "##a", "[CLS]", "no such", "")]
    )
    check_equal(shared_pair, lambda t: (t.get_vocab(), t.get_vocab(False), t.get_vocab_size(), t.get_vocab_size(False)))
    check_equal(shared_pair, lambda t: {id: repr(token) for id, token in t.get_added_tokens_decoder().items()})
    check_equal(shared_pair, lambda t: (t.num_special_tokens_to_add(False), t.num_special_tokens_to_add(True)))


@pytest.mark.parametrize("package", [tokenizers, face])
def test_sizes_and_entries_follow_every_change(package: Any) -> None:
    def state() -> tuple[int, int, list[int | None], list[str | None]]:
        ids = [tokenizer.token_to_id(token) for token in ("a", "c", "<new>", "low")]
        tokens = [tokenizer.id_to_token(id) for id in (0, 1, 2, 4)]
        return tokenizer.get_vocab_size(False), tokenizer.get_vocab_size(), ids, tokens

    models = package.models
    tokenizer = package.Tokenizer(models.WordLevel({"a": 0, "b": 1}, unk_token="a"))
    assert state() == (2, 2, [0, None, None, None], ["a", "b", None, None])
    tokenizer.add_tokens(["b", "<new>"])
    assert state() == (2, 3, [0, None, 2, None], ["a", "b", "<new>", None])
    tokenizer.model = models.WordLevel({"a": 0, "b": 1, "c": 3, "d": 4}, unk_token="a")
    assert state() == (4, 5, [0, 3, 2, None], ["a", "b", "<new>", "d"])
    tokenizer.train_from_iterator(["low", "low"], package.trainers.WordLevelTrainer(special_tokens=["a"]))
    assert state() == (2, 4, [0, None, 2, 1], ["a", "b", "<new>", None])


def add_tokens(tokenizer: Any) -> list[int]:
    """Adds tokens of all kinds."""
    token = face.AddedToken if isinstance(tokenizer, face.Tokenizer) else tokenizers.AddedToken
    return [
        tokenizer.add_tokens(["newtoken", "hello", "newtoken", ""]),
        tokenizer.add_tokens([token("left", lstrip=True), token("right", rstrip=True), token("one", single_word=True)]),
        tokenizer.add_special_tokens(["<new>", token("<plain>", normalized=True), "world"]),
        tokenizer.add_tokens([token("<new>", lstrip=True)]),
    ]


def test_added_tokens_are_equal(pair: Pair, some_texts: list[str]) -> None:
    check_equal(pair, lambda t: t.get_vocab_size())
    check_equal(pair, add_tokens)
    check_equal(pair, lambda t: {id: repr(token) for id, token in t.get_added_tokens_decoder().items()})
    check_equal(pair, lambda t: (t.get_vocab_size(), t.token_to_id("<new>"), t.id_to_token(t.token_to_id("<new>"))))
    rng = random.Random(3)
    new = ["newtoken", "hello", " left", "right ", "one", "<new>", "<plain>", "two one", "oneone"]
    for text in some_texts[:40]:
        at = rng.randrange(len(text) + 1)
        text = text[:at] + rng.choice(new) + text[at:] + rng.choice(new)
        check_equal(pair, lambda t, a=text: described(t.encode(a)))
        check_equal(
            pair, lambda t, a=text: [t.decode(t.encode(a).ids, skip_special_tokens=skip) for skip in (False, True)]
        )
    for tokenizer in pair:
        tokenizer.encode_special_tokens = True
    for text in some_texts[:40]:
        check_equal(pair, lambda t, a=text: described(t.encode(f"{a}<new>hello<plain>newtoken")))


def test_the_json_is_equal(pair: Pair, tmp_path: Path) -> None:
    for tokenizer in pair:
        add_tokens(tokenizer)
        tokenizer.enable_truncation(10, stride=2)
        tokenizer.enable_padding(length=20)
    expected, found = (json.loads(tokenizer.to_str()) for tokenizer in pair)
    assert found == expected
    if expected["model"]["type"] != "Unigram":  # tokenizers writes small numbers with another exponent
        assert pair[1].to_str() == pair[0].to_str()
        assert pair[1].to_str(pretty=True) == pair[0].to_str(pretty=True)
    pair[1].save(str(tmp_path / "tokenizer.json"))
    again = tokenizers.Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    assert again.encode("Hello world, newtoken").ids == pair[0].encode("Hello world, newtoken").ids


def test_copies_are_independent(pair: Pair) -> None:
    ours = pair[1]
    ours.enable_padding(length=12)
    for made in (copy.copy(ours), copy.deepcopy(ours), pickle.loads(pickle.dumps(ours))):
        made.no_padding()
        made.add_tokens(["newtoken"])
        assert made.encode("a newtoken").tokens[-1] != ours.encode("a newtoken").tokens[-1]
        assert ours.token_to_id("newtoken") is None
        assert len(ours.encode("a")) == 12


def test_encodings_are_changed_alike(shared_pair: Pair) -> None:
    def change(tokenizer: Any) -> list[Any]:
        encoding = tokenizer.encode("Hello there, you all", "and you?")
        encoding.pad(20, direction="left", pad_id=5, pad_type_id=1, pad_token="q")
        padded = described(encoding)
        encoding.truncate(6, stride=2)
        copied = pickle.loads(pickle.dumps(encoding))
        encoding.truncate(4, stride=1, direction="left")
        encoding.set_sequence_id(1)
        cls = type(encoding)
        merged = [cls.merge([encoding, copied], grows) for grows in (True, False)]
        return [padded, described(copied), described(encoding), *map(described, merged), repr(encoding)]

    check_equal(shared_pair, change)
    state = shared_pair[0].encode("Hello there").__getstate__()
    assert json.loads(shared_pair[1].encode("Hello there").__getstate__()) == json.loads(state)


def test_errors_are_those_of_the_original(pair: Pair) -> None:
    calls: list[Calls] = [
        lambda t: t.encode(1),
        lambda t: t.encode("a", 1),
        lambda t: t.encode(b"a"),
        lambda t: t.encode("\ud83d"),
        lambda t: t.encode("a", is_pretokenized=True),
        lambda t: t.encode(["a", 1], is_pretokenized=True),
        lambda t: t.encode("abc", add_special_tokens=None),
        lambda t: t.encode_batch("a"),
        lambda t: t.encode_batch(["a", 1]),
        lambda t: t.encode_batch([("a", "b", "c")]),
        lambda t: t.token_to_id(5),
        lambda t: t.id_to_token(-1),
        lambda t: t.id_to_token("x"),
        lambda t: t.enable_truncation(5, strategy="x"),
        lambda t: t.enable_truncation(-5),
        lambda t: t.enable_padding(direction="x"),
        lambda t: t.enable_padding(direction=None),
        lambda t: t.encode("a").truncate(1, direction="x"),
        lambda t: t.encode("a").truncate(1, direction=None),
        lambda t: t.encode("a").pad(9, direction="x"),
        lambda t: t.encode_batch({"a": 1}),
        lambda t: t.encode_batch([("a", 1)]),
        lambda t: t.encode_batch([{"a": 1, "b": 2}]),
        lambda t: t.encode_batch([np.array([1, 2])]),
        lambda t: t.encode_batch(np.array([1, 2])),
        lambda t: t.add_tokens("abc"),
        lambda t: t.add_tokens([1]),
        lambda t: type(t).from_str("x"),
        lambda t: type(t).from_str("{}"),
        lambda t: type(t).from_file("/no/such/file"),
        lambda t: t.save("/no/such/folder/file"),
    ]
    for call in calls:
        check_equal(pair, call)


def test_settings_of_a_model_do_not_need_its_entries(path: Path) -> None:
    expected, found = tokenizers.Tokenizer.from_file(str(path)).model, face.Tokenizer.from_file(str(path)).model
    for name in ("dropout", "unk_token", "continuing_subword_prefix", "end_of_word_suffix", "fuse_unk"):
        assert getattr(found, name, None) == getattr(expected, name, None)
    for name in ("byte_fallback", "ignore_merges", "max_input_chars_per_word"):
        assert getattr(found, name, None) == getattr(expected, name, None)
    assert found.is_unread
    if hasattr(found, "unk_token"):
        for model in (expected, found, found.copy()):  # an unread model reads its entries then
            model.unk_token = "other"
            assert model.unk_token == "other"


def test_arrays_are_batches_and_pairs(shared_pair: Pair) -> None:
    for batch in (
        np.array([("a text", "and a second"), ("b", "c")]),
        np.array([["a text", "and a second"], ["b", "c"]], dtype=object),
        [np.array(["a text", "and a second"]), ("b", "c")],
    ):
        check_equal(shared_pair, lambda t, batch=batch: [described(each) for each in t.encode_batch(batch)])
    words = np.array([(["a", "text"], ("and",)), (["b"], ("c",))], dtype=object)
    check_equal(shared_pair, lambda t: [described(each) for each in t.encode_batch(words, is_pretokenized=True)])


ARRAY_WORDS = (("Hello", "wo", "x"), ("naïve", "", "a\0b"), ("\u4100", "日本", "\u0100"), ("\ud800", "a", "😀"))
ARRAY_SHAPES: tuple[tuple[int, ...], ...] = ((), (1,), (2,), (2, 2), (3, 2), (2, 2, 2), (2, 2, 3), (1, 2, 2, 1))


def test_arrays_of_words(shared_pair: Pair) -> None:
    for words, dtype, shape in itertools.product(ARRAY_WORDS, ("U", ">U9", object), ARRAY_SHAPES):
        array = np.resize(np.array(words, dtype=dtype), shape)
        for value, words_given in itertools.product((array, array.T, [array]), (True, False)):
            check_equal(shared_pair, lambda t: described(t.encode(value, is_pretokenized=words_given)))  # noqa: B023
            check_equal(shared_pair, lambda t: described(t.encode_batch(value, is_pretokenized=words_given)[-1]))  # noqa: B023


def test_added_tokens_alone() -> None:
    for name, fields in (("a", {}), ("b\n", {"special": True}), ("c", {"lstrip": True, "normalized": False})):
        expected, found = tokenizers.AddedToken(name, **fields), face.AddedToken(name, **fields)
        assert repr(found) == repr(expected)
        assert found.__getstate__() == expected.__getstate__()
        assert pickle.loads(pickle.dumps(found)) == found
        assert str(found) == name
        assert found != face.AddedToken(name, rstrip=True)
        tokenizer = face.Tokenizer.from_str(json.dumps(SMALL))
        assert tokenizer.add_tokens([expected]) == 1
        assert repr(next(iter(tokenizer.get_added_tokens_decoder().values()))) == repr(expected)


SMALL = {"model": {"type": "WordLevel", "vocab": {"a": 0}, "unk_token": "a"}, "pre_tokenizer": {"type": "Whitespace"}}


def test_async_methods() -> None:
    tokenizer = face.Tokenizer.from_str(json.dumps({"added_tokens": [], **SMALL}))

    async def results() -> list[Any]:
        return [
            (await tokenizer.async_encode("a a")).ids,
            [encoding.ids for encoding in await tokenizer.async_encode_batch(["a", "a a"])],
            [encoding.ids for encoding in await tokenizer.async_encode_batch_fast(["a"])],
            await tokenizer.async_decode_batch([[0], [0, 0]]),
        ]

    assert asyncio.run(results()) == [[0, 0], [[0], [0, 0]], [[0]], ["a", "a a"]]
