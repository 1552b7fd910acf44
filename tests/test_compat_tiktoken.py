"""Tests polytok.compat.tiktoken: every call returns or raises what tiktoken returns or raises."""

from __future__ import annotations

import json
import pickle
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
import tiktoken as original
from hypothesis import given, settings
from hypothesis import strategies as st
from tiktoken import _educational as original_educational
from tiktoken import load as original_load

from peers.test_tiktoken_suite import make_cache
from polytok import compat
from polytok.compat import tiktoken as face
from polytok.compat.tiktoken import _educational as educational
from polytok.compat.tiktoken import load
from reference_specs import needs_data
from texts import VocabularyPieces, generate_texts

PATTERN = r"'s|'t| ?\p{L}+| ?\p{N}{1,3}| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
MERGES = [
    "he",
    "ll",
    "hell",
    "hello",
    "wo",
    "rl",
    "  ",
    "    ",
    "\n\n",
    " h",
    " w",
    "日",
    "本",
    "日本",
    "é",
    "ab",
    "abc",
]
RANKS = {bytes([byte]): byte for byte in range(256)}
for _merge in MERGES:
    RANKS.setdefault(_merge.encode(), len(RANKS))
SPECIAL = {"<|endoftext|>": 1000, "<|x|>": 1001}
NAMES = ["gpt2", "r50k_base", "p50k_base", "p50k_edit", "cl100k_base", "o200k_base", "o200k_harmony"]


def make(package: Any, **changes: Any) -> Any:
    arguments = {"pat_str": PATTERN, "mergeable_ranks": RANKS, "special_tokens": SPECIAL, **changes}
    return package.Encoding("small", **arguments)


OURS, THEIRS = make(face), make(original)


@pytest.fixture(scope="module")
def _cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TIKTOKEN_CACHE_DIR", str(make_cache(tmp_path_factory.mktemp("cache") / "cache")))
        yield


def outcome(call: Callable[[Any], Any], encoding: Any) -> Any:
    """Returns the result of a call, or the type of its error (polytok's are subclasses), with the arguments of a
    KeyError."""
    try:
        result = call(encoding)
    except Exception as error:
        builtin = next(cls for cls in type(error).__mro__ if cls.__module__ == "builtins" and cls is not Exception)
        return builtin, error.args if isinstance(error, KeyError) else None
    if isinstance(result, np.ndarray):
        return result.dtype, result.tolist(), result.flags.writeable
    return result


CALLS: list[Callable[[Any], Any]] = [
    lambda e: e.encode("hello<|endoftext|>"),
    lambda e: e.encode("hello<|endoftext|>", disallowed_special=()),
    lambda e: e.encode("hello<|endoftext|><|x|>", allowed_special="all"),
    lambda e: e.encode("hello<|endoftext|><|x|>", allowed_special={"<|x|>"}),
    lambda e: e.encode("hello<|endoftext|><|x|>", allowed_special={"<|x|>"}, disallowed_special=()),
    lambda e: e.encode("hello<|x|>", allowed_special={"<|x|>", "unknown"}),
    lambda e: e.encode("hello", disallowed_special={"ell"}),
    lambda e: e.encode("hello", disallowed_special="lo"),
    lambda e: e.encode("hello", disallowed_special={""}),
    lambda e: e.encode("hello", allowed_special=["<|x|>"]),
    lambda e: e.encode("hello", allowed_special=[]),
    lambda e: e.encode("hello", allowed_special=["<|x|>"], disallowed_special=()),
    lambda e: e.encode("hello", allowed_special={"<|x|>", 3}, disallowed_special=()),
    lambda e: e.encode("hello", allowed_special={"<|x|>": 1}.keys(), disallowed_special=()),
    lambda e: e.encode(b"hello"),
    lambda e: e.encode(None),
    lambda e: e.encode_ordinary(b"hello"),
    lambda e: e.encode_ordinary("hello<|x|>"),
    lambda e: e.encode("\ud83d\udc4d \ud83d"),
    lambda e: e.encode_to_numpy("hello \ud83d"),
    lambda e: e.encode_to_numpy("hello é"),
    lambda e: e.encode_to_numpy(""),
    lambda e: e.encode_to_numpy("<|x|>"),
    lambda e: e.encode_to_numpy("<|x|>", allowed_special="all"),
    lambda e: e.encode_to_numpy("hello<|x|>", disallowed_special=()),
    lambda e: e.encode_to_numpy(b"hello", disallowed_special=()),
    lambda e: e.encode("<|x|> \ud83d", allowed_special="all"),
    lambda e: e.encode_batch("abc"),
    lambda e: e.encode_batch(["abc", "", "<|x|>"], allowed_special="all", num_threads=2),
    lambda e: e.encode_batch(["abc", "<|x|>"]),
    lambda e: e.encode_batch(["abc", b"x"]),
    lambda e: e.encode_batch(["abc", b"x"], disallowed_special=()),
    lambda e: e.encode_batch(["abc"], num_threads=0),
    lambda e: e.encode_batch([], num_threads=None),
    lambda e: e.encode_batch(3),
    lambda e: e.encode_ordinary_batch(("abc", "<|x|>")),
    lambda e: e.encode_ordinary_batch(["abc", 3]),
    lambda e: e.encode_single_token("hello"),
    lambda e: e.encode_single_token("<|x|>"),
    lambda e: e.encode_single_token(b"\xff"),
    lambda e: e.encode_single_token("hello world"),
    lambda e: e.encode_single_token(3),
    lambda e: e.decode_single_token_bytes(1001),
    lambda e: e.decode_single_token_bytes(999),
    lambda e: e.decode_single_token_bytes(-1),
    lambda e: e.decode_single_token_bytes(2**40),
    lambda e: e.decode_single_token_bytes(1.0),
    lambda e: e.decode_single_token_bytes("a"),
    lambda e: e.decode_single_token_bytes(np.int64(97)),
    lambda e: e.decode_bytes([104, 1001, 255]),
    lambda e: e.decode_bytes((104, 105)),
    lambda e: e.decode_bytes(range(104, 108)),
    lambda e: e.decode_bytes(np.array([104, 105])),
    lambda e: e.decode_bytes(b"hi"),
    lambda e: e.decode_bytes("hi"),
    lambda e: e.decode_bytes(3),
    lambda e: e.decode_bytes({104}),
    lambda e: e.decode_bytes(iter([104])),
    lambda e: e.decode_bytes([999]),
    lambda e: e.decode_bytes([-1]),
    lambda e: e.decode_bytes([2**40]),
    lambda e: e.decode_bytes([1.0]),
    lambda e: e.decode([104, 255, 1001]),
    lambda e: e.decode([104, 255], errors="strict"),
    lambda e: e.decode([104, 255], errors="backslashreplace"),
    lambda e: e.decode_batch([[104], [255, 104]]),
    lambda e: e.decode_batch([[104]], num_threads=-1),
    lambda e: e.decode_bytes_batch([[104], []], num_threads=1),
    lambda e: e.decode_tokens_bytes([104, 1001]),
    lambda e: e.decode_tokens_bytes(3),
    lambda e: e.decode_with_offsets([*"aé日".encode(), 1001]),
    lambda e: e.decode_with_offsets([255]),
    lambda e: e.decode_with_offsets([104, 999]),
    lambda e: e.decode_with_offsets([104, 1.0]),
    lambda e: e.decode_with_offsets(iter([104, *"日".encode()])),
    lambda e: e.decode_with_offsets(np.array([104, 195, 169])),
    lambda e: e.decode_with_offsets([]),
    lambda e: (e.n_vocab, e.max_token_value, e.eot_token, e.special_tokens_set, e.name, repr(e)),
    lambda e: (e.is_special_token(1001), e.is_special_token(7)),
    lambda e: e.is_special_token("a"),
    lambda e: e.token_byte_values(),
    lambda e: (e._pat_str, e._mergeable_ranks, e._special_tokens),
    lambda e: e._encode_single_piece("helloworld "),
    lambda e: e._encode_single_piece(b"\xffab\xe6\x97"),
    lambda e: e._encode_only_native_bpe("hello wor 123"),
    lambda e: e._encode_bytes("a"),
    lambda e: e._core_bpe.encode("hello <|x|>", {"<|x|>"}),
    lambda e: e._core_bpe.encode_ordinary("hello"),
]


@pytest.mark.parametrize("number", range(len(CALLS)))
def test_calls_and_errors(number: int) -> None:
    assert outcome(CALLS[number], OURS) == outcome(CALLS[number], THEIRS)


@pytest.mark.parametrize(
    "changes",
    [
        {"pat_str": "("},
        {"mergeable_ranks": {}},
        {"mergeable_ranks": {b"a": -1}},
        {"mergeable_ranks": {b"a": 2**33}},
        {"special_tokens": {}},
        {"special_tokens": {}, "explicit_n_vocab": 3},
        {"explicit_n_vocab": len(RANKS)},
        {"pat_str": "a|bc"},
    ],
)
def test_constructors(changes: dict[str, Any]) -> None:
    def encode(package: Any) -> Any:
        return make(package, **changes).encode("abc zbc<|x|>a", disallowed_special=())

    assert outcome(encode, face) == outcome(encode, original)


@settings(max_examples=150, deadline=None)
@given(st.lists(st.sampled_from([*MERGES, " ", "\n", "x", "'s", "1", "\ud83d", "👍", "\u3000", *SPECIAL])))
def test_texts(parts: list[str]) -> None:
    text = "".join(parts)
    for call in (
        lambda e: e.encode_ordinary(text),
        lambda e: e.encode(text, allowed_special="all"),
        lambda e: e.encode(text, allowed_special={"<|x|>"}, disallowed_special=()),
        lambda e: e.encode(text)[:0],
    ):
        assert outcome(call, OURS) == outcome(call, THEIRS)
    tokens = THEIRS.encode(text, allowed_special="all")
    assert OURS.decode_with_offsets(tokens) == THEIRS.decode_with_offsets(tokens)
    assert OURS.decode(tokens[1:]) == THEIRS.decode(tokens[1:])


@settings(max_examples=150, deadline=None)
@given(st.lists(st.sampled_from([*MERGES, " ", "\n", "x", "\u3000", *SPECIAL]), max_size=6))
def test_unstable_ends(parts: list[str]) -> None:
    def unstable(encoding: Any) -> Any:
        stable, completions = encoding.encode_with_unstable("".join(parts), allowed_special="all")
        return stable, sorted(completions)

    assert unstable(OURS) == unstable(THEIRS)


@settings(max_examples=150, deadline=None)
@given(st.lists(st.one_of(st.binary(max_size=4), st.sampled_from([merge.encode() for merge in [*MERGES, " \n "]]))))
def test_bytes(parts: list[bytes]) -> None:
    data = b"".join(parts)
    assert OURS._encode_bytes(data) == THEIRS._encode_bytes(data)
    if data:
        assert OURS._encode_single_piece(data) == THEIRS._encode_single_piece(data)


@needs_data
@pytest.mark.usefixtures("_cache")
@pytest.mark.parametrize("name", NAMES)
def test_published_encodings(name: str) -> None:
    ours, theirs = face.get_encoding(name), original.get_encoding("r50k_base" if name == "gpt2" else name)
    assert (ours._pat_str, ours._mergeable_ranks, ours._special_tokens) == (
        *(theirs._pat_str, theirs._mergeable_ranks, theirs._special_tokens),
    )
    assert ours.n_vocab == theirs.n_vocab and ours.name == name
    special = [text.encode() for text in sorted(ours.special_tokens_set)[:2]]
    vocabulary = VocabularyPieces(ours.token_byte_values()[::50], special)
    texts = [text.decode("utf-8", "replace") for text in generate_texts(7, 60, vocabulary)]
    assert ours.encode_ordinary_batch(texts) == theirs.encode_ordinary_batch(texts)
    assert ours.encode_batch(texts, allowed_special="all") == theirs.encode_batch(texts, allowed_special="all")
    for text in texts[:10]:
        data = text.encode()[: Random(1).randrange(9, 40)]
        assert ours._encode_bytes(data) == theirs._encode_bytes(data)


def encoding_name(package: Any, name: str) -> Any:
    """Returns the name of a model's encoding, or whether the model is unknown."""
    try:
        return package.encoding_name_for_model(name)
    except KeyError:
        return None


@needs_data
@pytest.mark.usefixtures("_cache")
def test_registry_and_models() -> None:
    assert sorted(face.list_encoding_names()) == sorted(original.list_encoding_names())
    assert face.model.MODEL_TO_ENCODING == original.model.MODEL_TO_ENCODING
    assert face.model.MODEL_PREFIX_TO_ENCODING == original.model.MODEL_PREFIX_TO_ENCODING
    names = [*face.model.MODEL_TO_ENCODING, *(f"{name}x" for name in face.model.MODEL_PREFIX_TO_ENCODING), "llama"]
    for name in names:
        call = partial(encoding_name, name=name)
        assert outcome(call, face) == outcome(call, original)
    assert face.encoding_for_model("gpt-4") is face.get_encoding("cl100k_base")
    with pytest.raises(ValueError, match="Expected a string"):
        face.get_encoding(3)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="Unknown encoding unknown"):
        face.get_encoding("unknown")


@needs_data
@pytest.mark.usefixtures("_cache")
@pytest.mark.filterwarnings("ignore::polytok.compat.face.FaceWarning")
def test_pickles_are_read_both_ways() -> None:
    theirs = [pickle.dumps(original.get_encoding("r50k_base")), pickle.dumps(THEIRS)]
    assert pickle.loads(pickle.dumps(OURS)).encode("hello") == THEIRS.encode("hello")
    with compat.installed("tiktoken"):
        ours = [pickle.dumps(face.get_encoding("r50k_base")), pickle.dumps(OURS)]
        read = [pickle.loads(data) for data in theirs]
    assert ours[0] == theirs[0]  # a registered encoding is its name
    assert all(isinstance(encoding, face.Encoding) for encoding in read)
    assert read[1].encode("hello <|x|>", allowed_special="all") == THEIRS.encode("hello <|x|>", allowed_special="all")
    again = [pickle.loads(data) for data in ours]
    assert all(type(encoding) is original.Encoding for encoding in again)


def test_plugins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plugin = "ENCODING_CONSTRUCTORS = {'mine': lambda: dict(name='mine', pat_str='.', mergeable_ranks={b'a': 0}, "
    (tmp_path / "tiktoken_ext").mkdir()
    (tmp_path / "tiktoken_ext/my_plugin.py").write_text(plugin + "special_tokens={})}")
    monkeypatch.syspath_prepend(tmp_path)
    for name in [name for name in sys.modules if name.startswith("tiktoken_ext")]:
        monkeypatch.delitem(sys.modules, name)
    registry = sys.modules["polytok.compat.tiktoken.registry"]
    registry._available_plugin_modules.cache_clear()
    monkeypatch.setattr(registry, "ENCODING_CONSTRUCTORS", None)
    monkeypatch.setattr(registry, "ENCODINGS", {})
    assert face.get_encoding("mine").encode("aa") == [0, 0]
    registry._available_plugin_modules.cache_clear()


def test_the_cache_is_that_of_tiktoken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = tmp_path / "file.tiktoken"
    source.write_bytes(b"YQ== 0\nYg== 1\n\n")
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path / "cache"))
    assert load.load_tiktoken_bpe(str(source)) == {b"a": 0, b"b": 1}
    source.write_bytes(b"broken")
    assert load.load_tiktoken_bpe(str(source)) == original_load.load_tiktoken_bpe(str(source)) == {b"a": 0, b"b": 1}
    with pytest.raises(ValueError, match="Hash mismatch"):
        load.read_file_cached(str(source), "0" * 64)
    with pytest.raises(ValueError, match="Error parsing line b'broken'"):
        load.load_tiktoken_bpe(str(source))
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", "")
    assert load.read_file_cached(str(source)) == b"broken"


def test_files_of_gpt2(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", "")
    byte_order = [byte for byte in range(256) if chr(byte).isprintable() and chr(byte) != " "]
    characters = {byte: chr(byte) for byte in byte_order}
    for byte in range(256):
        if byte not in characters:
            characters[byte] = chr(68 + len(characters))
    vocabulary = {character: rank for rank, character in enumerate(characters.values())} | {
        "Ġa": 256,
        "<|endoftext|>": 257,
    }
    (tmp_path / "vocab.bpe").write_text("#version\nĠ a\n", "utf-8")
    (tmp_path / "encoder.json").write_text(json.dumps(vocabulary))
    arguments = (str(tmp_path / "vocab.bpe"), str(tmp_path / "encoder.json"))
    expected = original_load.data_gym_to_mergeable_bpe_ranks(*arguments)
    assert load.data_gym_to_mergeable_bpe_ranks(*arguments) == expected


def test_educational(capsys: pytest.CaptureFixture[str]) -> None:
    printed = []
    for module in (educational, original_educational):
        encoding = module.SimpleBytePairEncoding.train("hello world hello there, hello!" * 2, 262, PATTERN)
        tokens = encoding.encode("hello world")
        result = (encoding.mergeable_ranks, tokens, encoding.decode(tokens), encoding.decode_tokens_bytes(tokens))
        module.bpe_encode(encoding.mergeable_ranks, b"hello", visualise="simple")
        printed.append((result, capsys.readouterr().out))
    assert printed[0] == printed[1]
    assert educational.SimpleBytePairEncoding.from_tiktoken(OURS).encode("hello", None) == OURS.encode("hello")
    with pytest.raises(ValueError, match="at least 256"):
        educational.bpe_train("", 3, "")


def test_llguidance() -> None:
    from llguidance.tiktoken import lltokenizer_from_encoding

    text = "hello <|endoftext|> wörld"
    found, expected = (
        (made.vocab_size, made.eos_token, made.tokenize_str(text), made.dbg_tokens(made.tokenize_str(text)))
        for made in map(lltokenizer_from_encoding, (OURS, THEIRS))
    )
    assert found == expected
