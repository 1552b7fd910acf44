"""Helpers for the tests of normalizers and splits: texts, and tokenizers with a single stage."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from polytok import Kind, Spec, Tokenizer, Vocab
from polytok.spec import NormalizeStep, SplitStep, WordLevel
from texts import VocabularyPieces, generate_texts

Piece = tuple[str, int, int]

NASTY = [
    *("", " ", "  ", "a", " a", "a ", "\n", "\r\n", "\t a\n\nb  ", "It's 12345 o'clock, I'LL go!", "Ünïcödé ÅÉ"),
    *("e\u0301", "a\u0323\u0301b\u0301\u0323", "\u0301a", "\u0344\u0323", "a\u200d\u0301\u0323", "x\u302e\u0301"),
    *("漢字かなカナｶﾞ、。", "가각힣 한국어", "\u1112\u1161\u11ab", "ﬁnﬀ ㎏①²½", "İIıß ẞ ΣΑΣ", "ไทย ใำ"),
    *(
        "\x00\x01\x1f\x7f\x85\xa0\xad\ufeff\ufffd\u200b\u2028\u2581",
        "👩\u200d👩\u200d👧 🇩🇪🇫 👍🏽",
        "\U0001d15e\U0002fa1d",
    ),
    *(
        "\u166d\U000111c9\u2e52",
        "²³¹¼ \u200d\u200c_",
        "1 234 567 890 ٣٤ Ⅷ",
        "--the-final--countdown--",
        "\ud7a4\u0378\ue000",
    ),
    *("▁a ▁▁b", "▁", " ▁", "a\r\n\r\nb \r c", "ſS kK\u212a", "x" * 100 + " " * 100 + "é" * 50),
]


def stage_texts(count: int = 300) -> Iterator[str]:
    """Yields difficult texts and generated texts."""
    yield from NASTY
    vocabulary = VocabularyPieces([b" the", "é".encode(), b"'ll", "▁a".encode(), b"12"])
    yield from (text.decode() for text in generate_texts(6, count, vocabulary))


def stage(
    entries: Iterable[str] = (), normalize: tuple[NormalizeStep, ...] = (), split: tuple[SplitStep, ...] = ()
) -> Tokenizer:
    """Returns a tokenizer whose tokens are the pieces of its split; pieces that are not entries are ``<unk>``."""
    words = sorted({piece.encode() for piece in entries})
    rows = [(b"<unk>", 0, 0.0, Kind.UNKNOWN), *((word, n, 0.0, Kind.NORMAL) for n, word in enumerate(words, 1))]
    return Tokenizer(Spec(Vocab.from_rows(rows), WordLevel(), normalize=normalize, split=split, unknown="unk"))


def pieces(tokenizer: Tokenizer, text: str) -> list[Piece]:
    """Returns the pieces of a text with their byte offsets in the original text."""
    return [(token.piece.decode(), token.byte_start, token.byte_end) for token in tokenizer.tokens(text)]


def check(
    expected: Mapping[str, list[Piece]],
    normalize: tuple[NormalizeStep, ...] = (),
    split: tuple[SplitStep, ...] = (),
) -> None:
    """Checks that every text has the expected pieces with the expected offsets."""
    entries = {piece for expected_pieces in expected.values() for piece, _, _ in expected_pieces}
    tokenizer = stage(entries, normalize, split)
    for text, expected_pieces in expected.items():
        assert pieces(tokenizer, text) == expected_pieces, repr(text)
