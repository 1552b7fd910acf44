"""Random test texts that provoke mistakes; a seed always produces the same texts.

`generate_texts` gets each text from a random maker of `MAKERS`; each maker covers one kind of difficulty. Most texts
contain vocabulary entries, because joined entries reach edge cases of merges that random characters never reach. All
texts are bytes; with ``has_invalid_utf8`` nearly all of them contain invalid UTF-8. `generate_ids` draws id sequences.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

SPACES = [
    *"\t\n\v\f\r \x1c\x1d\x1e\x1f\x85\xa0\u1680\u180e\u200b\u2028\u2029\u202f\u205f\u3000\ufeff",
    *map(chr, range(0x2000, 0x200B)),
]
CONTROLS = [*map(chr, (*range(32), *range(0x7F, 0xA0))), *"\xad\u061c\u200d\u200e\u202e\u2060\U000e0001"]
JAMO = [*map(chr, range(0x1100, 0x1200, 3)), *map(chr, range(0x3131, 0x318F, 5)), "가", "힣", "\ud7b0", "\uffa1"]
MARKS = [*map(chr, range(0x300, 0x345, 3)), *"\u0e33\u094d\u0bbe\u05b0\u064b\u20dd\u3099\u309a\ufe0f"]
KANA = [*map(chr, range(0xFF61, 0xFFA0)), "か", "カ", "ヴ", "ゞ"]
COMPATIBILITY_CHARACTERS = [*"ﬁﷺ™①Ⅳ㌔㍿²½ǅĲſ￥～∑ａＺ０！\u1e9b\u0385\u00a8\ufb4f\u2f00\uf900\U0001d400\U0002f800"]
CONTRACTIONS_AND_DIGITS = [
    *("'s", "'S", "'ll", "'LL", "'\u017f", "’s", "'re", "'D", "n't"),
    *("0123456789"),
    *("1234", "٣", "１", "Ⅷ"),
]
TOKEN_SPELLINGS = [
    *("▁", "▁▁", "<0x41>", "<0x0A>", "<0xZZ>", "<unk>", "<s>", "</s>", "<|endoftext|>", "##", "Ġ", "Ċ", "\\n"),
    *("\ufffd", " \u2047 "),
]
EMOJI = ["😀", "👩\u200d👩\u200d👧", "🇩🇪", "👍🏽", "#\ufe0f\u20e3", "🦙"]
INVALID_SEQUENCES = [
    *(bytes([byte]) for byte in (0x80, 0xBF, 0xC0, 0xC1, 0xC3, 0xE2, 0xE3, 0xED, 0xF0, 0xF4, 0xF5, 0xF8, 0xFE, 0xFF)),
    *(b"\xe3\x81", b"\xed\xa0\x80", b"\xed\xbf\xbf", b"\xf0\x9f", b"\xf0\x9f\x98", b"\xc0\xaf", b"\xe0\x80\x80"),
    *(b"\xf4\x90\x80\x80", b"\xf8\x88\x80\x80\x80", b"\xe2\x96", b"\xef\xbf\xbe\xff", b"\x80\x80\x80\x80\x80"),
]
CHARACTER_CLASSES = [
    *("abcxyz", "ABCXYZ", "0123456789", " ", " \t", "\n", "\r\n", "!?.,-", "あいう", "日本語", "😀🦙"),
    *("\u0301\u0302", "ｶﾞ", "▁", "éü"),
]
SCRIPT_STARTS = [
    *(0x41, 0xC0, 0x370, 0x400, 0x590, 0x600, 0x900, 0xE00, 0x1000, 0x1100),
    *(0x1E00, 0x2000, 0x2500, 0x3040, 0x4E00, 0xA000, 0xAC00, 0xF900, 0xFB00, 0xFE30),
    *(0xFF00, 0x10000, 0x1D400, 0x1F300, 0x20000, 0xE0100, 0x10FF80),
]
CODE_POINT_COUNT = 0x110000
SURROGATES = range(0xD800, 0xE000)
LONGEST_RUN = 300


@dataclass(frozen=True)
class VocabularyPieces:
    """The parts of a vocabulary that the makers build texts from: pieces as they appear in text, and special tokens."""

    pieces: Sequence[bytes]
    special_tokens: Sequence[bytes] = ()


TextMaker = Callable[[Random, VocabularyPieces], bytes]


def join_random_parts(rng: Random, parts: Sequence[str], limit: int = 12) -> str:
    """Joins at least one and fewer than ``limit`` randomly chosen parts."""
    return "".join(rng.choices(parts, k=rng.randrange(1, limit)))


def random_character(rng: Random) -> str:
    """Returns a character that is not a surrogate: half the time from any plane, else from below U+3000."""
    while True:
        code_point = rng.randrange(CODE_POINT_COUNT) if rng.random() < 0.5 else rng.randrange(0x3000)
        if code_point not in SURROGATES:
            return chr(code_point)


def make_entries(rng: Random, vocabulary: VocabularyPieces) -> bytes:
    """Joins up to eight vocabulary entries; drops bytes that are not UTF-8."""
    joined = b"".join(rng.choices(vocabulary.pieces, k=rng.randrange(1, 9)))[:200]
    return drop_invalid_utf8(joined)


def make_any_characters(rng: Random, vocabulary: VocabularyPieces) -> bytes:
    return "".join(random_character(rng) for _ in range(rng.randrange(1, 16))).encode()


def make_script(rng: Random, vocabulary: VocabularyPieces) -> bytes:
    """Joins characters of one script."""
    first = rng.choice(SCRIPT_STARTS)
    return "".join(chr(first + rng.randrange(0x60)) for _ in range(rng.randrange(1, 16))).encode()


def make_white_space(rng: Random, vocabulary: VocabularyPieces) -> bytes:
    return join_random_parts(rng, [*SPACES, " ", " ", "\n", "a", "word", "."]).encode()


def make_controls(rng: Random, vocabulary: VocabularyPieces) -> bytes:
    return join_random_parts(rng, [*CONTROLS, "\0", "a", " "]).encode()


def make_combining(rng: Random, vocabulary: VocabularyPieces) -> bytes:
    """Joins characters that normalization composes, decomposes or replaces."""
    characters = rng.choice([JAMO, MARKS, KANA, COMPATIBILITY_CHARACTERS])
    return join_random_parts(rng, [*characters, "a", *MARKS[:4]]).encode()


def make_contractions(rng: Random, vocabulary: VocabularyPieces) -> bytes:
    return join_random_parts(rng, [*CONTRACTIONS_AND_DIGITS, "He", "WE", " ", "x", *TOKEN_SPELLINGS[:2]]).encode()


def make_token_spellings(rng: Random, vocabulary: VocabularyPieces) -> bytes:
    """Joins texts that some vocabularies use as the names of tokens or bytes."""
    return join_random_parts(rng, [*TOKEN_SPELLINGS, " ", "a", "\0"], 6).encode()


def make_special_tokens(rng: Random, vocabulary: VocabularyPieces) -> bytes:
    texts = vocabulary.special_tokens or [b"<|endoftext|>"]
    return b"".join(rng.choices([*rng.choices(texts, k=3), b" ", b"a", b"<", b"\n", b"<|"], k=rng.randrange(1, 6)))


def make_run(rng: Random, vocabulary: VocabularyPieces) -> bytes:
    """Repeats one character or one vocabulary entry up to ``LONGEST_RUN`` times."""
    unit = random_character(rng).encode() if rng.random() < 0.3 else rng.choice("".join(CHARACTER_CLASSES)).encode()
    if rng.random() < 0.2:
        unit = drop_invalid_utf8(make_entries(rng, vocabulary)[:12])
    longest = rng.choice([2, 3, 5, 17, 64, LONGEST_RUN])
    return unit * rng.randrange(1, longest + 1)


def make_class_run(rng: Random, vocabulary: VocabularyPieces) -> bytes:
    """Joins many characters of one character class."""
    letters = rng.choice(CHARACTER_CLASSES)
    return "".join(rng.choices(letters, k=rng.choice([3, 10, 40, LONGEST_RUN]) * rng.randrange(1, 5) // 4)).encode()


def make_mixture(rng: Random, vocabulary: VocabularyPieces) -> bytes:
    """Joins the starts of two to four texts of the simple makers."""
    return b"".join(rng.choice(SIMPLE_MAKERS)(rng, vocabulary)[: rng.randrange(60)] for _ in range(rng.randrange(2, 5)))


SIMPLE_MAKERS: list[TextMaker] = [
    make_entries,
    make_any_characters,
    make_script,
    make_white_space,
    make_controls,
    make_combining,
    make_contractions,
    make_token_spellings,
    make_special_tokens,
]
MAKERS: list[TextMaker] = [*SIMPLE_MAKERS, make_mixture, make_run, make_class_run]
WEIGHTS = [30, 10, 10, 8, 5, 8, 8, 5, 5, 30, 1, 1]


def drop_invalid_utf8(data: bytes) -> bytes:
    return data.decode(errors="ignore").encode()


def insert_invalid_utf8(rng: Random, data: bytes) -> bytes:
    """Inserts invalid byte sequences at random positions, and sometimes truncates the result."""
    for _ in range(rng.choice([1, 1, 1, 2, 4])):
        at = rng.randrange(len(data) + 1)
        data = data[:at] + rng.choice(INVALID_SEQUENCES) * rng.choice([1, 1, 1, 3]) + data[at:]
    return data if rng.random() < 0.8 else data[: rng.randrange(1, len(data) + 1)]


def generate_texts(
    seed: int, count: int, vocabulary: VocabularyPieces, *, has_invalid_utf8: bool = False
) -> Iterator[bytes]:
    """Yields ``count`` random texts; with ``has_invalid_utf8`` nearly all of them contain invalid UTF-8."""
    rng = Random(seed)
    for make_text in rng.choices(MAKERS, WEIGHTS, k=count):
        text = drop_invalid_utf8(make_text(rng, vocabulary))
        yield insert_invalid_utf8(rng, text) if has_invalid_utf8 else text


def generate_ids(seed: int, count: int, usual_ids: Sequence[int], favourite_ids: Sequence[int]) -> Iterator[list[int]]:
    """Yields ``count`` random id sequences; favourites (byte pieces, control symbols, unknown) are drawn often."""
    rng = Random(seed)
    for _ in range(count):
        favourite_share = rng.choice([0.0, 0.5, 0.95]) if favourite_ids else 0.0
        length = rng.randrange(1, 14)
        yield [rng.choice(favourite_ids if rng.random() < favourite_share else usual_ids) for _ in range(length)]


_LONG_LINE = 5_000


def first_lines(path: Path, limit: int) -> list[bytes]:
    """Reads the first lines of a file, with their line breaks; stops after the line that reaches ``limit`` bytes.

    That line is cut if it is far longer: the only line of a file can have 900 KB, more than all others together.
    """
    with path.open("rb") as file:
        lines = file.readlines(limit)
    lines[-1:] = [next(split_into_blocks(line, limit + _LONG_LINE)) for line in lines[-1:]]
    return lines


def split_into_blocks(data: bytes, size: int) -> Iterator[bytes]:
    """Splits data into blocks of about ``size`` bytes, between characters."""
    at = 0
    while at < len(data):
        end = min(at + size, len(data))
        while end < len(data) and data[end] & 0xC0 == 0x80:
            end -= 1
        yield data[at:end]
        at = end


def split_into_batches(texts: Iterable[bytes], size: int) -> Iterator[list[bytes]]:
    """Yields the texts in lists of ``size``; the last list can be shorter."""
    batch: list[bytes] = []
    for text in texts:
        batch.append(text)
        if len(batch) == size:
            yield batch
            batch = []
    if batch:
        yield batch


def is_utf8(text: bytes) -> bool:
    try:
        text.decode()
    except UnicodeDecodeError:
        return False
    return True
