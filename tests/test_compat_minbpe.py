"""polytok.compat.minbpe: the test suite of minbpe, and the rules that the suite does not test."""

import pickle
import re
import shutil
from hashlib import sha1
from pathlib import Path

import pytest

from peers.suites import PEERS, check_suite, needs_peers, run_suite
from polytok.compat import minbpe
from polytok.compat.minbpe.base import get_stats, merge
from reference_specs import DATA

CL100K = "https://openaipublic.blob.core.windows.net/encodings/cl100k_base.tiktoken"


@pytest.fixture
def tiktoken_cache(tmp_path: Path) -> Path:
    """A cache of tiktoken that has cl100k_base."""
    folder = tmp_path / "cache"
    folder.mkdir()
    shutil.copy(DATA / "vocab" / "tiktoken" / "cl100k_base.tiktoken", folder / sha1(CL100K.encode()).hexdigest())
    return folder


@needs_peers
def test_the_suite_of_minbpe_passes(tmp_path: Path, tiktoken_cache: Path) -> None:
    shutil.copytree(PEERS / "minbpe" / "tests", tmp_path / "tests", copy_function=shutil.copyfile)
    cache = {"TIKTOKEN_CACHE_DIR": str(tiktoken_cache)}
    result = run_suite(tmp_path, ["minbpe"], tmp_path / "report.xml", environment=cache)
    check_suite(result, passes=21)


def encode_slowly(tokenizer: minbpe.Tokenizer, text: bytes) -> list[int]:
    """Merges by minbpe's rule: in each round, all occurrences of the pair with the lowest id."""
    ids = list(text)
    while pairs := [pair for pair in get_stats(ids) if pair in tokenizer.merges]:
        pair = min(pairs, key=tokenizer.merges.__getitem__)
        ids = merge(ids, pair, tokenizer.merges[pair])
    return ids


TEXT = "the theatre then: thing, thin, ether, 안녕 안녕하세요 \n\n 12345  there’s "


def test_ids_are_those_of_merging_round_by_round() -> None:
    tokenizer = minbpe.BasicTokenizer()
    tokenizer.train(TEXT * 3, 290)
    assert tokenizer.encode(TEXT + "aaaa") == encode_slowly(tokenizer, (TEXT + "aaaa").encode())
    assert tokenizer.vocab == tokenizer._build_vocab()


def test_merges_can_be_replaced_and_added_to() -> None:
    tokenizer = minbpe.BasicTokenizer()
    assert tokenizer.encode("ab") == [97, 98]
    tokenizer.merges = {(97, 98): 256}
    assert tokenizer.encode("abab") == [256, 256]
    tokenizer.merges[256, 256] = 257
    assert tokenizer.encode("abab") == [257]


def test_verbose_training_prints_each_merge(capsys: pytest.CaptureFixture[str]) -> None:
    minbpe.RegexTokenizer().train("aaabdaaabac", 257, verbose=True)
    assert capsys.readouterr().out == "merge 1/1: (97, 97) -> 256 (b'aa') had 4 occurrences\n"


def test_special_tokens_are_errors_unless_they_are_allowed() -> None:
    tokenizer = minbpe.RegexTokenizer()
    tokenizer.register_special_tokens({"<a>": 300, "<b>": 301})
    with pytest.raises(AssertionError):
        tokenizer.encode("x<a>")
    assert tokenizer.encode("x<a><b>", allowed_special="all") == [120, 300, 301]
    assert tokenizer.encode("x<a><b>", allowed_special={"<b>"}) == [120, *b"<a>", 301]
    assert tokenizer.encode("x<a>", allowed_special="none") == list(b"x<a>")
    with pytest.raises(ValueError, match="allowed_special=3 not understood"):
        tokenizer.encode("x", allowed_special=3)  # type: ignore[arg-type]
    assert tokenizer.decode([120, 300]) == "x<a>"


def test_wrong_values_raise_the_errors_of_minbpe() -> None:
    basic, split = minbpe.BasicTokenizer(), minbpe.RegexTokenizer()
    with pytest.raises(KeyError):
        basic.decode([256])
    with pytest.raises(ValueError, match="invalid token id: 256"):
        split.decode([256])
    with pytest.raises(UnicodeEncodeError):
        basic.encode("\ud800")
    with pytest.raises(AssertionError):
        basic.train("abc", 255)
    with pytest.raises(ValueError, match="merges"):
        basic.train("abc", 300)
    with pytest.raises(AssertionError):
        basic.load("model.txt")
    with pytest.raises(ValueError, match=re.escape("(?:")):
        minbpe.RegexTokenizer(r"(\w+)|\s")
    minbpe.RegexTokenizer(r"[(]|\((?:\w+)|(?=a)a|(?i:b)|\s|.")


def test_files_are_loaded_and_tokenizers_are_pickled(tmp_path: Path) -> None:
    tokenizer = minbpe.RegexTokenizer()
    tokenizer.train(TEXT, 280)
    tokenizer.register_special_tokens({"<a>": 300})
    prefix = str(tmp_path / "model")
    tokenizer.save(prefix)
    loaded = minbpe.RegexTokenizer()
    loaded.load(prefix + ".model")
    assert loaded.merges == tokenizer.merges and loaded.special_tokens == {"<a>": 300}
    assert loaded.encode(TEXT) == tokenizer.encode(TEXT) == pickle.loads(pickle.dumps(tokenizer)).encode(TEXT)
    assert "[t][h] -> [th] " in Path(prefix + ".vocab").read_text("utf-8")


@needs_peers
def test_gpt4_has_the_merges_of_minbpe(monkeypatch: pytest.MonkeyPatch, tiktoken_cache: Path, tmp_path: Path) -> None:
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tiktoken_cache))
    tokenizer = minbpe.GPT4Tokenizer()
    assert len(tokenizer.merges) == 100000 and min(tokenizer.merges.values()) == 256
    assert tokenizer.decode(tokenizer.encode(TEXT)) == TEXT
    assert pickle.loads(pickle.dumps(tokenizer)).encode(TEXT) == tokenizer.encode(TEXT)
    tokenizer.save_vocab(str(tmp_path / "gpt4.vocab"))
    assert len((tmp_path / "gpt4.vocab").read_text("utf-8").splitlines()) >= 100256
    with pytest.raises(NotImplementedError):
        tokenizer.save("gpt4")
