"""The training text of the default vocabulary: its files, the held-out text, cleaning, and the pieces that count.

train_default_vocab.py and measure_default_vocab.py use this module, so that both scripts have the same held-out text.
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
# The share of each source in the counted characters. The shares are tuned so that no language has much longer encodings
# than others. A character of a script without spaces corresponds to about two or three letters, so the shares of such
# scripts are lower than their bytes suggest.
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
RECORD_FILES = frozenset({"data_csv.txt", "data_json.txt", "logs.txt"})
# Files in another script than Latin. Their words in ASCII letters do not count.
OTHER_SCRIPT_FILES = frozenset({"ru_uk_bg.txt", "ar_fa_he_ur.txt", "hi_indic.txt", "zh.txt", "ja.txt", "ko.txt"})
# Translated documents, which repeat the same English code listings in each language.
FILES_WITH_LISTINGS = OTHER_SCRIPT_FILES | {"europe.txt", "th_vi_sea.txt"}
# The file with German, which capitalises nouns. In a block with at least NOUN_SHARE capitalised words, capitalised
# words are not taken for names.
GERMAN_FILE = "europe.txt"
NOUN_SHARE = 0.22
# Products that the corpus's manuals describe. Their names are too frequent in the corpus.
_SUBJECT = re.compile(
    r"(?<![a-z])(?:azure|azurite|cargo|grove|hugo|raspberry|seeed|sketchnotes?|wio|tldr)(?![a-z])", re.IGNORECASE
)
# Folders of the Python library that do not count: tests, tables and bundled tools.
EXCLUDED_CODE_FOLDERS = frozenset(
    {"site-packages", "test", "tests", "idlelib", "lib2to3", "encodings", "pydoc_data", "turtledemo", "__pycache__"}
)

SECTION_COUNT = 20
BLOCK_CHARS = 16_384
MAX_LINE_REPEATS = 3
MIN_BLOCKS = 2
MIN_NAME_FILES = 4
MIN_SHARED_FILES = 3
# The character that replaces removed text, so that no entry crosses it: a private-use character that no source has.
BOUNDARY = "\ue000"


@dataclass(frozen=True, slots=True)
class Source:
    """An input: its name, size and hash, and its training text and held-out text."""

    name: str
    size: int
    sha256: str
    train: tuple[str, ...]
    held_out: tuple[str, ...]


def hold_out(data: bytes) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Splits data into 20 sections at line breaks and holds out the last tenth of each section.

    A file can contain several languages in sequence. Holding out the last tenth of the file would exclude some
    languages from the training text completely.
    """
    train, held_out, start = [], [], 0
    for section in range(1, SECTION_COUNT + 1):
        end = line_break(data, len(data) * section // SECTION_COUNT)
        split = min(line_break(data, start + (end - start) * 9 // 10), end)
        train.append(data[start:split].decode(errors="replace"))
        held_out.append(data[split:end].decode(errors="replace"))
        start = end
    return tuple(train), tuple(held_out)


def line_break(data: bytes, at: int) -> int:
    """Returns the position after the next line break at or after ``at``."""
    position = data.find(b"\n", at)
    return len(data) if position < 0 else position + 1


def source(name: str, data: bytes) -> Source:
    return Source(name, len(data), hashlib.sha256(data).hexdigest(), *hold_out(data))


def sources(corpus: Path) -> Iterator[Source]:
    """Yields the files of the corpus and the library of the running Python, in the order of SHARES."""
    for name in SHARES:
        yield source(name, library_code() if name == CODE else (corpus / name).read_bytes())


def library_code() -> bytes:
    root = Path(sysconfig.get_paths()["stdlib"])
    files = (
        path for path in root.rglob("*.py") if not EXCLUDED_CODE_FOLDERS.intersection(path.relative_to(root).parts)
    )
    return b"".join(path.read_bytes() for path in sorted(files))


_LISTING = re.compile(r"^ {0,9}```.*?^ {0,9}```|`[^`\n]*`", re.DOTALL | re.MULTILINE)
_NOISE = re.compile(
    r"<!--.*?-->"  # comments: hashes, dates, paths
    r"|^[^\n]*co-op-translator[^\n]*$"  # the notice of a translation tool in its documents
    r"|(?<=://)[^\s<>\")\]]+|(?<=\bwww\.)[^\s<>\")\]]+"  # URLs except https:// and www.
    r"|\S+@\S+\.\w+"  # mail addresses
    r"|(?:\.{1,2}/)+[\w./-]+"  # relative paths
    r"|\b(?=\w*[0-9])[0-9a-fA-F]{8,}\b"  # hashes
    r"|[A-Za-z0-9+/_=-]{40,}"  # encoded bytes
    r"|［＃[^］\n]*］|《[^》\n]*》"  # notes and readings that transcribers add to Japanese text
    r"|[\u2060\ufeff]",  # word joiners of typesetters, byte order marks
    re.DOTALL | re.MULTILINE,
)


def clean(name: str, text: str) -> str:
    """Removes code listings from translated documents, and URLs, hashes and comments of tools from all documents."""
    if name in FILES_WITH_LISTINGS:
        text = _LISTING.sub(BOUNDARY, text)
    return _NOISE.sub(BOUNDARY, text)


def blocks(src: Source) -> Iterator[str]:
    """Yields the training text in blocks of lines. A line of 12 characters or more is used at most 3 times a file."""
    line_counts: Counter[str] = Counter()
    for text in src.train:
        lines: list[str] = []
        chars = 0
        for line in clean(src.name, text).splitlines(keepends=True):
            if len(line.strip()) >= 12:
                line_counts[line] += 1
                if line_counts[line] > MAX_LINE_REPEATS:
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
    """The counts of pieces by source, the numbers of blocks with each piece, and capitalised words of German blocks."""

    counts: dict[str, Counter[str]] = field(default_factory=dict)
    spread: dict[str, Counter[str]] = field(default_factory=dict)
    nouns: Counter[str] = field(default_factory=Counter)

    def add(self, src: Source) -> None:
        counts = self.counts[src.name] = Counter()
        spread = self.spread[src.name] = Counter()
        for block in blocks(src):
            # Emoji are listed one a line, so the line breaks after them are ignored.
            block_counts = Counter(p.rstrip() if _EMOJI_LINE.search(p) else p for p in _PIECE.findall(block))
            counts.update(block_counts)
            spread.update(block_counts.keys())
            if src.name == GERMAN_FILE:
                self._add_nouns(block)

    def _add_nouns(self, block: str) -> None:
        words = Counter(_WORD.findall(block))
        capitals = {word: count for word, count in words.items() if word[0].isupper()}
        if sum(capitals.values()) > NOUN_SHARE * sum(words.values()):
            self.nouns.update(capitals)


class PieceFilter:
    """Decides which pieces count. A word in a piece is a run of four or more letters of a script with spaces.

    1. Spread: a word counts if at least two blocks of 16,384 characters contain it, which excludes accidents.
    2. Records: a piece of tables, JSON and logs counts only if other text has the piece too. This excludes
       boilerplate.
    3. Script: ASCII letters do not count in files of another script.
    4. Names: a word that almost never (less than 2 times in 100) begins with a small letter counts only if four files
       have the word and no file has three quarters of the occurrences, or if most of the occurrences are German nouns.
       This excludes names of persons and brands. A word in capitals needs three files, which excludes the speakers of
       plays. The rule does not apply to source code, where capitals mark constants and classes.
    5. Subjects: the products that the corpus's manuals describe do not count.
    6. Signs: a run of three ASCII signs counts only if three files have the run, which excludes habits of one author.
    """

    def __init__(self, pieces: PieceCounts) -> None:
        self.spread: Counter[str] = Counter()
        self.counts_by_case: dict[str, Counter[str]] = {"small": Counter(), "capital": Counter()}
        self.files: dict[str, Counter[str]] = defaultdict(Counter)
        self.nouns = pieces.nouns
        self.pieces_outside_records: set[str] = set()
        for name, counts in pieces.counts.items():
            self._learn(name, counts, pieces.spread[name])

    def _learn(self, name: str, counts: Counter[str], spread: Counter[str]) -> None:
        if name not in RECORD_FILES:
            self.pieces_outside_records.update(counts)
        for piece, count in counts.items():
            if _ASCII_SIGNS.fullmatch(piece):
                self.files[piece.strip()][name] += count
            for word in _WORD.findall(piece):
                self.spread[word] += spread[piece]
                self.counts_by_case["capital" if word[0].isupper() else "small"][word.lower()] += count
                if name not in OTHER_SCRIPT_FILES or not word.isascii():
                    self.files[word][name] += count

    def counts(self, name: str, piece: str) -> bool:
        if name in RECORD_FILES and piece not in self.pieces_outside_records:
            return False
        if _SUBJECT.search(piece):
            return False
        if _ASCII_SIGNS.fullmatch(piece) and len(self.files[piece.strip()]) < MIN_SHARED_FILES:
            return False
        if name in OTHER_SCRIPT_FILES and _ASCII_LETTER.search(piece):
            return False
        return all(self.word_counts(name, word) for word in _WORD.findall(piece))

    def word_counts(self, name: str, word: str) -> bool:
        if self.spread[word] < MIN_BLOCKS:
            return False
        files = self.files[word]
        if word.isupper() and name != CODE and len(files) < MIN_SHARED_FILES:
            return False
        lowercase_counts, capital_counts = (
            self.counts_by_case["small"][word.lower()],
            self.counts_by_case["capital"][word.lower()],
        )
        if word[0].islower() or lowercase_counts * 50 >= capital_counts or name == CODE:
            return True
        is_common = len(files) >= MIN_NAME_FILES and max(files.values()) * 4 < files.total() * 3
        return is_common or self.nouns[word] * 2 > capital_counts


def weighted_counts(pieces: PieceCounts, total: int) -> Counter[str]:
    """Returns the counts of all pieces that count, scaled so that each file has its share of ``total`` characters."""
    piece_filter = PieceFilter(pieces)
    result: Counter[str] = Counter()
    for name, counts in pieces.counts.items():
        kept_counts = {piece: count for piece, count in counts.items() if piece_filter.counts(name, piece)}
        chars = sum(len(piece) * count for piece, count in kept_counts.items())
        scale = total * SHARES[name] / sum(SHARES.values()) / chars
        for piece, count in kept_counts.items():
            result[piece] += round(count * scale)
    return result
