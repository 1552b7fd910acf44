"""Tests fits, truncate and chunk of texts in parts against their definitions, which try every length."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path
from typing import Any, SupportsIndex

import pytest

import polytok
from incremental_samples import SMALL, difficult_parts
from polytok import ArgumentError, Options, Parts, Tokenizer
from polytok.cutting import chunks, counts, engine
from polytok.reference import cutting
from polytok.spec import Lowercase
from published import every_kind_of_file
from tokenizer_samples import rank_spec

OPTIONS = [Options(), Options(add_special=True)]
PLACES = ["token", "word", "line", "sentence"]
DEFAULT = polytok.load("default")
END = "<|endoftext|>"


class PartsText(str):
    """The text of parts, of which every slice is one too, for the definitions."""

    parts: Parts

    def __new__(cls, parts: Parts) -> PartsText:
        text = super().__new__(cls, parts.text)
        text.parts = parts
        return text

    def __getitem__(self, characters: SupportsIndex | slice) -> str:
        if isinstance(characters, slice):
            return PartsText(self.parts[characters])
        return super().__getitem__(characters)


@pytest.fixture(params=[False, True], ids=["usual blocks", "small blocks"])
def blocks(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sets the sizes of blocks, so that even short texts have several."""
    if request.param:
        sizes = {"FIRST_BLOCK": 8, "_MAX_BLOCK": 16, "_FIRST_REACH": 2, "_ANCHOR_DISTANCE": 3}
        for name, size in sizes.items():
            monkeypatch.setattr(counts, name, size)
        monkeypatch.setattr(chunks, "FIRST_BLOCK", 8)
        monkeypatch.setattr(chunks, "_LEAST_BLOCK", 8)
        monkeypatch.setattr(engine, "_BLOCK", 6)


def check(tokenizer: Tokenizer, parts: Parts, options: Options, rng: random.Random) -> None:
    """Compares the methods with the definitions, for one text and some limits."""

    def tokens(part: str) -> list[tuple[int, int]]:
        assert isinstance(part, PartsText)
        if part.parts not in spans:
            columns = tokenizer.spans(part.parts, options=options._replace(add_special=False))
            spans[part.parts] = list(zip(columns.starts.tolist(), columns.ends.tolist(), strict=True))
        return spans[part.parts]

    spans: dict[Parts, list[tuple[int, int]]] = {}
    text = PartsText(parts)
    try:
        added = tokenizer.count(parts, options=options) - len(tokens(text))
    except polytok.EncodeError:
        return
    total = len(tokens(text))
    for limit in {0, 1, 2, rng.randrange(total + 2), max(total - 1, 0), total}:
        assert tokenizer.fits(parts, limit + added, options=options) is (total <= limit)
        for direction in ("right", "left"):
            expected = cutting.truncate(text, limit, tokens, direction)
            assert isinstance(expected, PartsText)
            cut_parts: Any = tokenizer.truncate(parts, limit + added, direction=direction, options=options)
            assert cut_parts == expected.parts, (parts, limit, direction, options)
    limit, at = rng.randrange(1, total + 2), rng.choice(PLACES)
    overlap = rng.choice([0, rng.randrange(limit)])
    expected_chunks = cutting.chunk(text, limit, tokens, overlap=overlap, at=at)
    keywords: dict[str, Any] = {"overlap": overlap, "at": at, "options": options}
    if expected_chunks is None:
        with pytest.raises(ArgumentError, match="alone has"):
            tokenizer.chunk(parts, limit + added, **keywords)
    else:
        array = tokenizer.chunk(parts, limit + added, **keywords)
        assert list(map(tuple, array.tolist())) == expected_chunks, (parts, limit, keywords)


@pytest.mark.usefixtures("blocks")
@pytest.mark.parametrize("name", SMALL)
def test_small_vocabularies(name: str) -> None:
    tokenizer, rng = Tokenizer(SMALL[name]()), random.Random(3)
    for parts in difficult_parts(tokenizer, 60):
        check(tokenizer, parts[: rng.randrange(30)], rng.choice(OPTIONS), rng)


@pytest.mark.usefixtures("blocks")
@every_kind_of_file
def test_real_vocabularies(path: Path) -> None:
    tokenizer, rng = polytok.load(path), random.Random(4)
    for parts in difficult_parts(tokenizer, 12):
        check(tokenizer, parts[: rng.randrange(60)], rng.choice(OPTIONS), rng)


@pytest.mark.usefixtures("blocks")
def test_trusted_starts_and_ends_are_encoded_by_themselves() -> None:
    """The model forms a special token of `<X>`, but not beside text that is not trusted."""
    spec = rank_spec(b"<x>", b"<x", b" a", special={"<x>": 256})
    tokenizer, rng = Tokenizer(replace(spec, normalize=(Lowercase(),))), random.Random(5)
    assert tokenizer.encode(Parts([("<X>", True)])) != tokenizer.encode(Parts([("<X>", True), ("a", False)]))[:1]
    for _ in range(150):
        pieces = [
            (rng.choice(["<X>", "<x>", "<x", ">", " a", "b"]), rng.random() < 0.7) for _ in range(rng.randrange(9))
        ]
        check(tokenizer, Parts(pieces), OPTIONS[0], rng)


def test_a_batch_keeps_the_type_of_each_text() -> None:
    parts = Parts([("one ", True), (END, False), (END, True)])
    texts: list[Any] = [parts, END, END.encode(), Parts([("a\ud83e", True), ("\udd9cb", False)])]
    assert DEFAULT.truncate_batch(texts, 1) == [parts[:3], "<", b"<", Parts([("a", True)])]
    assert DEFAULT.truncate_batch(texts, 90)[0] == parts
    assert DEFAULT.truncate(texts[3], 90) == Parts([("a", True), ("\U0001f99c", False), ("b", False)])


def test_a_long_conversation_is_truncated_fast() -> None:
    turns = [(f"{END}User:", True), (" some words that a user wrote, and more of them.\n", False)] * 5_000
    parts = Parts(turns)
    cut = DEFAULT.truncate(parts, 1_000)
    assert DEFAULT.count(cut) <= 1_000 < DEFAULT.count(parts[: len(cut.text) + 20])
    assert DEFAULT.count(DEFAULT.truncate(parts, 1_000, direction="left")) <= 1_000
    assert not DEFAULT.fits(parts, 1_000)
