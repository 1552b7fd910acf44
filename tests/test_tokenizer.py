"""Tests the public API on small tokenizers: options, batches, special tokens, pickling, threads, forks, files."""

from __future__ import annotations

import io
import os
import pickle
import random
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import polytok
from format_samples import longest_spec, sentencepiece_spec, unigram_spec
from polytok import Tokenizer
from polytok.spec import Bpe, Kind, Longest, PatternSplit, Spec, SpecialToken, Template, Vocab, Word
from tokenizer_samples import rank_spec, word_unigram

TEXT = "Hello, world! 吾輩は猫である。 naïve 😀\n\n  x  "


@pytest.fixture(scope="module")
def default() -> Tokenizer:
    return polytok.load("default")


@pytest.fixture(scope="module")
def unigram() -> Tokenizer:
    return Tokenizer(word_unigram())


# Encoding


def test_the_cache_is_limited_and_changes_no_ids() -> None:
    tokenizer = polytok.load("default")
    text = " ".join(f"word{n} {n} naïve 吾輩は" for n in range(2000))
    expected = tokenizer.encode(text)
    assert tokenizer.cache_limit == 64 << 20
    assert 0 < tokenizer.cache_bytes <= tokenizer.cache_limit
    tokenizer.clear_cache()
    assert tokenizer.cache_bytes == 0
    for limit in (1 << 16, 0):
        tokenizer.cache_limit = limit
        assert [tokenizer.encode(text) for _ in range(2)] == [expected] * 2
        assert tokenizer.count(text) == len(expected)
        assert tokenizer.cache_limit == limit
        assert tokenizer.cache_bytes <= limit
    with pytest.raises(polytok.ArgumentError, match="cache_limit=-1 is not"):
        tokenizer.cache_limit = -1


def test_tables_that_are_built_late_change_no_ids(unigram: Tokenizer) -> None:
    words = ["a", "ab", "aba", "abba", "bx", "日本", "therefore", "x" * 40]
    texts = [" ".join(random.Random(seed).choices(words, k=60)) for seed in range(200)]
    for spec in (unigram.spec, unigram_spec(), polytok.load("default").spec):
        lazy, warm = Tokenizer(spec), Tokenizer(spec)
        expected = [lazy.encode(text) for text in texts]
        warm.cache_limit = 0
        for _ in range(12):
            assert [ids.tolist() for ids in warm.encode_batch(texts)] == expected
        assert warm.cache_bytes == 0
        warm.cache_limit = 1 << 20
        assert [warm.encode(text) for text in texts] == expected
        assert 0 < warm.cache_bytes <= 1 << 20
        warm.clear_cache()
        assert warm.cache_bytes == 0


def test_a_warm_up_changes_no_results(unigram: Tokenizer) -> None:
    words = ["a", "ab", "aba", "abba", "bx", "日本", "therefore", "x" * 40]
    texts = [" ".join(random.Random(seed).choices(words, k=60)) for seed in range(20)]
    for spec in (unigram.spec, unigram_spec(), polytok.load("default").spec):
        cold, warm = Tokenizer(spec), Tokenizer(spec)
        with ThreadPoolExecutor(4) as executor:
            warm_ups = [executor.submit(warm.warm_up) for _ in range(4)]
            encodings = [executor.submit(warm.encode, text) for text in texts]
        assert [warm_up.result() for warm_up in warm_ups] == [None] * 4
        assert [encoding.result() for encoding in encodings] == [cold.encode(text) for text in texts]
        for text in texts:
            assert warm.tokens(text) == cold.tokens(text)
            assert warm.decode(warm.encode(text)) == cold.decode(cold.encode(text))
        warm.warm_up()
        assert warm.encode_batch(texts)[3].tolist() == cold.encode(texts[3])


def test_a_warm_up_fills_a_cache_within_its_limit() -> None:
    tokenizer = polytok.load("default")
    tokenizer.warm_up()
    assert 0 < tokenizer.cache_bytes <= tokenizer.cache_limit
    tokenizer.cache_limit = 0
    tokenizer.warm_up()
    assert tokenizer.cache_bytes == 0


def test_all_encoding_methods_agree(default: Tokenizer) -> None:
    ids = default.encode(TEXT)
    assert default.encode(TEXT.encode()) == ids
    assert default.encode_array(TEXT).tolist() == ids
    assert default.encode_array(TEXT).dtype == np.uint16
    assert default.count(TEXT) == len(ids)
    assert [token.id for token in default.tokens(TEXT)] == ids
    assert default.encode_batch([TEXT]).to_list() == [ids]
    assert default.decode(ids) == TEXT
    assert default.decode(np.array(ids, dtype=np.uint32)) == TEXT
    assert default.decode(np.array(ids, dtype=np.int64)) == TEXT
    assert default.decode(tuple(ids)) == TEXT
    assert default.decode(iter(ids)) == TEXT


def test_empty_text(default: Tokenizer, unigram: Tokenizer) -> None:
    for tokenizer in (default, unigram):
        assert tokenizer.encode("") == tokenizer.encode(b"") == []
        assert tokenizer.count("") == 0
        assert tokenizer.tokens("") == []
        assert tokenizer.decode([]) == ""
        assert tokenizer.encode_batch([]).to_list() == []
        assert tokenizer.encode_batch([""]).to_list() == [[]]


def test_the_array_is_uint32_if_uint16_is_too_narrow() -> None:
    spec = rank_spec(special={"<big>": 70_000})
    assert Tokenizer(spec).encode_array("ab").dtype == np.uint32
    assert Tokenizer(replace(spec, special=(SpecialToken("<big>", 65_535),))).encode_array("ab").dtype == np.uint16


@pytest.mark.parametrize("threads", [None, 1, 2, 7])
def test_batches_do_not_depend_on_threads(default: Tokenizer, threads: int | None) -> None:
    pick = random.Random(0)
    texts = ["".join(pick.choices(TEXT, k=pick.randrange(3000))) for _ in range(300)]
    batch = default.encode_batch(texts, threads=threads)
    assert len(batch) == len(texts)
    assert batch.to_list() == [default.encode(text) for text in texts]
    assert batch.offsets[-1] == len(batch.ids)
    assert batch[-1].tolist() == default.encode(texts[-1])
    assert [row.tolist() for row in batch[1:3]] == batch.to_list()[1:3]
    with pytest.raises(IndexError):
        batch[len(texts)]
    assert default.decode_batch(batch) == texts


@pytest.mark.parametrize("threads", [1, 2])
def test_a_batch_has_texts_of_all_kinds(default: Tokenizer, threads: int) -> None:
    """Python stores the characters of a str with 1, 2 or 4 bytes each."""

    class Subclass(str):
        pass

    pick = random.Random(1)
    kinds = ["ascii \x7f", "\x80latin \xff", "\u0100two\uffff", "four \U0001f600", "\ud83d\ude00 \udc00 lone", ""]
    texts: list[str | bytes] = [kind * pick.randrange(2000) for kind in kinds * 10]
    texts += ["naïve".encode(), b"\xff\xfe", Subclass("subclass"), Subclass("\ud800")]
    expected = [default.encode(text) for text in texts]
    assert default.encode_batch(texts, threads=threads).to_list() == expected
    assert default.encode("\ud83d\ude00") == default.encode("😀")
    assert default.encode(Subclass("\ud800")) == default.encode("\ufffd")


def test_a_batch_of_one_string_is_a_mistake(default: Tokenizer) -> None:
    with pytest.raises(TypeError, match="use encode for one text"):
        default.encode_batch("text")
    with pytest.raises(polytok.ArgumentError, match="threads=0 is not"):
        default.encode_batch(["text"], threads=0)


def test_text_must_be_text(default: Tokenizer) -> None:
    for invalid_text in (None, 1, ["a"], bytearray(b"a")):
        with pytest.raises(TypeError, match="str or bytes"):
            default.encode(invalid_text)  # type: ignore[arg-type]


@pytest.mark.parametrize("length", [510, 511, 512, 4095, 4096, 16383, 16384, 65536])
def test_texts_of_any_length_equal_their_bytes(default: Tokenizer, length: int) -> None:
    for end in ("a", "é", "世", "😀", "\ud83d", "\ud83d\ude00"):
        text = ("word " * length)[:length] + end
        expected = default.encode(text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode())
        assert default.encode(text) == expected
        assert default.encode_array(text).tolist() == expected
        assert default.encode_batch([text, "a", text]).to_list() == [expected, default.encode("a"), expected]
        assert default.count(text) == len(expected)


ALPHABETS = ("a", "aé", "é", "aé’世\uffff", "世", "a世😀", "😀", "a\ud83d", "é’\ud83d\ude00\udfff", "a😀\ud83d\udfff")
"""Alphabets of texts that Python stores as ASCII, Latin-1, UCS-2 and UCS-4, with and without surrogates."""


def repair(text: str) -> str:
    """Joins pairs of surrogates and replaces lone surrogates."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


@settings(deadline=None)
@given(st.sampled_from(ALPHABETS).flatmap(lambda alphabet: st.text(alphabet, max_size=200)))
def test_texts_of_every_kind_are_encoded_and_decoded(text: str) -> None:
    default = polytok.load("default")
    expected = repair(text)
    ids = default.encode(text)
    assert ids == default.encode(expected.encode())
    assert default.encode_batch([text, "a", text + "a"])[0].tolist() == ids
    decoded = default.decode(ids)
    assert decoded == expected and hash(decoded) == hash(expected)
    # Python compares two str only if both are stored in the smallest sufficient unit.
    assert sys.getsizeof(decoded) == sys.getsizeof(expected.encode().decode())


@pytest.mark.parametrize("filler", ["a", "é", "’", "世", "😀"])
def test_a_character_at_every_position_is_encoded_and_decoded(filler: str) -> None:
    tokenizer = Tokenizer(rank_spec())
    for length in (62, 63, 64, 65, 66, 97, 130):
        for end in ("b", "ÿ", "Ā", "\uffff", "\U00010000", "\U0010ffff", "\ud800", "\udfff"):
            for at in range(length):
                text = filler * at + end + filler * (length - at - 1)
                expected = repair(text)
                ids = tokenizer.encode(text)
                assert bytes(ids) == expected.encode()
                assert tokenizer.decode(ids) == expected


def test_a_subclass_of_str_is_its_text(default: Tokenizer) -> None:
    class Odd(str):
        def isascii(self) -> bool:
            raise RuntimeError

        def __len__(self) -> int:
            raise RuntimeError

        def encode(self, *_: object) -> bytes:
            raise RuntimeError

    for text in ("a", "é", "世", "😀", "a" * 600, "é" * 600, "a" * 5000, "é" * 5000, "\ud83d", "é" * 600 + "\udfff"):
        assert default.encode(Odd(text)) == default.encode(text)


def test_surrogates_are_replaced_as_in_tiktoken(default: Tokenizer) -> None:
    assert default.encode("a\ud83d\ude00b") == default.encode("a😀b")
    assert default.encode("\ud83d") == default.encode("\ufffd")
    assert default.encode_batch(["x\udfff"]).to_list() == [default.encode("x\ufffd")]


def test_spans_count_characters_and_bytes() -> None:
    tokenizer = Tokenizer(rank_spec(b"ab", "é".encode(), "世".encode()[:2]))
    spans = [token[2:] for token in tokenizer.tokens("abé世😀")]
    # The third entry is two bytes of one character; the character span of a token within a character is the whole
    # character.
    assert spans[:4] == [(0, 2, 0, 2), (2, 3, 2, 4), (3, 4, 4, 6), (3, 4, 6, 7)]
    assert [span[:2] for span in spans[4:]] == [(4, 5)] * 4


@settings(deadline=None)
@given(st.text(alphabet="ab é世😀\n<|endoftext|>", max_size=60))
def test_spans_are_the_columns_of_tokens(text: str) -> None:
    tokenizer = polytok.load("default")
    tokens, spans = tokenizer.tokens(text, special="all"), tokenizer.spans(text, special="all")
    assert [column.tolist() for column in spans] == [
        [token[field] for token in tokens] for field in range(6) if field != 1
    ]
    assert spans.ids.dtype == tokenizer.encode_array(text).dtype
    assert b"".join(token.piece for token in tokens).decode() == text


# Special tokens


def test_special_tokens_are_text_unless_allowed() -> None:
    tokenizer = Tokenizer(rank_spec(special={"<a>": 300, "<ab>": 301}))
    text = "x<a>y<ab>"
    byte_ids = list(text.encode())
    assert tokenizer.encode(text) == byte_ids
    assert tokenizer.encode(text, special="all") == [*b"x", 300, *b"y", 301]
    assert tokenizer.encode(text, special={"<a>"}) == [*b"x", 300, *b"y<ab>"]
    assert tokenizer.encode(text, special=["<ab>"]) == [*b"x<a>y", 301]
    assert tokenizer.special_tokens == {"<a>": 300, "<ab>": 301}
    assert tokenizer.decode([300, 120, 301]) == "<a>x<ab>"
    assert tokenizer.decode([300, 120, 301], skip_special=True) == "x"
    assert tokenizer.id_to_piece(301) == b"<ab>"
    assert tokenizer.piece_to_id("<a>") == 300


def test_the_longest_special_token_at_a_position_is_found() -> None:
    tokenizer = Tokenizer(rank_spec(special={"<a>": 300, "<a><b>": 301}))
    assert tokenizer.encode("<a><b>", special="all") == [301]
    assert tokenizer.encode("<a><b>", special={"<a>"}) == [300, *b"<b>"]


def test_rejecting_names_the_token_and_its_position() -> None:
    tokenizer = Tokenizer(rank_spec(special={"<a>": 300, "<b>": 301}))
    with pytest.raises(polytok.SpecialTokenError, match=r"'<b>'|\"<b>\".*at byte 4"):
        tokenizer.encode("<a>x<b>", special={"<a>"}, reject_special=True)
    assert tokenizer.encode("<a>x", special={"<a>"}, reject_special=True) == [300, 120]
    for call in (tokenizer.count, tokenizer.tokens, tokenizer.encode_array):
        with pytest.raises(polytok.SpecialTokenError):
            call("<b>", reject_special=True)
    with pytest.raises(polytok.SpecialTokenError):
        tokenizer.encode_batch(["fine", "<b>"], reject_special=True)


def test_an_unknown_special_token_is_an_error(default: Tokenizer) -> None:
    with pytest.raises(polytok.SpecialTokenError, match="is not a special token"):
        default.encode("x", special={"<nope>"})
    with pytest.raises(polytok.ArgumentError, match="is not"):
        default.encode("x", special="<|endoftext|>")


def test_add_special_adds_the_template() -> None:
    tokenizer = Tokenizer(sentencepiece_spec())
    assert tokenizer.encode("ab", add_special=True) == [tokenizer.bos_id, *tokenizer.encode("ab")]
    assert tokenizer.encode("", add_special=True) == [tokenizer.bos_id]
    assert tokenizer.tokens("ab", add_special=True)[0] == (1, b"<s>", 0, 0, 0, 0)


# The object


def test_vocabulary(default: Tokenizer) -> None:
    assert default.vocab_size == len(default) == 32_768
    for id in range(0, 32_768, 997):
        assert default.piece_to_id(default.id_to_piece(id)) == id
    with pytest.raises(polytok.PieceError, match="is not a piece"):
        default.piece_to_id("no such piece at all")
    assert default.eos_id == default.special_tokens["<|endoftext|>"]
    assert default.bos_id is default.unk_id is default.pad_id is None
    assert "default" in repr(default)


def test_pickle(default: Tokenizer, unigram: Tokenizer) -> None:
    for tokenizer in (default, unigram):
        unpickled_tokenizer = pickle.loads(pickle.dumps(tokenizer))
        assert unpickled_tokenizer.spec == tokenizer.spec
        assert unpickled_tokenizer.encode(TEXT) == tokenizer.encode(TEXT)


def test_many_threads(default: Tokenizer) -> None:
    texts = [TEXT * n for n in range(1, 60)]
    expected = [default.encode(text) for text in texts]
    wrong_threads: list[int] = []

    def work(shift: int) -> None:
        for i in range(len(texts)):
            at = (i + shift) % len(texts)
            if default.encode(texts[at]) != expected[at] or default.decode(expected[at]) != texts[at]:
                wrong_threads.append(at)

    threads = [threading.Thread(target=work, args=(7 * n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong_threads


FORK = """
import os, sys, threading, polytok
tokenizer = polytok.load("default")
text = "some text " * 1000
ids = tokenizer.encode(text)
stop = False
def work():
    while not stop:
        tokenizer.encode_batch([text] * 8, threads=2)
threads = [threading.Thread(target=work) for _ in range(3)]
for thread in threads: thread.start()
codes = []
for _ in range(20):
    pid = os.fork()
    if pid == 0:
        good = tokenizer.encode(text) == ids and tokenizer.encode_batch([text] * 9, threads=2).to_list() == [ids] * 9
        os._exit(0 if good and tokenizer.piece_to_id(" some") else 1)
    codes.append(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
stop = True
for thread in threads: thread.join()
sys.exit(any(codes))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_after_a_fork_in_the_middle_of_encoding() -> None:
    subprocess.run([sys.executable, "-W", "ignore", "-c", FORK], check=True, timeout=120)


FORK_DURING_IMPORT = """
import os, sys, threading, time, polytok
sys.setswitchinterval(1e-6)
tokenizer = polytok.load("default")
threads = [threading.Thread(target=tokenizer.encode_array, args=("some text",)) for _ in range(4)]
for thread in threads: thread.start()
time.sleep(float(sys.argv[1]))
pid = os.fork()
if pid == 0:
    os._exit(0 if len(tokenizer.encode_array("some text")) else 1)
code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
for thread in threads: thread.join()
sys.exit(code)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.parametrize("delay", [0, 0.01, 0.03, 0.06])
def test_a_fork_while_numpy_is_imported(delay: float) -> None:
    command = [sys.executable, "-W", "ignore", "-c", FORK_DURING_IMPORT, str(delay)]
    subprocess.run(command, check=True, timeout=60)


def test_the_gil_is_released(default: Tokenizer) -> None:
    text = TEXT * 40_000
    ticks = 0
    finish_event = threading.Event()
    worker = threading.Thread(target=lambda: (default.count(text), finish_event.set()))
    worker.start()
    while not finish_event.is_set():
        ticks += 1
    worker.join()
    assert ticks > 100  # if the GIL were held, this thread would run only a few times


# Files


def test_sources(tmp_path: Path, default: Tokenizer) -> None:
    path = tmp_path / "small.model"
    assert Tokenizer(sentencepiece_spec()).save(path, to="sentencepiece") == ()
    expected = polytok.load(path).encode("ab é")
    for source in (str(path), path.read_bytes(), io.BytesIO(path.read_bytes())):
        assert polytok.load(source).encode("ab é") == expected
    with pytest.raises(TypeError, match="binary mode"):
        polytok.load(io.StringIO("text"))  # type: ignore[arg-type]
    with pytest.raises(polytok.FileError, match="cannot read") as error:
        polytok.load(tmp_path / "missing.model")
    assert isinstance(error.value, OSError)
    assert error.value.filename == str(tmp_path / "missing.model")
    with pytest.raises(polytok.FormatError, match="no tokenizer file of a known name"):
        polytok.load(tmp_path)
    with pytest.raises(polytok.FormatError, match="no format recognizes"):
        polytok.load(b"\x00\x01 nothing")


def test_functions_load_their_tokenizer(tmp_path: Path) -> None:
    path = tmp_path / "longest.ptok"
    Tokenizer(longest_spec()).save(path)
    for tokenizer in (polytok.load(path), path, str(path), path.read_bytes(), io.BytesIO(path.read_bytes())):
        assert polytok.edit(tokenizer, add=["wxyz"]).added[0].piece == b"wxyz"
    assert polytok.count_ids(path, ["ab"]).sum() == polytok.load(path).count("ab")
    assert polytok.doctor.examine(path, against=str(path)).compared
    assert polytok.convert.convert("default", "huggingface", path=f"{tmp_path}/tokenizer.json").keeps_everything
    assert polytok.divergence.Comparison(path, path).divergence_in("ab") is None
    assert len(polytok.editing.least_used(path, ["ab"], 1)) == 1
    with pytest.raises(TypeError, match="against=5 is neither a polytok.Tokenizer nor a path or name to load"):
        polytok.doctor.examine(path, against=5)  # type: ignore[arg-type]
    with pytest.raises(polytok.FileError, match="cannot read"):
        polytok.count_ids(tmp_path / "missing.json", ["a"])


def test_saving_reports_losses_and_leaves_no_temporary_files(tmp_path: Path) -> None:
    tokenizer = Tokenizer(rank_spec(b"ab", special={"<a>": 300}))
    target = tmp_path / "ranks.tiktoken"
    losses = tokenizer.save(target, to="tiktoken")
    assert any(loss.startswith("special") for loss in losses)
    old_content = target.read_bytes()
    with pytest.raises(polytok.LossError):
        tokenizer.save(target, to="tiktoken", strict=True)
    assert target.read_bytes() == old_content
    with pytest.raises(polytok.FileError, match="cannot create the folder"):
        tokenizer.save(target / "folder" / "file", to="tiktoken")
    assert [path.name for path in tmp_path.iterdir()] == ["ranks.tiktoken"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes here")
@pytest.mark.skipif(os.name != "posix", reason="permissions are POSIX's")
@pytest.mark.parametrize("mode", [0o600, 0o640, 0o666, 0o400])
def test_a_file_that_is_replaced_keeps_its_permissions(tmp_path: Path, default: Tokenizer, mode: int) -> None:
    target, link = tmp_path / "a.ptok", tmp_path / "link.ptok"
    target.write_bytes(b"old")
    target.chmod(mode)
    link.symlink_to(target)
    for path in (target, link):
        default.save(path)
        assert target.stat().st_mode & 0o777 == mode
    target.chmod(0o600)
    assert polytok.load(target).fingerprint == default.fingerprint


@pytest.mark.parametrize("name", ["a" * 5000, "a" * 300, "\0", "a\0.ptok", "\ud800"])
def test_an_impossible_path(tmp_path: Path, default: Tokenizer, name: str) -> None:
    for path in (name, str(tmp_path / name), tmp_path / name):
        with pytest.raises(polytok.FileError, match="cannot read the tokenizer file: "):
            polytok.load(path)
    with pytest.raises(polytok.FileError, match="cannot write: "):
        default.save(tmp_path / name, "ptok")
    with pytest.raises(polytok.FileError, match="cannot use the folder of the cache: "):
        polytok.load("cl100k_base", cache_dir=tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_a_pipe_is_read_once(tmp_path: Path) -> None:
    ranks, pipe = tmp_path / "ranks.tiktoken", tmp_path / "pipe"
    tokenizer = Tokenizer(rank_spec())
    tokenizer.save(ranks)
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=(ranks.read_bytes(),))
    writer.start()
    loaded_tokenizer = polytok.load(pipe, pattern="", special_tokens={})
    writer.join()
    assert loaded_tokenizer.encode("abc") == tokenizer.encode("abc")


def test_an_inconsistent_spec() -> None:
    spec = rank_spec()
    inconsistent_specs: dict[str, Callable[[], Spec]] = {
        "needs an entry of kind UNKNOWN": lambda: replace(spec, unknown="unk", split=()),
        'cannot have unknown="unk"': lambda: replace(spec, unknown="unk"),
        "cannot have split steps": lambda: replace(spec, model=Word()),
        'matching="first" is none of': lambda: replace(spec, matching="first"),
        "post: the template has the id 300": lambda: replace(spec, post=Template.around(before=(300,))),
        "merge 0 makes id 99": lambda: replace(
            spec, model=Bpe("merges", merges=np.array([[97, 98, 99]], dtype=np.uint32))
        ),
        "two entries have the id": lambda: replace(spec, vocab=replace(spec.vocab, ids=np.zeros(256, np.uint32))),
        "different lengths": lambda: replace(spec, vocab=replace(spec.vocab, ids=np.zeros(3, np.uint32))),
        "kind 9": lambda: replace(spec, vocab=replace(spec.vocab, kinds=np.full(256, 9, np.uint8))),
        "merge 0 names id 999": lambda: replace(
            spec, model=Bpe("merges", merges=np.array([[1, 999, 2]], dtype=np.uint32))
        ),
        "(unclosed": lambda: replace(spec, split=(PatternSplit("(unclosed"),)),
    }
    for message, make in inconsistent_specs.items():
        with pytest.raises(polytok.SpecError) as error:
            Tokenizer(make())
        assert message in str(error.value)


def test_whole_pieces_are_looked_up_first_without_a_split_too() -> None:
    spec = replace(rank_spec(b"\xff\xfe\xfd", "世界世".encode()), split=())
    assert Tokenizer(spec).encode(b"\xff\xfe\xfd") == [256]
    assert Tokenizer(spec).encode("世界世") == [257]


def test_reserved_entries_are_never_encoded() -> None:
    rows = [(bytes([byte]), byte, 0.0, Kind.NORMAL) for byte in range(256)] + [(b"ZZ", 256, 0.0, Kind.CONTROL)]
    for model in (Longest(), Bpe("rank")):
        tokenizer = Tokenizer(Spec(vocab=Vocab.from_rows(rows), model=model))
        assert tokenizer.encode("ZZ") == [*b"ZZ"]
        assert tokenizer.encode("ZZ", special="all") == [256]


def test_special_tokens_that_are_not_text_are_separate() -> None:
    rows = [(bytes([byte]), byte, 0.0, Kind.NORMAL) for byte in range(128)]
    rows += [(b"\xff", 128, 0.0, Kind.CONTROL), (b"\xfe", 129, 0.0, Kind.CONTROL)]
    tokenizer = Tokenizer(Spec(vocab=Vocab.from_rows(rows), model=Longest()))
    assert len(tokenizer.special_tokens) == 2
    assert tokenizer.encode(b"a\xff\xfe", special="all") == [97, 128, 129]


def test_an_empty_vocabulary() -> None:
    tokenizer = Tokenizer(Spec(vocab=Vocab.from_rows([]), model=Longest()))
    assert tokenizer.vocab_size == 0
    assert tokenizer.encode("") == []
    with pytest.raises(polytok.EncodeError):
        tokenizer.encode("a")


def test_default_refuses_options() -> None:
    with pytest.raises(polytok.ArgumentError, match="accepts no options"):
        polytok.load("default", pattern="gpt2")


def test_bytes_without_an_entry_are_named() -> None:
    spec = rank_spec()
    keep = [row for row in range(256) if row != ord("q")]
    vocab = Vocab.from_rows([(bytes([row]), row, 0.0, Kind.NORMAL) for row in keep])
    with pytest.raises(polytok.EncodeError, match="no entry for the byte 0x71 at byte 2"):
        Tokenizer(replace(spec, vocab=vocab)).encode("abq")
