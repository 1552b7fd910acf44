"""Tests lossless.py: a lossless tokenizer returns many texts unchanged, and the example of a reason is changed."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from polytok import EncodeError, Kind, Spec, Tokenizer, Vocab, load
from polytok.formats.tiktoken_families import KIMI
from polytok.formats.tiktoken_known import KNOWN
from polytok.lossless import lossless
from polytok.pattern_coverage import covers_all_text
from polytok.patterns import QWEN2
from polytok.spec import (
    Bpe,
    BytesDecode,
    Char,
    Llama2cDecode,
    Longest,
    Model,
    PatternSplit,
    Plamo2,
    PrefixSpace,
    SentencePieceDecode,
    SentencePieceNormalize,
    SentencePieceVersion,
    SpecialToken,
    Unigram,
    UnknownPolicy,
    Word,
    WordLevel,
    WordPiece,
)
from reference_specs import DATA, charsmap
from texts import is_utf8

FILES = [
    path
    for folder in ("sentencepiece", "llama2c", "rwkv", "tiktoken")
    for path in sorted((DATA / "vocab" / folder).glob("*"))
]
MARK = "\u2581"
NASTY = [
    *("", " ", "  ", "   ", " a", "a ", "  a  b  ", MARK, MARK * 2, f" {MARK}", f"{MARK} ", f"{MARK}a", f"a{MARK}b"),
    *(
        "\0",
        "a\0b",
        "\n",
        "\r\n",
        "\t",
        "\u00a0",
        "\u3000",
        "\u2028",
        "\x1c",
        "\x85",
        "\ufeff",
        "\ufffd",
        "<unk>",
        "<s>",
    ),
    *(
        "\n<s>\n",
        "\n<s>\n a",
        "</s>",
        "<0x41>",
        "<0x0A>",
        "<0x",
        "<0x4",
        " <0x41> ",
        "ﬁ",
        "é",
        "e\u0301",
        "日本",
        "한글",
    ),
    *("\u1112\u1161\u11ab", "👩\u200d👩\u200d👧", "\U0010ffff", "\ue000", "ſ", "K", "'s", "'LL", "1234567", "   \n  x"),
]
INVALID = [b"\xff", b"\x80", b"\xc0\xaf", b"\xe2\x96", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"a\xe3\x81 b", b" \xff"]


def texts(pieces: list[bytes], count: int, seed: int = 1) -> Iterator[bytes]:
    """Returns difficult strings, and random sequences of pieces and difficult strings; valid UTF-8."""
    rng = random.Random(seed)
    yield from (text.encode() for text in NASTY)
    for _ in range(count):
        parts = []
        for _ in range(rng.randrange(9)):
            kind = rng.random()
            if kind < 0.5:
                parts.append(rng.choice(pieces).decode(errors="replace"))
            elif kind < 0.8:
                parts.append(rng.choice(NASTY))
            else:
                code = rng.choice([rng.randrange(128), rng.randrange(0x3000), rng.randrange(0xE000, 0x110000)])
                parts.append(chr(code) if not 0xD800 <= code < 0xE000 else "x")
        yield "".join(parts).encode()


def insert_invalid_bytes(valid: Iterator[bytes], seed: int = 2) -> Iterator[bytes]:
    """Inserts invalid bytes into the texts."""
    rng = random.Random(seed)
    yield from INVALID
    for text in valid:
        at = rng.randrange(len(text) + 1)
        yield text[:at] + rng.choice(INVALID) + text[at:]


def is_unchanged(tokenizer: Tokenizer, text: bytes) -> bool:
    try:
        return tokenizer.decode_bytes(tokenizer.encode(text)) == text
    except EncodeError:
        return False


def check(tokenizer: Tokenizer, count: int) -> None:
    """Checks that a lossless tokenizer has no counterexample, and that every other reason's example is changed."""
    actual = tokenizer.lossless
    pieces = tokenizer.spec.vocab.pieces()
    if actual.for_text:
        assert [text for text in texts(pieces, count) if not is_unchanged(tokenizer, text)] == []
    if actual.for_bytes:
        assert [text for text in insert_invalid_bytes(texts(pieces, count)) if not is_unchanged(tokenizer, text)] == []
    for reason in actual.reasons:
        if reason.example is not None:
            assert not is_unchanged(tokenizer, reason.example), reason
            assert reason.valid_utf8 == is_utf8(reason.example)


def reason_text(tokenizer: Tokenizer) -> str:
    return "\n".join(map(str, tokenizer.lossless.reasons))


# Published vocabularies


@pytest.mark.skipif(not FILES, reason="no data: set POLYTOK_DATA")
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
@pytest.mark.parametrize("line", [None, "0.2.1"])
def test_published_vocabularies(path: Path, line: SentencePieceVersion | None) -> None:
    if line and "sentencepiece" not in path.parts:
        pytest.skip("line is SentencePiece's")
    tokenizer = load(path, sentencepiece_version=line)
    assert bool(tokenizer.lossless) == ("sentencepiece" not in path.parts)
    assert all(reason.example is not None for reason in tokenizer.lossless.reasons)
    check(tokenizer, 20_000)


# SentencePiece: all flags, small vocabularies


def sentencepiece_spec(
    model: Model,
    step: SentencePieceNormalize,
    unknown: UnknownPolicy,
    line: SentencePieceVersion = "0.2.3",
    extra: tuple[tuple[bytes, int, float, int], ...] = (),
    with_mark: bool = True,
) -> Spec:
    rows: list[tuple[bytes, int, float, int]] = [(b"<unk>", 0, 0.0, Kind.UNKNOWN), (b"<s>", 1, 0.0, Kind.CONTROL)]
    rows += [(b"<0x%02X>" % byte, 2 + byte, 0.0, Kind.BYTE) for byte in range(256)] if unknown == "bytes" else []
    words = ["a", "b", " ", "ab", "ba", "aa", "é", *([MARK, f"{MARK}a", MARK * 2] if with_mark else [])]
    for number, word in enumerate(words):
        rows.append((word.encode(), len(rows), -1.0 - number / 8, Kind.NORMAL))
    rows += [(piece, len(rows) + i, score, kind) for i, (piece, _, score, kind) in enumerate(extra)]
    decode = SentencePieceDecode(step.add_dummy_prefix, step.remove_extra_whitespaces)
    return Spec(
        Vocab.from_rows(rows), model, normalize=(step,), unknown=unknown, decode=decode, sentencepiece_version=line
    )


FLAGS = [
    SentencePieceNormalize(b"", prefix, remove, escape, suffix)
    for prefix, remove, escape, suffix in itertools.product((False, True), repeat=4)
]
CHARS = Bpe("score", symbols="chars")


@pytest.mark.parametrize("line", ["0.2.1", "0.2.3"])
@pytest.mark.parametrize("with_mark", [True, False])
@pytest.mark.parametrize("unknown", ["unk", "bytes"])
@pytest.mark.parametrize("model", [CHARS, Unigram(), Word(), Char()], ids=lambda model: model.kind)
@pytest.mark.parametrize("step", FLAGS, ids=str)
def test_sentencepiece_flags(
    step: SentencePieceNormalize, model: Model, unknown: UnknownPolicy, with_mark: bool, line: SentencePieceVersion
) -> None:
    tokenizer = Tokenizer(sentencepiece_spec(model, step, unknown, line, with_mark=with_mark))
    check(tokenizer, 150)
    is_plain = not (step.add_dummy_prefix or step.remove_extra_whitespaces or step.escape_whitespaces)
    finds_controls = model == Word() and line == "0.2.1"
    assert tokenizer.lossless.for_text == (is_plain and unknown == "bytes" and not with_mark and not finds_controls)


@pytest.mark.parametrize("model", [CHARS, Unigram(), Char(), Word()], ids=lambda model: model.kind)
def test_a_lossless_sentencepiece_model(model: Model) -> None:
    step = SentencePieceNormalize(b"", False, False, False)
    check(Tokenizer(spec := sentencepiece_spec(model, step, "bytes", with_mark=False)), 20_000)
    assert lossless(spec).for_text
    assert not lossless(spec).for_bytes


def test_a_space_that_is_inserted_and_removed_is_not_a_loss() -> None:
    """Tests Llama's setting, which changes only U+2581."""
    step = SentencePieceNormalize(b"", True, False, True)
    tokenizer = Tokenizer(sentencepiece_spec(CHARS, step, "bytes"))
    assert [str(reason) for reason in tokenizer.lossless.reasons if reason.valid_utf8] == [
        "normalize: a space is written as U+2581, so U+2581 is decoded to a space"
    ]
    for text in texts(tokenizer.spec.vocab.pieces(), 20_000):
        assert is_unchanged(tokenizer, text) == (MARK.encode() not in text)


@pytest.mark.parametrize("kind", [Kind.USER_DEFINED, Kind.UNUSED, Kind.CONTROL])
@pytest.mark.parametrize("line", ["0.2.1", "0.2.3"])
@pytest.mark.parametrize("model", [CHARS, Unigram(), Word(), Char()], ids=lambda model: model.kind)
@pytest.mark.parametrize("piece", ["c", "ab c", "  ", "\n", "<0x41>", f"{MARK}c"])
def test_pieces_of_other_kinds(piece: str, model: Model, line: SentencePieceVersion, kind: Kind) -> None:
    for step in FLAGS[::2]:
        row = (piece.encode(), 0, 0.0, int(kind))
        check(Tokenizer(sentencepiece_spec(model, step, "bytes", line, (row,), with_mark=False)), 60)


def test_a_control_symbol_of_one_character_is_an_error_in_the_older_line() -> None:
    step = SentencePieceNormalize(b"", False, False, False)
    row = (b"c", 0, 0.0, int(Kind.CONTROL))
    older_tokenizer = Tokenizer(sentencepiece_spec(CHARS, step, "bytes", "0.2.1", (row,), with_mark=False))
    assert "control symbol" in reason_text(older_tokenizer)
    check(older_tokenizer, 100)


def test_byte_pieces_that_a_restriction_excludes() -> None:
    step = SentencePieceNormalize(b"", False, False, False)
    tokenizer = Tokenizer(sentencepiece_spec(CHARS, step, "bytes", with_mark=False)).restrict(["a", "ab"])
    assert "no active byte piece" in reason_text(tokenizer)
    check(tokenizer, 100)


def test_a_denormalizer() -> None:
    spec = sentencepiece_spec(CHARS, SentencePieceNormalize(b"", False, False, False), "bytes", with_mark=False)
    assert isinstance(spec.decode, SentencePieceDecode)
    rule = charsmap("nmt_nfkc")
    tokenizer = Tokenizer(replace(spec, decode=replace(spec.decode, denormalize=SentencePieceNormalize(rule))))
    assert "denormalizer: the character map" in reason_text(tokenizer)
    check(tokenizer, 100)


@pytest.mark.parametrize("rule", ["nfkc", "nmt_nfkc", "nfkc_cf", "nmt_nfkc_cf"])
def test_character_maps(rule: str) -> None:
    step = SentencePieceNormalize(charsmap(rule), False, False, False)
    tokenizer = Tokenizer(sentencepiece_spec(CHARS, step, "bytes", with_mark=False))
    assert "the character map rewrites text" in reason_text(tokenizer)
    check(tokenizer, 0)


@pytest.mark.parametrize("blob", [b"\1", b"\4\0\0\0", b"\4\0\0\0aaaa", b"\xff" * 64, bytes(range(256)) * 64])
def test_walking_a_damaged_character_map_ends(blob: bytes) -> None:
    lossless(sentencepiece_spec(CHARS, SentencePieceNormalize(blob), "bytes"))


def test_decoding_that_removes_a_space_that_was_not_inserted() -> None:
    spec = sentencepiece_spec(CHARS, SentencePieceNormalize(b"", False, False, True), "bytes")
    for prefix, remove in ((True, False), (False, True)):
        tokenizer = Tokenizer(replace(spec, decode=SentencePieceDecode(prefix, remove)))
        assert "none was added there" in reason_text(tokenizer)
        check(tokenizer, 0)


# Bytes: tiktoken, minbpe, RWKV


def bytes_vocab(missing: tuple[int, ...] = (), extra: tuple[bytes, ...] = ()) -> Vocab:
    pieces = [bytes([byte]) for byte in range(256) if byte not in missing] + list(extra)
    return Vocab.from_rows((piece, number, 0.0, Kind.NORMAL) for number, piece in enumerate(pieces))


RANK = Bpe("rank", whole_piece_first=True)
EXTRA = (b"  ", b"ab", b" a", "日".encode(), b"\xe6\x97", b"<|end|>")


@pytest.mark.parametrize("pattern", sorted({KIMI, QWEN2, *(known.scheme.pattern for known in KNOWN)}))
def test_known_patterns_drop_nothing(pattern: str) -> None:
    assert covers_all_text(PatternSplit(pattern))
    tokenizer = Tokenizer(Spec(bytes_vocab(extra=EXTRA), RANK, split=(PatternSplit(pattern),)))
    assert tokenizer.lossless.for_bytes
    check(tokenizer, 5_000)


COVERING = [
    *(r"\s|\S", r"[\s\S]", r" ?\p{L}+|\P{L}", r"[^\n]+|\n", r"[a-z]++|[^a-z]{1,4}", r"'(?:s|t)|\s+(?!\S)|\s+|\S+"),
    *(r"\p{Han}+|\P{Han}", r"[\p{L}&&[^\p{Han}]]+|\p{Han}|\P{L}", r"[^\s&&[^a]]|[\sa]|[^\s&&[\S]]|\S"),
]
DROPPING = [
    r"\w+",
    r"\p{L}+|\s+",
    r".+",
    r"\s*|\S+",
    r"[a-z]+|[A-Z]+",
    r"\S+(?=\s)|\s",
    r"a?+\S|\s",
    r"\S\S|\s",
    r"$|\S",
    r"[\p{L}&&[^\p{Han}]]+|\P{L}",
    r"[\S&&[^\p{L}]]|\s",
]


@pytest.mark.parametrize("pattern", COVERING)
def test_patterns_that_cover(pattern: str) -> None:
    tokenizer = Tokenizer(Spec(bytes_vocab(extra=EXTRA), RANK, split=(PatternSplit(pattern),)))
    assert tokenizer.lossless.for_bytes
    check(tokenizer, 3_000)


@pytest.mark.parametrize("pattern", DROPPING)
def test_patterns_that_drop(pattern: str) -> None:
    tokenizer = Tokenizer(Spec(bytes_vocab(extra=EXTRA), RANK, split=(PatternSplit(pattern),)))
    assert "split" in reason_text(tokenizer)
    candidates = itertools.chain(texts(EXTRA and list(EXTRA), 300), [b"a", b"A!", b"! x", b"\n\n"])
    assert any(not is_unchanged(tokenizer, text) for text in candidates)


@pytest.mark.parametrize(("invert", "is_regex"), [(True, True), (False, False)])
def test_covering_patterns_that_drop_by_other_options(invert: bool, is_regex: bool) -> None:
    split = (PatternSplit(r"\s|\S", "matches", invert, is_regex),)
    tokenizer = Tokenizer(Spec(bytes_vocab(), RANK, split=split))
    assert "split" in reason_text(tokenizer)
    assert not is_unchanged(tokenizer, b"a b")


ALPHABET = [
    *"ab \n'1é",
    r"\p{L}",
    r"\p{N}",
    r"\P{L}",
    r"\s",
    r"\S",
    r"[^\s\p{L}]",
    r"[^a\n]",
    "[a-f]",
    ".",
    r"[\s\S]",
    r"\d",
    r"\p{Han}",
    r"[\p{L}&&[^a\p{Han}]]",
    r"[^\S&&[^\p{L}]]",
]
QUANTIFIERS = ["", "", "?", "*", "+", "?+", "*+", "++", "{1,3}", "{2}", "+?"]


def some_items(rng: random.Random) -> str:
    return "".join(rng.choice(ALPHABET) + rng.choice(QUANTIFIERS) for _ in range(rng.randint(1, 3)))


def test_generated_patterns_that_provably_cover_do() -> None:
    rng = random.Random(3)
    proven = 0
    for _ in range(3000):
        parts = [some_items(rng) for _ in range(rng.randint(1, 4))]
        parts += [rng.choice([r"\s+(?!\S)", r"(?i:'s|x)", r"(?:ab?|1)?\S", r"\s+|\S", r"\S|\s"])] * (rng.random() < 0.6)
        pattern = "|".join(parts)
        if covers_all_text(PatternSplit(pattern)):
            proven += 1
            tokenizer = Tokenizer(Spec(bytes_vocab(), RANK, split=(PatternSplit(pattern),)))
            assert [text for text in texts(list(EXTRA), 40, seed=proven) if not is_unchanged(tokenizer, text)] == [], (
                pattern
            )
    assert proven > 300


@pytest.mark.parametrize(
    "pattern", ["(" * 100_000, "[" * 1000, "a" * 200_000, "(?:a|" * 50, "\\", "[a", "a{", "(?x)a", ""]
)
def test_odd_patterns_are_not_proven(pattern: str) -> None:
    assert not covers_all_text(PatternSplit(pattern))


@pytest.mark.parametrize("model", [WordLevel(), WordPiece(), Plamo2(), Word(), Char()], ids=lambda model: model.kind)
def test_entries_for_all_bytes_prove_nothing_about_other_models(model: Model) -> None:
    assert not lossless(Spec(bytes_vocab(), model))


@pytest.mark.parametrize("model", [RANK, Longest()], ids=lambda model: model.kind)
def test_missing_bytes(model: Model) -> None:
    ascii_missing = Tokenizer(Spec(bytes_vocab((0x41,)), model))
    assert not ascii_missing.lossless
    check(ascii_missing, 0)
    never_in_text = Tokenizer(Spec(bytes_vocab((0xC0, 0xFF)), model))
    assert never_in_text.lossless.for_text
    assert not never_in_text.lossless.for_bytes
    check(never_in_text, 2_000)
    assert not lossless(Spec(bytes_vocab((0xE6,)), model))


def test_special_tokens_do_not_matter_to_plain_encoding() -> None:
    check(tokenizer := Tokenizer(Spec(bytes_vocab(), RANK, special=(SpecialToken("<s>", 300),))), 500)
    assert tokenizer.lossless.for_bytes


def test_merges() -> None:
    vocab = bytes_vocab(extra=(b"ab", b"abab"))
    merges = np.array([[97, 98, 256], [256, 256, 257]], dtype=np.uint32)
    check(tokenizer := Tokenizer(Spec(vocab, Bpe("merges", merges=merges))), 2_000)
    assert tokenizer.lossless.for_bytes


# llama2.c


def llama2c_spec(*pieces: bytes, bos: bytes = b"\n<s>\n") -> Spec:
    rows = [(b"<unk>", 0, 0.0, int(Kind.UNKNOWN)), (bos, 1, 0.0, int(Kind.CONTROL))]
    rows += [(b"\n</s>\n", 2, 0.0, int(Kind.CONTROL))]
    rows += [(b"<0x%02X>" % byte, 3 + byte, 0.0, int(Kind.BYTE)) for byte in range(256)]
    rows += [(piece, 259 + i, -1.0 - i, int(Kind.NORMAL)) for i, piece in enumerate(pieces)]
    return Spec(
        Vocab.from_rows(rows),
        Bpe("score", symbols="groups"),
        normalize=(PrefixSpace(),),
        unknown="bytes",
        decode=Llama2cDecode(),
        names={"bos": 1},
    )


def test_llama2c() -> None:
    check(tokenizer := Tokenizer(llama2c_spec(b" ", b"a", b"b", b"ab", b" a", b"  ", "日".encode())), 20_000)
    assert tokenizer.lossless.for_bytes


def test_llama2c_text_that_starts_within_a_character() -> None:
    assert is_unchanged(Tokenizer(llama2c_spec(b" ", b"a")), b"\x80")


@pytest.mark.parametrize(
    ("spec", "reason"),
    [
        (llama2c_spec(b"a"), "a space has no entry"),
        (llama2c_spec(b" ", *b"< 0 x 4 1 > <0 <0x <0x4 <0x41".split()), "prints one byte"),
        (llama2c_spec(b" ", *b"\n|<|s|>|\n<|\n<s|\n<s>".split(b"|")), "becomes BOS"),
        (llama2c_spec(b" ", b"Q", bos=b"Z"), "becomes BOS"),
    ],
)
def test_llama2c_losses(spec: Spec, reason: str) -> None:
    check(tokenizer := Tokenizer(spec), 0)
    assert reason in reason_text(tokenizer)
    assert not tokenizer.lossless


def test_steps_of_different_formats() -> None:
    spec = llama2c_spec(b" ", b"a")
    for other_spec in (replace(spec, decode=BytesDecode()), replace(spec, normalize=())):
        assert "not provably undo" in reason_text(Tokenizer(other_spec))
