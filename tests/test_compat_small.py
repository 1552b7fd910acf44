"""polytok.compat.rustbpe, .rwkv_tokenizer, .pyrwkv_tokenizer and .llama_cpp."""

import pickle
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import polytok
from gguf_samples import REAL_FILES
from polytok import reference
from polytok.compat import llama_cpp, pyrwkv_tokenizer, rustbpe, rwkv_tokenizer
from polytok.formats.gguf_tokens import Attribute
from polytok.reference import gguf
from polytok.reference.llama_cpp import LlamaCpp
from reference_specs import DATA

TEXTS = ["the theatre then the ", "thing, thin 12345", "안녕 안녕하세요\n\n  there’s"]
FIRST_RANKS = [(b"\xff", 255), (b"th", 256), (b" th", 257)]
RWKV = DATA / "vocab" / "rwkv" / "rwkv_vocab_v20230424.txt"


def test_rustbpe_learns_the_most_frequent_pairs_and_of_these_the_lowest_ids() -> None:
    tokenizer = rustbpe.Tokenizer()
    assert (tokenizer.vocab_size, tokenizer.get_pattern(), tokenizer.encode("a")) == (256, "", [])
    tokenizer.train_from_iterator(iter(TEXTS), 270, buffer_size=1)
    assert tokenizer.vocab_size == 270
    assert tokenizer.get_mergeable_ranks()[255:258] == FIRST_RANKS
    for text in TEXTS:
        assert tokenizer.decode(tokenizer.encode(text)) == text
    assert tokenizer.batch_encode(TEXTS) == [tokenizer.encode(text) for text in TEXTS]


def test_rustbpe_equals_the_original() -> None:
    original = pytest.importorskip("rustbpe")
    for pattern in (None, r"\w+|\W+"):
        ours, theirs = rustbpe.Tokenizer(), original.Tokenizer()
        for tokenizer in (ours, theirs):
            tokenizer.train_from_iterator(iter(TEXTS), 400, pattern=pattern)
        assert ours.get_mergeable_ranks() == theirs.get_mergeable_ranks()
        assert ours.get_pattern() == theirs.get_pattern()
        assert ours.batch_encode(TEXTS) == theirs.batch_encode(TEXTS)


def test_rustbpe_stops_where_no_pair_is_left() -> None:
    tokenizer = rustbpe.Tokenizer()
    tokenizer.train_from_iterator(["ab"], 1000)
    assert tokenizer.get_mergeable_ranks()[256:] == [(b"ab", 256)]


def test_rustbpe_refuses_wrong_values() -> None:
    tokenizer = rustbpe.Tokenizer()
    with pytest.raises(ValueError, match="at least 256"):
        tokenizer.train_from_iterator(["a"], 255)
    with pytest.raises(TypeError, match="'int' object"):
        tokenizer.train_from_iterator([3], 300)  # type: ignore[list-item]
    with pytest.raises(ValueError, match="pattern"):
        tokenizer.train_from_iterator(["a"], 300, pattern="(")
    with pytest.raises(ValueError, match="Unknown token id: 999"):
        tokenizer.decode([999])


@pytest.mark.skipif(not RWKV.exists(), reason="needs the vocabularies")
def test_rwkv_ids_are_the_longest_matches(capsys: pytest.CaptureFixture[str]) -> None:
    tokenizer = rwkv_tokenizer.TRIE_TOKENIZER(str(RWKV))
    for text in [*TEXTS, "", "😀 <|endoftext|>\x00"]:
        ids = tokenizer.encode(text)
        assert ids == reference.encode(tokenizer._tokenizer.spec, text)
        assert tokenizer.decode(ids) == text
    assert tokenizer.token2idx[tokenizer.idx2token[300]] == 300
    assert tokenizer.encodeBytes(b"\xff") == [256]
    assert tokenizer.decode([256]) == tokenizer.decode([0]) == "\ufffd"
    with pytest.raises(KeyError):
        tokenizer.decodeBytes([0])
    tokenizer.printTokens([98, 256])
    assert capsys.readouterr().out == "'a'98 b'\\xff'256 \n"


def test_rwkv_refuses_other_files(tmp_path: Path) -> None:
    (tmp_path / "a.model").write_text("minbpe v1\n\n0\n97 98\n")
    with pytest.raises(AssertionError):
        rwkv_tokenizer.TRIE_TOKENIZER(str(tmp_path / "a.model"))


PYRWKV_CALLS: list[Callable[[Any], object]] = [
    *(lambda tokenizer, text=text: tokenizer.encode(text) for text in [*TEXTS, "", "😀 <|endoftext|>\x00"]),
    *(lambda tokenizer, text=text: tokenizer.encode(text) for text in ["a\ud83d", b"a", 3]),
    *(
        lambda tokenizer, texts=texts: tokenizer.encode_batch(texts)
        for texts in [TEXTS, ("a", "é"), [], "ab", [1], {"a": 1}, 3]
    ),
    *(
        lambda tokenizer, ids=ids: tokenizer.decode(ids)
        for ids in [
            [33, 34],
            (33,),
            [0, 33],
            [],
            [-1],
            [70000],
            [2**40],
            ["a"],
            [33.5],
            33,
            "a",
            {33},
            b"ab",
            range(33, 36),
        ]
    ),
    lambda tokenizer: tokenizer.vocab_size(),
    lambda tokenizer: tokenizer.get_vocab(),
]


def result(call: Callable[[Any], object], tokenizer: object) -> object:
    try:
        return call(tokenizer)
    except (TypeError, ValueError, OverflowError) as error:
        return type(error), str(error)


@pytest.mark.skipif(not RWKV.exists(), reason="needs the vocabularies")
def test_pyrwkv_equals_the_original() -> None:
    original = pytest.importorskip("pyrwkv_tokenizer")
    ours, theirs = pyrwkv_tokenizer.RWKVTokenizer(), original.RWKVTokenizer()
    assert ours.vocab_filepath == theirs.vocab_filepath
    for call in PYRWKV_CALLS:
        assert result(call, ours) == result(call, theirs)
    for tokenizer_class in (pyrwkv_tokenizer.RWKVTokenizer, original.RWKVTokenizer):
        with pytest.raises(Exception, match="The other is not supported"):
            tokenizer_class("other")


@pytest.mark.skipif(not RWKV.exists(), reason="needs the vocabularies")
def test_pyrwkv_raises_errors_where_the_original_panics(monkeypatch: pytest.MonkeyPatch) -> None:
    tokenizer = pyrwkv_tokenizer.RWKVTokenizer(vocab_filepath=RWKV)
    with pytest.raises(UnicodeDecodeError):
        tokenizer.decode([256])
    with pytest.raises(IndexError, match="65535"):
        tokenizer.decode([65535])
    assert pickle.loads(pickle.dumps(tokenizer)).encode(TEXTS[2]) == tokenizer.encode(TEXTS[2])
    monkeypatch.setattr("sys.path", [])
    with pytest.raises(FileNotFoundError, match="vocab_filepath"):
        pyrwkv_tokenizer.RWKVTokenizer()


def test_pyrwkv_refuses_other_files(tmp_path: Path) -> None:
    (tmp_path / "a.model").write_text("minbpe v1\n\n0\n97 98\n")
    with pytest.raises(ValueError, match="not a vocabulary of RWKV"):
        pyrwkv_tokenizer.RWKVTokenizer(vocab_filepath=tmp_path / "a.model")


@pytest.mark.parametrize("path", REAL_FILES, ids=lambda path: path.stem)
def test_llama_cpp_ids_and_pieces_are_those_of_llama_cpp(path: Path) -> None:
    twin = LlamaCpp(gguf.parse(path.read_bytes()))
    tokenizer = llama_cpp.LlamaTokenizer.from_ggml_file(str(path))
    for text in [*TEXTS, "", "Hello <s>world</s> <|endoftext|>", "a\xa0 [CLS]"]:
        for add_bos in (True, False):
            for special in (True, False):
                ids = tokenizer.encode(text, add_bos, special)
                assert ids == twin.tokenize(text.encode(), add_special=add_bos, parse_special=special)
    for id in range(len(twin.texts)):
        is_special = bool(twin.attributes[id] & (Attribute.CONTROL | Attribute.UNKNOWN))
        assert tokenizer.detokenize([id], special=True) == twin.piece(id)
        assert tokenizer.detokenize([id]) == (b"" if is_special else twin.piece(id))


def test_llama_cpp_removes_the_space_after_bos() -> None:
    path = next((path for path in REAL_FILES if path.stem == "ggml-vocab-llama-spm"), None)
    if path is None:
        pytest.skip("needs the vocabularies")
    tokenizer = llama_cpp.LlamaTokenizer(SimpleNamespace(model_path=str(path)))
    assert tokenizer.tokenize(b"Hello World</s>") == [1, 15043, 2787, 2]
    assert tokenizer.tokenize(b"Hello World</s>", special=False) == [1, 15043, 2787, 829, 29879, 29958]
    assert tokenizer.detokenize([1, 15043, 2787]) == b"Hello World"
    assert tokenizer.detokenize([1, 15043], special=True) == b"<s> Hello"
    assert tokenizer.detokenize([15043, 2787], prev_tokens=[1]) == b" Hello World"
    assert tokenizer.encode("a\ud83d") == tokenizer.encode("a")
    assert tokenizer.decode([243, 162, 15043]) == " Hello"
    assert tokenizer.detokenize([]) == b""


def test_llama_cpp_takes_a_vocabulary_of_any_format() -> None:
    tokenizer = llama_cpp.LlamaTokenizer(polytok.load("default"))
    ids = tokenizer.encode("a é<|endoftext|>")
    assert ids[-1] == 32767
    assert (tokenizer.decode(ids), tokenizer.detokenize(ids, special=True)) == ("a é", "a é<|endoftext|>".encode())
    for unknown_id in (-1, 10**6):
        with pytest.raises(IndexError):
            tokenizer.detokenize([unknown_id])
