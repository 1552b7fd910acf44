"""Tests counts of words: they are the same for any number of threads, any memory limit, and when added up."""

from __future__ import annotations

import io
import random
from collections import Counter
from pathlib import Path

import pytest
import regex

import polytok
from polytok import ArgumentError, Counts, FileError, FormatError, _core
from polytok.spec import ByteLevel, Lowercase, PatternSplit

GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
_PARTS = ["the ", "a", "b1", " 12", "\n\n", "  ", "é", "漢字", "!", "'ll", "<|end|>", "\x00"]


def texts(seed: int, count: int = 40, longest: int = 2000) -> list[bytes]:
    rng = random.Random(seed)
    return ["".join(rng.choices(_PARTS, k=rng.randrange(longest))).encode() for _ in range(count)]


def count_plainly(documents: list[bytes], special: str | None = None) -> dict[bytes, int]:
    """Counts the words with the reference's regular expressions, in the order of their first occurrence."""
    count_documents: Counter[bytes] = Counter()
    for document in documents:
        for part in document.decode().split(special) if special else [document.decode()]:
            count_documents.update(word.encode() for word in regex.findall(GPT2, part))
    return dict(count_documents)


def count_documents(documents: list[bytes], **options: object) -> dict[bytes, int]:
    counts = Counts(split=GPT2, **options)  # type: ignore[arg-type]
    counts.push(documents)
    return dict(counts.words().to_list())


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_words_and_their_order_equal_those_of_the_reference(threads: int) -> None:
    documents = texts(1)
    assert list(count_documents(documents, threads=threads).items()) == list(count_plainly(documents).items())
    special = count_documents(documents, threads=threads, special_tokens=["<|end|>"])
    assert list(special.items()) == list(count_plainly(documents, "<|end|>").items())


def test_orders() -> None:
    counts = Counts(split=GPT2)
    counts.push(texts(2))
    words = dict(counts.words().to_list())
    assert counts.words("bytes").to_list() == sorted(words.items())
    assert counts.words("most_frequent").to_list() == sorted(words.items(), key=lambda item: (-item[1], item[0]))


def test_steps_of_a_spec() -> None:
    counts = Counts(split=[PatternSplit(r"\w+"), ByteLevel()], normalize=[Lowercase()])
    counts.push(["É a A".encode()])
    assert counts.words().to_list() == [("Ã©".encode(), 1), (b"a", 2)]
    text_counts = Counts()
    text_counts.push([b"a text", b"", b"a text", b"\xff"])
    assert text_counts.words().to_list() == [(b"a text", 2), (b"\xff", 1)]


def test_a_memory_limit_does_not_change_counts() -> None:
    rng = random.Random(3)
    documents = [" ".join(str(rng.randrange(10**12)) for _ in range(20_000)).encode() for _ in range(20)]
    unlimited = count_documents(documents)
    limited_counts = count_documents(documents, max_memory=1 << 20)
    assert list(limited_counts.items()) == list(unlimited.items())


def test_files_add_up(tmp_path: Path) -> None:
    documents = texts(4)
    for name, part in (("one", documents[:15]), ("two", documents[15:])):
        counts = Counts(split=GPT2, special_tokens=["<|end|>"])
        counts.push(part)
        counts.save(tmp_path / name)
    joined_counts = Counts.load(tmp_path / "one", tmp_path / "two")
    assert (joined_counts.split, joined_counts.special_tokens) == ((PatternSplit(GPT2),), (b"<|end|>",))
    assert joined_counts.words().to_list() == list(count_documents(documents, special_tokens=["<|end|>"]).items())
    reloaded_counts = Counts.load(tmp_path / "one")
    reloaded_counts.merge(Counts.load(tmp_path / "two"))
    assert reloaded_counts.words().to_list() == joined_counts.words().to_list()


def test_other_counts_do_not_add_up(tmp_path: Path) -> None:
    first_counts, other_counts = Counts(split=GPT2), Counts(split=GPT2, special_tokens=["<|end|>"])
    other_counts.save(tmp_path / "other")
    with pytest.raises(ArgumentError, match="different words"):
        first_counts.merge(other_counts)
    with pytest.raises(ArgumentError, match="other words"):
        first_counts.add_file(tmp_path / "other")


def test_damaged_files(tmp_path: Path) -> None:
    counts = Counts(split=r"\w+")
    counts.push([b"to be or not to be " * 3])
    path = tmp_path / "counts"
    counts.save(path)
    data = path.read_bytes()
    rng = random.Random(5)
    for _ in range(300):
        damaged_data = bytearray(data)
        damaged_data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
        path.write_bytes(bytes(damaged_data if rng.random() < 0.7 else data[: rng.randrange(len(data))]))
        with pytest.raises((FormatError, ArgumentError)):
            Counts.load(path)
    path.write_bytes(data + b"x")
    with pytest.raises(FormatError, match=r"counts: the counts file is damaged: bytes follow its end"):
        Counts.load(path)
    with pytest.raises(FileError, match="cannot read the counts"):
        Counts.load(tmp_path / "absent")


def test_counting_ends_when_words_are_read() -> None:
    counts = Counts()
    counts.words()
    with pytest.raises(ArgumentError, match="finished"):
        counts.push([b"a"])


def test_ctrl_c_is_noticed(tmp_path: Path) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    counts = Counts()
    counts.push([str(number).encode() for number in range(10_000)])
    with pytest.raises(KeyboardInterrupt):
        counts.save(tmp_path / "counts", progress=interrupt)
    assert not list(tmp_path.iterdir())


def test_count_words_without_texts() -> None:
    assert polytok.count_words([]).words().to_list() == []
    with pytest.raises(ArgumentError, match="less than 16M"):
        polytok.count_words([], max_memory="1M")


@pytest.mark.parametrize(
    ("kind", "counting", "training", "message"),
    [
        ("bpe", {}, {"special_tokens": ["<a>"]}, r"special_tokens is \[\] in the counts and \['<a>'\]"),
        ("bpe", {"pattern": "gpt2"}, {"pattern": "cl100k"}, "split is"),
        ("bpe", {"special_tokens": ["<a>"]}, {"special_tokens": ["<a>"], "trainer": "minbpe"}, "special_tokens"),
        ("bpe", {"trainer": "huggingface", "normalize": [Lowercase()]}, {"trainer": "huggingface"}, "normalize"),
        ("wordpiece", {}, {"lowercase": False}, "normalize is"),
        ("wordpiece", {}, {"strip_accents": False}, "normalize is"),
        ("wordpiece", {}, {"pattern": None}, "split is"),
        ("longest-match", {}, {"pattern": "gpt2"}, "split is"),
    ],
)
def test_counts_of_other_words_are_refused(
    tmp_path: Path, kind: str, counting: dict[str, object], training: dict[str, object], message: str
) -> None:
    documents = ["to be or not to be"] * 3
    sized = {"vocab_size": 258 if kind != "wordpiece" else 20}
    if kind == "longest-match":
        sized["min_count"] = 2
    counts = polytok.count_words(documents, kind, **counting)
    with pytest.raises(ArgumentError, match=f"other words .*{message}"):
        polytok.train(counts, kind, **{**sized, **training})
    counts.save(tmp_path / "counts")
    from_file = polytok.train(tmp_path / "counts", kind, **{**sized, **counting})
    assert from_file.spec == polytok.train(documents, kind, **{**sized, **counting}).spec


def test_counts_of_another_kind_are_refused() -> None:
    counts = polytok.count_words(["to be"], "wordpiece")
    for kind in ("bpe", "longest-match"):
        with pytest.raises(ArgumentError, match="normalize is"):
            polytok.train(counts, kind, vocab_size=257)


def counts_with_description(text: str) -> bytes:
    """Returns a file of counts with any description and no words."""
    counter = _core.TextCounter((), (), [], 1, None).finish()
    file = io.BytesIO()
    counter.write(text, file, None)
    return file.getvalue()


STEP = '{"normalize": [], "special_tokens": [], "split": [%s]}'


@pytest.mark.parametrize(
    "text",
    [
        "[" * 100_000,
        '{"normalize": ' + '{"$": "tuple", "items": [' * 400 + "]}" * 400 + "}",
        "no JSON",
        "7",
        '{"normalize": 7, "split": 7, "special_tokens": 7}',
        STEP % "7",
        STEP % "null",
        STEP % '{"$": "PatternSplit", "pattern": 7}',
        STEP % '{"$": "PatternSplit", "pattern": "("}',
        STEP % '{"$": "PatternSplit", "pattern": []}',
        STEP % '{"$": "Spec"}',
        STEP % '{"$": "array", "type": "<i8", "shape": [1], "at": "0000000000000000"}',
    ],
)
def test_hostile_descriptions(tmp_path: Path, text: str) -> None:
    path = tmp_path / "counts"
    path.write_bytes(counts_with_description(text))
    with pytest.raises(FormatError, match="counts: (the|invalid) description"):
        Counts.load(path)
    with pytest.raises((FormatError, ArgumentError), match="description|other words"):
        Counts().add_file(path)
