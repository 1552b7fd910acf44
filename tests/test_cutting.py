"""Tests fits, truncate and chunk against their definitions (polytok.reference.cutting), which try every length."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import polytok
from format_samples import SMALL, sentencepiece_spec
from parity.vocabularies import all_vocabularies
from polytok import ArgumentError, EncodeError, Options, SpecialTokenError, Tokenizer
from polytok.cutting import chunks, counts, engine, limits
from polytok.cutting.characters import characters, whole_character
from polytok.cutting.engine import Engine
from polytok.reference import cutting
from polytok.text_places import places
from published import every_kind
from reference_specs import DATA
from texts import VocabularyPieces, generate_texts

SMALL_TEXTS, SMALL_LENGTH = 40, 24
REAL_TEXTS, REAL_LENGTH = 10, 40
LONG_TEXTS, LONG_LENGTH = 2, 400
OPTIONS = [Options(), Options(add_special=True), Options(special="all")]
PLACES = ["token", "word", "line", "sentence"]
DEFAULT = polytok.load("default")


@pytest.fixture(params=[False, True], ids=["usual blocks", "small blocks"])
def blocks(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sets the sizes of blocks, so that even short texts have several."""
    if request.param:
        monkeypatch.setattr(counts, "FIRST_BLOCK", 8)
        monkeypatch.setattr(chunks, "FIRST_BLOCK", 8)
        monkeypatch.setattr(engine, "_BLOCK", 6)
        monkeypatch.setattr(chunks, "_LEAST_BLOCK", 8)
        monkeypatch.setattr(counts, "_MAX_BLOCK", 16)
        monkeypatch.setattr(counts, "_FIRST_REACH", 2)
        monkeypatch.setattr(counts, "_ANCHOR_DISTANCE", 3)
        monkeypatch.setattr(limits, "_FIRST_CHARACTERS", 4)
        monkeypatch.setattr(limits, "_CHARACTERS_PER_TOKEN", 1)
        monkeypatch.setattr(limits, "_GROWTH", 2)


def check(tokenizer: Tokenizer, text: str, options: Options, rng: random.Random) -> None:
    """Compares the methods with the definitions, for one text and some limits."""

    def tokens(part: str) -> list[tuple[int, int]]:
        if part not in spans:
            columns = tokenizer.spans(part, options=options._replace(add_special=False))
            spans[part] = list(zip(columns.starts.tolist(), columns.ends.tolist(), strict=True))
        return spans[part]

    spans: dict[str, list[tuple[int, int]]] = {}
    try:
        added = tokenizer.count(text, options=options) - len(tokens(text))
    except EncodeError:
        return
    total = len(tokens(text))
    for limit in {0, 1, 2, rng.randrange(total + 2), max(total - 1, 0), total}:
        assert tokenizer.fits(text, limit + added, options=options) is (total <= limit)
        for direction in ("right", "left"):
            expected = cutting.truncate(text, limit, tokens, direction)
            assert tokenizer.truncate(text, limit + added, direction=direction, options=options) == expected, (
                text,
                limit,
                direction,
                options,
            )
    limit, at = rng.randrange(1, total + 2), rng.choice(PLACES)
    overlap = rng.choice([0, rng.randrange(limit)])
    expected_chunks = cutting.chunk(text, limit, tokens, overlap=overlap, at=at)
    keywords: dict[str, Any] = {"overlap": overlap, "at": at, "options": options}
    if expected_chunks is None:
        with pytest.raises(ArgumentError, match="alone has"):
            tokenizer.chunk(text, limit + added, **keywords)
    else:
        array = tokenizer.chunk(text, limit + added, **keywords)
        assert list(map(tuple, array.tolist())) == expected_chunks, (text, limit, keywords)


def texts_of(pieces: VocabularyPieces, count: int, length: int) -> Iterator[str]:
    for text in generate_texts(count, count, pieces):
        yield text.decode()[:length]


@pytest.mark.usefixtures("blocks")
@pytest.mark.parametrize("name", SMALL)
def test_small_vocabularies(name: str) -> None:
    tokenizer = Tokenizer(SMALL[name]())
    pieces = [piece for piece in tokenizer.spec.vocab.pieces() if piece]
    pieces += [piece.replace("▁".encode(), b" ") for piece in pieces]
    words = VocabularyPieces(pieces, [text.encode() for text in tokenizer.special_tokens])
    rng = random.Random(3)
    for text in texts_of(words, SMALL_TEXTS, SMALL_LENGTH):
        for options in OPTIONS:
            check(tokenizer, text, options, rng)


@pytest.mark.usefixtures("blocks")
@every_kind
def test_real_vocabularies(name: str) -> None:
    vocabulary = all_vocabularies()[name]
    tokenizer, rng = vocabulary.load(), random.Random(4)
    for text in texts_of(vocabulary.pieces(), REAL_TEXTS, REAL_LENGTH):
        check(tokenizer, text, rng.choice(OPTIONS), rng)
    for text in corpus_texts(rng, LONG_TEXTS, LONG_LENGTH):
        check(tokenizer, text, OPTIONS[0], rng)


SPANS_ARE_NOT_COUNTS = [
    ("grok1", "\u3000rdoc<0x41>   <s>Kgré  \rfab empres S", Options(special="all")),
    ("xlnet_base_cased.json", "\x7f   \u200bCome field\u3000が\x0bBI highway", Options()),
]


@pytest.mark.parametrize(("name", "text", "options"), SPANS_ARE_NOT_COUNTS if DATA.is_dir() else [])
@pytest.mark.parametrize("size", [3, 5])
@pytest.mark.parametrize("reach", [1, 2])
def test_spans_at_a_cut_do_not_count(
    name: str, text: str, options: Options, size: int, reach: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes = {"FIRST_BLOCK": size, "_MAX_BLOCK": 4, "_FIRST_REACH": reach, "_ANCHOR_DISTANCE": 0}
    for module, values in ((counts, sizes), (limits, {"_FIRST_CHARACTERS": 1, "_CHARACTERS_PER_TOKEN": 0})):
        for key, value in values.items():
            monkeypatch.setattr(module, key, value)
    tokenizer = all_vocabularies()[name].load()
    places = range(len(text) + 1)
    for direction, parts in (("right", [text[:end] for end in places]), ("left", [text[start:] for start in places])):
        part_counts = [tokenizer.count(part, options=options) for part in parts]
        for limit in range(20):
            fitting = (part for part, count in zip(parts, part_counts, strict=True) if count <= limit)
            cut_text = tokenizer.truncate(text, limit, direction=direction, options=options)  # type: ignore[call-overload]
            assert cut_text == max(fitting, key=len)


def corpus_texts(rng: random.Random, count: int, length: int) -> Iterator[str]:
    """Yields texts from random places of the corpus."""
    files = sorted((DATA / "corpus").iterdir())
    for path in rng.choices(files, k=count):
        with path.open("rb") as file:
            file.seek(rng.randrange(max(path.stat().st_size - 4 * length, 1)))
            yield file.read(4 * length).decode(errors="ignore")[:length]


@pytest.mark.parametrize("size", [40, 400])
def test_a_long_run_without_a_cut_after_many_cuts(size: int, blocks: None) -> None:
    """The estimate of the next block was negative if the run had many more tokens than the limit."""
    run = "🦜" * 4 * size
    assert DEFAULT.truncate("one two " * 40 + run, 83) == "one two " * 40 + "🦜"
    assert DEFAULT.truncate(run + " two" * 40, 42, direction="left") == "🦜" + " two" * 40
    assert not DEFAULT.fits("one two " * 40 + run, 83)


# Texts that are not a whole ``str``


@pytest.mark.parametrize("text", [b"one \xff\xfe two", b"\xe3\x81a\x80\x80", "naïve 世界".encode(), b""])
def test_bytes_are_cut_between_characters(text: bytes) -> None:
    ends = {len(start.encode("utf-8", "surrogateescape")) for start in itertools.accumulate(["", *characters(text)])}
    for limit in range(DEFAULT.count(text) + 1):
        fitting = [end for end in ends if DEFAULT.count(text[:end]) <= limit]
        assert DEFAULT.truncate(text, limit) == text[: max(fitting)]
        fitting = [end for end in ends if DEFAULT.count(text[end:]) <= limit]
        assert DEFAULT.truncate(text, limit, direction="left") == text[min(fitting) :]
    chunks = DEFAULT.chunk(text, 6)
    assert b"".join(text[start:end] for start, end in chunks.tolist()) == text
    assert set(chunks.ravel().tolist()) <= ends


def test_surrogates_are_repaired() -> None:
    assert DEFAULT.truncate("a\ud83e\udd9cb", 3) == "a🦜"
    assert DEFAULT.truncate("a\ud83e", 9) == "a\ufffd"
    assert DEFAULT.truncate_batch(["a\ud83e\udd9c"], 9) == ["a🦜"]
    assert DEFAULT.chunk("a\ud83e\udd9cb", 2).tolist() == [[0, 1], [1, 2], [2, 3]]
    assert DEFAULT.fits("\ud83e\udd9c", 2) and not DEFAULT.fits("\ud83e\udd9c", 1)


@pytest.mark.parametrize("shift", range(4))
def test_a_long_text_is_read_in_parts_between_characters(shift: int) -> None:
    pairs = "b" * shift + "\ud83e\udd9c a" * 3000 + "b" * shift
    text = pairs.encode("utf-16", "surrogatepass").decode("utf-16")
    for direction in ("right", "left"):
        expected = DEFAULT.truncate(text[:60] if direction == "right" else text[-60:], 9, direction=direction)  # type: ignore[call-overload]
        assert DEFAULT.truncate(pairs, 9, direction=direction) == expected  # type: ignore[call-overload]
        assert DEFAULT.truncate(text.encode(), 9, direction=direction).decode() == expected  # type: ignore[call-overload]
    assert [whole_character("é🦜".encode(), position) for position in range(7)] == [0, 0, 2, 2, 2, 2, 6]


def test_only_the_start_of_a_long_text_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    lengths: list[int] = []

    def counted(method: str) -> None:
        original = getattr(Engine, method)

        def call(self: Engine, text: str, *arguments: int) -> object:
            lengths.append(len(text))
            return original(self, text, *arguments)

        monkeypatch.setattr(Engine, method, call)

    for method in ("count", "count_text", "spans", "last_cut", "last_left_cut"):
        counted(method)
    text = "to be or not to be, " * 500_000
    assert not DEFAULT.fits(text, 100)
    assert len(DEFAULT.truncate(text, 100)) < 1000 > len(DEFAULT.truncate(text, 100, direction="left"))
    assert max(lengths) < 5000 and sum(lengths) < 100_000


# Chunks


@pytest.mark.parametrize("at", PLACES)
def test_chunks_cover_a_text(at: Any) -> None:
    text = "One sentence. Two! “Three?” 四。五！ six.\n\nSeven\tis a line\r\nof   words, e.g. this one.  " * 20
    for limit, overlap in ((3, 0), (8, 3), (20, 0), (20, 19), (64, 16)):
        chunks = DEFAULT.chunk(text, limit, overlap=overlap, at=at)
        assert chunks.dtype == np.int64
        starts, ends = chunks.T.tolist()
        assert starts[0] == 0 and ends[-1] == len(text)
        assert starts == sorted(set(starts)) and ends == sorted(set(ends))
        for start, end, last_end in zip(starts[1:], ends[1:], ends, strict=False):
            assert start <= last_end < end
            assert DEFAULT.count(text[start:end]) <= limit
        if not overlap:
            assert starts[1:] == ends[:-1]


def test_chunks_count_the_template() -> None:
    spec = sentencepiece_spec()
    tokenizer = Tokenizer(spec)
    for start, end in tokenizer.chunk("ab ab ab", 3, add_special=True).tolist():
        assert tokenizer.count("ab ab ab"[start:end], add_special=True) <= 3
    for cut in (tokenizer.truncate, tokenizer.chunk):
        with pytest.raises(ArgumentError, match="max_tokens=0 is less than the 1 token that add_special=True adds"):
            cut("a", 0, add_special=True)
    assert not tokenizer.fits("", 0, add_special=True)


def test_a_chunk_does_not_repeat_the_whole_chunk_before_it() -> None:
    """Also if its first token has no characters, as that of the dummy prefix."""
    tokenizer = Tokenizer(sentencepiece_spec())
    text = "zzzz\nzz zzab\nz\nab zz"
    assert tokenizer.tokens("z")[0].end == 0
    for limit in range(2, 12):
        for overlap in range(1, limit):
            starts = tokenizer.chunk(text, limit, overlap=overlap, at="line")[:, 0].tolist()
            assert starts == sorted(set(starts)), (limit, overlap)


def test_an_empty_text_has_no_chunks() -> None:
    assert DEFAULT.chunk("", 1).shape == (0, 2)


def test_errors() -> None:
    with pytest.raises(ArgumentError, match="character '🦜' at 1 alone has 2 tokens$"):
        DEFAULT.chunk("a🦜", 1)
    with pytest.raises(ArgumentError, match="overlap=2 is not less than max_tokens=2"):
        DEFAULT.chunk("a", 2, overlap=2)
    with pytest.raises(ArgumentError, match="at='page' is not one of 'token', 'word'"):
        DEFAULT.chunk("a", 2, at="page")  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="direction='up' is not one of 'right', 'left'"):
        DEFAULT.truncate("a", 2, direction="up")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="has no keyword argument 'max_length'"):
        DEFAULT.truncate("a", 2, max_length=3)  # type: ignore[call-overload]


# Batches


def test_batches() -> None:
    texts = ["", "one two three", "a" * 300, "one " * 9000, b"one two three", "世界"] * 30
    assert DEFAULT.count_batch(texts, threads=2).tolist() == [DEFAULT.count(text) for text in texts]
    assert DEFAULT.count_batch([]).shape == (0,) and DEFAULT.count_batch([]).dtype == np.int64
    for direction in ("right", "left"):
        assert DEFAULT.truncate_batch(texts, 2, direction=direction) == [
            DEFAULT.truncate(text, 2, direction=direction) for text in texts
        ]
    with pytest.raises(SpecialTokenError):
        DEFAULT.count_batch(["a", "<|endoftext|>"], reject_special=True)


# Places


@pytest.mark.parametrize(
    ("kind", "parts"),
    [
        ("word", ["one ", "two\t\n", "three"]),
        ("word", [" ", "one"]),
        ("line", ["a\n", "\n", "b\r\n", "c\r", "d\u2028", "e"]),
        ("sentence", ["A. ", "B! ", "C?! ", "D\u2026 ", "E"]),
        ("sentence", ["He said (really?) ", "“Yes.” ", "So"]),
        ("sentence", ["e.g. this, 3.5 of it. ", "So"]),
        ("sentence", ["吾輩は猫である。", "「はい！」", "否"]),
        ("sentence", ["A title\n\n", "Text\nof lines. ", "End."]),
        ("sentence", ["यह है। ", "वह है।"]),
    ],
)
def test_places(kind: str, parts: list[str]) -> None:
    text = "".join(parts)
    assert list(places(kind, text, 0, len(text))) == list(itertools.accumulate(map(len, parts[:-1])))
    assert list(places(kind, "." + text, 1, len(text) + 1)) == [end + 1 for end in places(kind, text, 0, len(text))]
