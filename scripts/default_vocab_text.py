"""The text behind the default vocabulary: which files, what is held out, what is cleaned away, which pieces count.

Used by train_default_vocab.py and measure_default_vocab.py, which must agree on what was held out.
"""

from __future__ import annotations

import hashlib
import re
import sysconfig
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import regex

from polytok.data import DEFAULT_PATTERN

CODE = "python_library"
CHAT = "chat_emoji.txt"
# The share of the counted characters that each source gets. Tuned so that no language lags: a character of a script
# without spaces is worth about two to three letters, so those shares are lower than the bytes would suggest.
SHARES = {
    "en_prose.txt": 20.0,
    "en_markdown.txt": 14.0,
    CODE: 14.0,
    "europe.txt": 22.0,
    "ru_uk_bg.txt": 8.5,
    "ar_fa_he_ur.txt": 6.0,
    "hi_indic.txt": 5.0,
    "th_vi_sea.txt": 4.2,
    "zh.txt": 6.0,
    "ja.txt": 3.2,
    "ko.txt": 4.5,
    "many_scripts.txt": 2.0,
    CHAT: 4.0,
    "data_csv.txt": 1.5,
    "data_json.txt": 1.5,
    "logs.txt": 1.0,
}
RECORDS = frozenset({"data_csv.txt", "data_json.txt", "logs.txt"})
# Written in another script than Latin: what these files hold in ASCII letters is not theirs to teach.
OTHER_SCRIPTS = frozenset({"ru_uk_bg.txt", "ar_fa_he_ur.txt", "hi_indic.txt", "zh.txt", "ja.txt", "ko.txt"})
# Documents in many languages: their code listings are the same English in each.
WITH_LISTINGS = OTHER_SCRIPTS | {"europe.txt", "th_vi_sea.txt"}
# Holds German, where nouns are capitalised too: blocks with this share of capitalised words do not show names.
WITH_GERMAN = "europe.txt"
NOUN_SHARE = 0.22
# What whole files of the corpus are about; of interest to their readers only.
_SUBJECT = re.compile(
    r"(?<![a-z])(?:azure|azurite|cargo|grove|hugo|raspberry|seeed|sketchnotes?|wio|tldr)(?![a-z])", re.IGNORECASE
)
# The modules of the Python library are counted, its tests, tables and bundled tools are not.
CODE_EXCLUDED = frozenset(
    {"site-packages", "test", "tests", "idlelib", "lib2to3", "encodings", "pydoc_data", "turtledemo", "__pycache__"}
)

STRETCHES = 20
BLOCK_CHARS = 16_384
MAX_LINE_REPEATS = 3
MIN_BLOCKS = 2
MIN_NAME_FILES = 4
MIN_SHARED_FILES = 3
# Stands where something was cleaned away; never part of an entry. A private-use character that no source holds.
BOUNDARY = "\ue000"


@dataclass(frozen=True, slots=True)
class Source:
    """One input: its name, and its text cut into what is trained on and what is held out."""

    name: str
    size: int
    sha256: str
    train: tuple[str, ...]
    held_out: tuple[str, ...]


def hold_out(data: bytes) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Cut into 20 stretches and hold out the last tenth of each, moved to line breaks.

    The files are several languages one after the other; the last tenth of the whole file would take some languages
    out of the training text altogether.
    """
    train, held_out, start = [], [], 0
    for stretch in range(1, STRETCHES + 1):
        end = line_break(data, len(data) * stretch // STRETCHES)
        cut = min(line_break(data, start + (end - start) * 9 // 10), end)
        train.append(data[start:cut].decode(errors="replace"))
        held_out.append(data[cut:end].decode(errors="replace"))
        start = end
    return tuple(train), tuple(held_out)


def line_break(data: bytes, at: int) -> int:
    """The position after the next line break."""
    found = data.find(b"\n", at)
    return len(data) if found < 0 else found + 1


def source(name: str, data: bytes) -> Source:
    return Source(name, len(data), hashlib.sha256(data).hexdigest(), *hold_out(data))


def sources(corpus: Path) -> Iterator[Source]:
    """The corpus files named in SHARES and the library of the running Python, in the order of SHARES."""
    for name in SHARES:
        yield source(name, library_code() if name == CODE else (corpus / name).read_bytes())


def library_code() -> bytes:
    root = Path(sysconfig.get_paths()["stdlib"])
    files = (path for path in root.rglob("*.py") if not CODE_EXCLUDED.intersection(path.relative_to(root).parts))
    return b"".join(path.read_bytes() for path in sorted(files))


_LISTING = re.compile(r"^ {0,9}```.*?^ {0,9}```|`[^`\n]*`", re.DOTALL | re.MULTILINE)
_NOISE = re.compile(
    r"<!--.*?-->"  # comments: hashes, dates, paths
    r"|^[^\n]*co-op-translator[^\n]*$"  # a translation tool's notice, under each of its documents
    r"|(?<=://)[^\s<>\")\]]+|(?<=\bwww\.)[^\s<>\")\]]+"  # addresses, all but https:// and www.
    r"|\S+@\S+\.\w+"  # mail addresses
    r"|(?:\.{1,2}/)+[\w./-]+"  # relative paths
    r"|\b(?=\w*[0-9])[0-9a-fA-F]{8,}\b"  # hashes
    r"|[A-Za-z0-9+/_=-]{40,}"  # encoded bytes
    r"|［＃[^］\n]*］|《[^》\n]*》"  # a transcriber's notes and readings of Japanese characters
    r"|[\u2060\ufeff]",  # a typesetter's word joiners, byte order marks
    re.DOTALL | re.MULTILINE,
)


def clean(name: str, text: str) -> str:
    """What is left to learn from: no listings in documents of other languages, no addresses, hashes, tool comments."""
    if name in WITH_LISTINGS:
        text = _LISTING.sub(BOUNDARY, text)
    return _NOISE.sub(BOUNDARY, text)


def blocks(src: Source) -> Iterator[str]:
    """The training text in blocks of lines. A line of 12 characters or more counts three times a file, then no more."""
    seen: Counter[str] = Counter()
    for text in src.train:
        lines: list[str] = []
        chars = 0
        for line in clean(src.name, text).splitlines(keepends=True):
            if len(line.strip()) >= 12:
                seen[line] += 1
                if seen[line] > MAX_LINE_REPEATS:
                    continue
            lines.append(line)
            chars += len(line)
            if chars >= BLOCK_CHARS:
                yield "".join(lines)
                lines, chars = [], 0
        yield "".join(lines)


_WORD = regex.compile(r"[\p{Latin}\p{Cyrillic}\p{Greek}\p{Armenian}\p{Georgian}]{4,}")
_ASCII_SIGNS = re.compile(r" ?[!-/:-@\[-`{-~]{3,}\s*")
_EMOJI_LINE = regex.compile(r"(?:(?!\p{ASCII})\p{Emoji}|[\ufe0f\u200d\u20e3])\s+$")
_ASCII_LETTER = re.compile(r"[A-Za-z]")
_PIECE = regex.compile(DEFAULT_PATTERN)


@dataclass(slots=True)
class PieceCounts:
    """Pieces by source: how often each, and in how many blocks; and the capitalised words of German blocks."""

    counts: dict[str, Counter[str]] = field(default_factory=dict)
    spread: dict[str, Counter[str]] = field(default_factory=dict)
    nouns: Counter[str] = field(default_factory=Counter)

    def add(self, src: Source) -> None:
        counts = self.counts[src.name] = Counter()
        spread = self.spread[src.name] = Counter()
        for block in blocks(src):
            # Emoji come in lists, one a line: their line breaks mean nothing.
            here = Counter(p.rstrip() if _EMOJI_LINE.search(p) else p for p in _PIECE.findall(block))
            counts.update(here)
            spread.update(here.keys())
            if src.name == WITH_GERMAN:
                self._add_nouns(block)

    def _add_nouns(self, block: str) -> None:
        words = Counter(_WORD.findall(block))
        capitals = {word: count for word, count in words.items() if word[0].isupper()}
        if sum(capitals.values()) > NOUN_SHARE * sum(words.values()):
            self.nouns.update(capitals)


class PieceFilter:
    """Which pieces count. The rules look at the word in a piece: its letters, four or more, of a script with spaces.

    1. spread: a word counts if two blocks of 16,384 characters have it; no accidents.
    2. records: of tables, JSON and logs, only pieces count that other text has too; no boilerplate.
    3. own script: ASCII letters do not count in files of another script.
    4. names: a word with a capital that never (less than 2 times in 100) starts with a small letter counts only if
       four files have it and none has three quarters of it, or if it is a German noun (most of it in German); no
       heroes of a novel, no brands. A word all in capitals needs three files: no speakers of a play. Source code is
       left out of this: its capitals are constants and classes.
    5. subjects: the products that the corpus's manuals describe do not count.
    6. signs: a run of three ASCII signs counts if three files have it; no quirk of one table or typist.
    """

    def __init__(self, pieces: PieceCounts) -> None:
        self.spread: Counter[str] = Counter()
        self.cased: dict[str, Counter[str]] = {"small": Counter(), "capital": Counter()}
        self.files: dict[str, Counter[str]] = defaultdict(Counter)
        self.nouns = pieces.nouns
        self.elsewhere: set[str] = set()
        for name, counts in pieces.counts.items():
            self._learn(name, counts, pieces.spread[name])

    def _learn(self, name: str, counts: Counter[str], spread: Counter[str]) -> None:
        if name not in RECORDS:
            self.elsewhere.update(counts)
        for piece, count in counts.items():
            if _ASCII_SIGNS.fullmatch(piece):
                self.files[piece.strip()][name] += count
            for word in _WORD.findall(piece):
                self.spread[word] += spread[piece]
                self.cased["capital" if word[0].isupper() else "small"][word.lower()] += count
                if name not in OTHER_SCRIPTS or not word.isascii():
                    self.files[word][name] += count

    def counts(self, name: str, piece: str) -> bool:
        if name in RECORDS and piece not in self.elsewhere:
            return False
        if _SUBJECT.search(piece):
            return False
        if _ASCII_SIGNS.fullmatch(piece) and len(self.files[piece.strip()]) < MIN_SHARED_FILES:
            return False
        if name in OTHER_SCRIPTS and _ASCII_LETTER.search(piece):
            return False
        return all(self.word_counts(name, word) for word in _WORD.findall(piece))

    def word_counts(self, name: str, word: str) -> bool:
        if self.spread[word] < MIN_BLOCKS:
            return False
        files = self.files[word]
        if word.isupper() and name != CODE and len(files) < MIN_SHARED_FILES:
            return False
        small, capital = self.cased["small"][word.lower()], self.cased["capital"][word.lower()]
        if word[0].islower() or small * 50 >= capital or name == CODE:
            return True
        is_common = len(files) >= MIN_NAME_FILES and max(files.values()) * 4 < files.total() * 3
        return is_common or self.nouns[word] * 2 > capital


def weighted(pieces: PieceCounts, total: int) -> Counter[str]:
    """All pieces that count, each file scaled to its share of ``total`` characters."""
    keep = PieceFilter(pieces)
    result: Counter[str] = Counter()
    for name, counts in pieces.counts.items():
        kept = {piece: count for piece, count in counts.items() if keep.counts(name, piece)}
        chars = sum(len(piece) * count for piece, count in kept.items())
        scale = total * SHARES[name] / sum(SHARES.values()) / chars
        for piece, count in kept.items():
            result[piece] += round(count * scale)
    return result
