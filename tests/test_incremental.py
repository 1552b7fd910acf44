"""Texts that arrive in chunks or change have the ids of the whole text."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

import polytok
from format_samples import real
from incremental_samples import SMALL, corpus_lines, difficult_texts
from polytok import Options
from published import every_file

OPTIONS = [Options(), Options(add_special=True), Options(special="all", add_special=True)]


def encode(tokenizer: polytok.Tokenizer, text: str | bytes, options: Options) -> list[int] | None:
    try:
        return tokenizer.encode(text, options=options)
    except polytok.EncodeError:
        return None


def random_chunks(rng: Random, text: bytes) -> list[bytes]:
    """Returns the chunks of a text, which can end inside characters."""
    ends = sorted(rng.randrange(len(text) + 1) for _ in range(rng.choice([0, 1, 2, 5, len(text)])))
    return [text[start:end] for start, end in zip([0, *ends], [*ends, len(text)], strict=True)]


def check_chunks(tokenizer: polytok.Tokenizer, texts: list[bytes], rng: Random) -> None:
    for text in texts:
        options = rng.choice(OPTIONS)
        if (ids := encode(tokenizer, text, options)) is not None:
            encoder = tokenizer.encoder(options=options)
            chunks = random_chunks(rng, text)
            pushed = [id for chunk in chunks for id in encoder.push(chunk)]
            assert pushed + encoder.finish() == ids, chunks


def check_changes(tokenizer: polytok.Tokenizer, texts: list[bytes], rng: Random) -> None:
    """Applies random changes to a text, and compares the ids with those of the whole text."""
    options = rng.choice(OPTIONS)
    current, incremental = "", tokenizer.incremental(options=options)
    for part in texts:
        text, kind = part.decode(), rng.choice(["append", "append", "append", "truncate", "set", "start", "copy"])
        at = rng.randrange(len(current) + 1)
        new = {"append": current + text, "truncate": current[:at], "set": current[:at] + text + current[at + 2 :]}
        new |= {"start": text * (len(current) > 3000), "copy": current}
        if encode(tokenizer, new[kind], options) is None:
            continue
        before = incremental.ids
        if kind == "copy":
            other = incremental.copy()
            other.append("other text")
            continue
        if kind == "append":
            change = incremental.append(text)
        elif kind == "truncate":
            change = incremental.truncate(at)
        else:
            change = incremental.set_text(new[kind])
        current = new[kind]
        assert incremental.text == current
        assert incremental.ids == before[: change.kept] + change.ids == tokenizer.encode(current, options=options)


@pytest.mark.parametrize("name", SMALL)
def test_small_tokenizers(name: str) -> None:
    tokenizer, rng = polytok.Tokenizer(SMALL[name]()), Random(5)
    texts = list(difficult_texts(tokenizer._core, 400))
    check_chunks(tokenizer, texts, rng)
    check_changes(tokenizer, texts, rng)


@every_file
def test_real_tokenizers(path: Path) -> None:
    tokenizer, rng = polytok.load(path), Random(5)
    texts = list(difficult_texts(tokenizer._core, 150))
    check_chunks(tokenizer, texts, rng)
    check_changes(tokenizer, texts, rng)


@given(st.lists(st.text(st.characters(), max_size=12) | st.sampled_from([" a", "\ud83d", "\ude00", "x \ud83d"])))
def test_chunks_can_end_between_surrogates(chunks: list[str]) -> None:
    tokenizer = polytok.load("default")
    ids = tokenizer.encode("".join(chunks))
    encoder = tokenizer.encoder()
    assert [*(id for chunk in chunks for id in encoder.push(chunk)), *encoder.finish()] == ids
    text = tokenizer.incremental()
    for chunk in chunks:
        text.append(chunk)
    assert text.ids == ids


@given(st.binary(max_size=40), st.integers(0, 40))
def test_chunks_can_be_invalid(data: bytes, at: int) -> None:
    tokenizer = polytok.load("default")
    encoder = tokenizer.encoder()
    data = b"some text " + data
    assert encoder.push(data[:at]) + encoder.push(data[at:]) + encoder.finish() == tokenizer.encode(data)
    text = tokenizer.incremental(data[:at])
    text.append(data[at:])
    assert text.ids == tokenizer.encode(data)


@given(
    st.lists(st.binary(max_size=8) | st.sampled_from([b"\xf4\x90", b"\xed\xa0\xbd", "世".encode()]), max_size=6),
    st.data(),
)
def test_truncate_counts_the_characters_of_text(chunks: list[bytes], data: st.DataObject) -> None:
    tokenizer = polytok.load("default")
    text = tokenizer.incremental()
    for chunk in chunks:
        text.append(chunk)
    before, ids, count = text.text, text.ids, data.draw(st.integers(0, len(text.text) + 1))
    change = text.copy().truncate(count)
    assert change == text.truncate(count)
    assert text.text == before[:count]
    assert text.ids == ids[: change.kept] + change.ids
    whole = b"".join(chunks)
    kept_bytes = max(n for n in range(len(whole) + 1) if len(whole[:n].decode(errors="replace")) <= count)
    assert text.ids == tokenizer.encode(whole[:kept_bytes])


def test_ids_are_returned_as_soon_as_a_cut_is_known() -> None:
    tokenizer = polytok.load("default")
    encoder = tokenizer.encoder()
    assert encoder.push("some") == []
    assert encoder.push(" text ") == tokenizer.encode("some")
    assert encoder.pending_bytes == len(" text ")
    assert encoder.push("\ud83d") == tokenizer.encode(" text")[:0]
    assert encoder.finish() == tokenizer.encode(" text \ufffd")
    assert encoder.push("a" * 1000) == []
    assert encoder.finish() == tokenizer.encode("a" * 1000)


def test_a_failed_change_changes_nothing() -> None:
    tokenizer = polytok.load("default")
    text = tokenizer.incremental("one two three", reject_special=True)
    before = text.ids
    with pytest.raises(polytok.SpecialTokenError):
        text.append(" four <|endoftext|> five six")
    assert (text.ids, text.text) == (before, "one two three")
    text.append(" four")
    assert text.ids == tokenizer.encode("one two three four")


def test_long_texts_are_kept_in_chunks() -> None:
    tokenizer = polytok.load("default")
    whole = "".join(f"Sentence number {number} of a long text. " for number in range(2000))
    text = tokenizer.incremental(whole)
    assert text.ids == tokenizer.encode(whole)
    for end in (70_000, 30_001, 4096, 5, 0):
        before = text.ids
        change = text.truncate(end)
        assert text.ids == before[: change.kept] + change.ids == tokenizer.encode(whole[:end])
    change = text.set_text(whole)
    assert change == (0, tokenizer.encode(whole))
    change = text.append(" The end.")
    assert change.kept >= len(before) - 3 and len(change.ids) < 10


def test_the_stable_prefix_is_not_changed_by_any_text() -> None:
    tokenizer = polytok.load("default")
    rng = Random(2)
    texts = list(difficult_texts(tokenizer._core, 100))
    for text in texts:
        ids = tokenizer.encode(text, special="all")
        count = tokenizer.stable_prefix(ids)
        for end in rng.choices(texts, k=5):
            assert tokenizer.encode(text + end, special="all")[:count] == ids[:count]
    assert tokenizer.stable_prefix([]) == 0
    ids = tokenizer.encode("one two three")
    assert tokenizer.stable_prefix([*tokenizer.encode("on"), *tokenizer.encode("e two"), *ids]) == 0


@pytest.mark.parametrize("version", ["0.2.1", "0.2.3"])
def test_unigram_keeps_the_sum_of_scores_at_each_cut(version: Literal["0.2.1", "0.2.3"]) -> None:
    data = real("sentencepiece/nai-t5.model")
    tokenizer, rng = polytok.load(data, sentencepiece_version=version), Random(3)
    text = b" ".join(corpus_lines(3000))
    encoder, ids = tokenizer.encoder(), list[int]()
    for start in range(0, len(text), size := rng.choice([10, 333, 5000])):
        chunk = text[start : start + size]
        ids += encoder.push(chunk)
    assert ids + encoder.finish() == tokenizer.encode(text)
    assert tokenizer.incremental(text).ids == tokenizer.encode(text)
