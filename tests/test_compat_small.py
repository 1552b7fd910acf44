"""polytok.compat.rustbpe and polytok.compat.rwkv_tokenizer."""

from pathlib import Path

import pytest

from polytok import reference
from polytok.compat import rustbpe, rwkv_tokenizer
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
