"""Texts for the tests: nasty ones of every kind, the same ones for the same seed.

`generated` draws texts from the makers of `KINDS`, each of which likes one kind of trouble; vocabulary entries are
part of most texts, because joining entries reaches edges of merges that random characters never do. All texts are
bytes; where ``broken`` is asked for they are not valid UTF-8. `ids` draws sequences of ids for decoding.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

SPACES = [
    *"\t\n\v\f\r \x1c\x1d\x1e\x1f\x85\xa0\u1680\u180e\u200b\u2028\u2029\u202f\u205f\u3000\ufeff",
    *map(chr, range(0x2000, 0x200B)),
]
CONTROLS = [*map(chr, (*range(32), *range(0x7F, 0xA0))), *"\xad\u061c\u200d\u200e\u202e\u2060\U000e0001"]
JAMO = [*map(chr, range(0x1100, 0x1200, 3)), *map(chr, range(0x3131, 0x318F, 5)), "가", "힣", "\ud7b0", "\uffa1"]
MARKS = [*map(chr, range(0x300, 0x345, 3)), *"\u0e33\u094d\u0bbe\u05b0\u064b\u20dd\u3099\u309a\ufe0f"]
KANA = [*map(chr, range(0xFF61, 0xFFA0)), "か", "カ", "ヴ", "ゞ"]
COMPATIBLE = [*"ﬁﷺ™①Ⅳ㌔㍿²½ǅĲſ￥～∑ａＺ０！\u1e9b\u0385\u00a8\ufb4f\u2f00\uf900\U0001d400\U0002f800"]
QUOTED = [*("'s", "'S", "'ll", "'LL", "'\u017f", "’s", "'re", "'D", "n't"), *"0123456789", "1234", "٣", "１", "Ⅷ"]
LITERAL = [
    *("▁", "▁▁", "<0x41>", "<0x0A>", "<0xZZ>", "<unk>", "<s>", "</s>", "<|endoftext|>", "##", "Ġ", "Ċ", "\\n"),
    *("\ufffd", " \u2047 "),
]
EMOJI = ["😀", "👩\u200d👩\u200d👧", "🇩🇪", "👍🏽", "#\ufe0f\u20e3", "🦙"]
BROKEN = [
    *(bytes([byte]) for byte in (0x80, 0xBF, 0xC0, 0xC1, 0xC3, 0xE2, 0xE3, 0xED, 0xF0, 0xF4, 0xF5, 0xF8, 0xFE, 0xFF)),
    *(b"\xe3\x81", b"\xed\xa0\x80", b"\xed\xbf\xbf", b"\xf0\x9f", b"\xf0\x9f\x98", b"\xc0\xaf", b"\xe0\x80\x80"),
    *(b"\xf4\x90\x80\x80", b"\xf8\x88\x80\x80\x80", b"\xe2\x96", b"\xef\xbf\xbe\xff", b"\x80\x80\x80\x80\x80"),
]
CLASSES = [
    *("abcxyz", "ABCXYZ", "0123456789", " ", " \t", "\n", "\r\n", "!?.,-", "あいう", "日本語", "😀🦙"),
    *("\u0301\u0302", "ｶﾞ", "▁", "éü"),
]
SCRIPT_STARTS = [
    *(0x41, 0xC0, 0x370, 0x400, 0x590, 0x600, 0x900, 0xE00, 0x1000, 0x1100),
    *(0x1E00, 0x2000, 0x2500, 0x3040, 0x4E00, 0xA000, 0xAC00, 0xF900, 0xFB00, 0xFE30),
    *(0xFF00, 0x10000, 0x1D400, 0x1F300, 0x20000, 0xE0100, 0x10FF80),
]
PLANES = 0x110000
SURROGATES = range(0xD800, 0xE000)
LONGEST_RUN = 300


@dataclass(frozen=True)
class Words:
    """What a vocabulary gives the makers: its pieces as text may spell them, and its special tokens' texts."""

    pieces: Sequence[bytes]
    specials: Sequence[bytes] = ()


Pick = random.Random
Maker = Callable[[Pick, Words], bytes]


def some(pick: Pick, parts: Sequence[str], most: int = 12) -> str:
    """A few of the parts, one after the other."""
    return "".join(pick.choices(parts, k=pick.randrange(1, most)))


def character(pick: Pick) -> str:
    """Any scalar value, every plane alike."""
    while True:
        code = pick.randrange(PLANES) if pick.random() < 0.5 else pick.randrange(0x3000)
        if code not in SURROGATES:
            return chr(code)


def entries(pick: Pick, words: Words) -> bytes:
    """Vocabulary entries, joined; sometimes cut in the middle of a character."""
    joined = b"".join(pick.choices(words.pieces, k=pick.randrange(1, 9)))[:200]
    return joined.decode(errors="ignore").encode()


def anything(pick: Pick, words: Words) -> bytes:
    return "".join(character(pick) for _ in range(pick.randrange(1, 16))).encode()


def script(pick: Pick, words: Words) -> bytes:
    first = pick.choice(SCRIPT_STARTS)
    return "".join(chr(first + pick.randrange(0x60)) for _ in range(pick.randrange(1, 16))).encode()


def white(pick: Pick, words: Words) -> bytes:
    return some(pick, [*SPACES, " ", " ", "\n", "a", "word", "."]).encode()


def controls(pick: Pick, words: Words) -> bytes:
    return some(pick, [*CONTROLS, "\0", "a", " "]).encode()


def combining(pick: Pick, words: Words) -> bytes:
    return some(pick, [*pick.choice([JAMO, MARKS, KANA, COMPATIBLE]), "a", *MARKS[:4]]).encode()


def quoted(pick: Pick, words: Words) -> bytes:
    return some(pick, [*QUOTED, "He", "WE", " ", "x", *LITERAL[:2]]).encode()


def literal(pick: Pick, words: Words) -> bytes:
    return some(pick, [*LITERAL, " ", "a", "\0"], 6).encode()


def special(pick: Pick, words: Words) -> bytes:
    texts = words.specials or [b"<|endoftext|>"]
    return b"".join(pick.choices([*pick.choices(texts, k=3), b" ", b"a", b"<", b"\n", b"<|"], k=pick.randrange(1, 6)))


def run(pick: Pick, words: Words) -> bytes:
    """One character, or one entry, many times."""
    unit = character(pick).encode() if pick.random() < 0.3 else pick.choice("".join(CLASSES)).encode()
    if pick.random() < 0.2:
        unit = entries(pick, words)[:12].decode(errors="ignore").encode()
    most = pick.choice([2, 3, 5, 17, 64, LONGEST_RUN])
    return unit * pick.randrange(1, most + 1)


def class_run(pick: Pick, words: Words) -> bytes:
    letters = pick.choice(CLASSES)
    return "".join(pick.choices(letters, k=pick.choice([3, 10, 40, LONGEST_RUN]) * pick.randrange(1, 5) // 4)).encode()


def mixture(pick: Pick, words: Words) -> bytes:
    return b"".join(KINDS[pick.choice(BASIC)](pick, words)[: pick.randrange(60)] for _ in range(pick.randrange(2, 5)))


KINDS: dict[str, Maker] = {
    "entries": entries,
    "anything": anything,
    "script": script,
    "white": white,
    "controls": controls,
    "combining": combining,
    "quoted": quoted,
    "literal": literal,
    "special": special,
    "mixture": mixture,
    "run": run,
    "class_run": class_run,
}
BASIC = [kind for kind in KINDS if kind not in ("mixture", "run", "class_run")]
WEIGHTS = [30, 10, 10, 8, 5, 8, 8, 5, 5, 30, 1, 1]


def valid(data: bytes) -> bytes:
    """Without what is not UTF-8."""
    return data.decode(errors="ignore").encode()


def broken(pick: Pick, data: bytes) -> bytes:
    """With bytes put in that are not UTF-8, or cut off somewhere."""
    for _ in range(pick.choice([1, 1, 1, 2, 4])):
        at = pick.randrange(len(data) + 1)
        data = data[:at] + pick.choice(BROKEN) * pick.choice([1, 1, 1, 3]) + data[at:]
    return data if pick.random() < 0.8 else data[: pick.randrange(1, len(data) + 1)]


def generated(seed: int, count: int, words: Words, *, bad: bool = False) -> Iterator[bytes]:
    """``count`` texts; with ``bad`` they hold invalid UTF-8 (nearly all of them)."""
    pick = random.Random(seed)
    for maker in pick.choices(list(KINDS.values()), WEIGHTS, k=count):
        text = valid(maker(pick, words))
        yield broken(pick, text) if bad else text


def ids(seed: int, count: int, usual: Sequence[int], favourites: Sequence[int]) -> Iterator[list[int]]:
    """Random sequences of ids, many of them of the favourites (byte pieces, control symbols, unknown)."""
    pick = random.Random(seed)
    for _ in range(count):
        share = pick.choice([0.0, 0.5, 0.95]) if favourites else 0.0
        length = pick.randrange(1, 14)
        yield [pick.choice(favourites if pick.random() < share else usual) for _ in range(length)]


def lines(path: Path, limit: int) -> list[bytes]:
    """The first lines of a file, up to ``limit`` bytes of them, each with its line break."""
    with path.open("rb") as file:
        return file.readlines(limit)


def blocks(data: bytes, size: int) -> Iterator[bytes]:
    """Parts of about ``size`` bytes, cut between characters."""
    at = 0
    while at < len(data):
        end = min(at + size, len(data))
        while end < len(data) and data[end] & 0xC0 == 0x80:
            end -= 1
        yield data[at:end]
        at = end


def chunks(items: Iterable[bytes], size: int) -> Iterator[list[bytes]]:
    """The items, ``size`` at a time."""
    batch: list[bytes] = []
    for item in items:
        batch.append(item)
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
