"""Reads the training text of the default vocabulary, removes unwanted text, holds out a part, and counts pieces.

train_default_vocab.py and measure_default_vocab.py both use this module, so they hold out the same text.
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

CODE_SOURCE = "python_library"
CHAT_FILE = "chat_emoji.txt"
# The share of each source in the counted characters. With these shares, all languages need about as many ids for the
# same content. Scripts without spaces have low shares, because one of their characters corresponds to two or three
# letters.
SOURCE_SHARES = {
    "en_prose.txt": 20.0,
    "en_markdown.txt": 14.0,
    CODE_SOURCE: 14.0,
    "europe.txt": 22.0,
    "ru_uk_bg.txt": 8.5,
    "ar_fa_he_ur.txt": 6.0,
    "hi_indic.txt": 5.0,
    "th_vi_sea.txt": 4.2,
    "zh.txt": 6.0,
    "ja.txt": 3.2,
    "ko.txt": 4.5,
    "many_scripts.txt": 2.0,
    CHAT_FILE: 4.0,
    "data_csv.txt": 1.5,
    "data_json.txt": 1.5,
    "logs.txt": 1.0,
}
RECORD_FILES = frozenset({"data_csv.txt", "data_json.txt", "logs.txt"})
# Files in scripts other than Latin. Words in ASCII letters in these files are not counted.
OTHER_SCRIPT_FILES = frozenset({"ru_uk_bg.txt", "ar_fa_he_ur.txt", "hi_indic.txt", "zh.txt", "ja.txt", "ko.txt"})
# Translated documents, which repeat the same English code listings in each language.
FILES_WITH_LISTINGS = OTHER_SCRIPT_FILES | {"europe.txt", "th_vi_sea.txt"}
# The file that contains German, which capitalises nouns. If the share of capitalised words in a block is above
# MIN_CAPITALISED_SHARE, these words are nouns and not names.
GERMAN_FILE = "europe.txt"
MIN_CAPITALISED_SHARE = 0.22
# The names of the products that manuals in the corpus describe; these names are too frequent in the corpus.
_PRODUCT_NAME = re.compile(
    r"(?<![a-z])(?:azure|azurite|cargo|grove|hugo|raspberry|seeed|sketchnotes?|wio|tldr)(?![a-z])", re.IGNORECASE
)
# The folders of the Python library that are not read: tests, tables and bundled tools.
EXCLUDED_CODE_FOLDERS = frozenset(
    {"site-packages", "test", "tests", "idlelib", "lib2to3", "encodings", "pydoc_data", "turtledemo", "__pycache__"}
)

SECTION_COUNT = 20
BLOCK_CHARS = 16_384
MAX_LINE_REPEATS = 3
MIN_BLOCKS_WITH_WORD = 2
MIN_FILES_WITH_NAME = 4
MIN_FILES_WITH_RUN = 3
# The private-use character that replaces removed text. No source contains it, and no entry crosses it.
REMOVED_TEXT_MARK = "\ue000"


@dataclass(frozen=True, slots=True)
class Source:
    """A file of the corpus or the Python library, split into training text and held-out text."""

    name: str
    size: int
    sha256: str
    training_texts: tuple[str, ...]
    held_out_texts: tuple[str, ...]


def split_training_and_held_out(data: bytes) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Splits data into 20 sections at line breaks and holds out the last tenth of each section.

    A file can contain one language after another, so holding out the last tenth of the whole file would exclude some
    languages from training.
    """
    training_texts, held_out_texts, start = [], [], 0
    for section in range(1, SECTION_COUNT + 1):
        end = position_after_line_break(data, len(data) * section // SECTION_COUNT)
        split = min(position_after_line_break(data, start + (end - start) * 9 // 10), end)
        training_texts.append(data[start:split].decode(errors="replace"))
        held_out_texts.append(data[split:end].decode(errors="replace"))
        start = end
    return tuple(training_texts), tuple(held_out_texts)


def position_after_line_break(data: bytes, at: int) -> int:
    """Returns the position after the first line break that is at ``at`` or later, or the end of the data."""
    position = data.find(b"\n", at)
    return len(data) if position < 0 else position + 1


def create_source(name: str, data: bytes) -> Source:
    return Source(name, len(data), hashlib.sha256(data).hexdigest(), *split_training_and_held_out(data))


def read_sources(corpus: Path) -> Iterator[Source]:
    """Yields the files of the corpus and the library of the running Python, in the order of `SOURCE_SHARES`."""
    for name in SOURCE_SHARES:
        yield create_source(name, read_library_code() if name == CODE_SOURCE else (corpus / name).read_bytes())


def read_library_code() -> bytes:
    root = Path(sysconfig.get_paths()["stdlib"])
    files = (
        path for path in root.rglob("*.py") if not EXCLUDED_CODE_FOLDERS.intersection(path.relative_to(root).parts)
    )
    return b"".join(path.read_bytes() for path in sorted(files))


_CODE_LISTING = re.compile(r"^ {0,9}```.*?^ {0,9}```|`[^`\n]*`", re.DOTALL | re.MULTILINE)
_UNWANTED_TEXT = re.compile(
    r"<!--.*?-->"  # comments: hashes, dates, paths
    r"|^[^\n]*co-op-translator[^\n]*$"  # notices of a translation tool
    r"|(?<=://)[^\s<>\")\]]+|(?<=\bwww\.)[^\s<>\")\]]+"  # URLs except https:// and www.
    r"|\S+@\S+\.\w+"  # mail addresses
    r"|(?:\.{1,2}/)+[\w./-]+"  # relative paths
    r"|\b(?=\w*[0-9])[0-9a-fA-F]{8,}\b"  # hashes
    r"|[A-Za-z0-9+/_=-]{40,}"  # encoded bytes
    r"|［＃[^］\n]*］|《[^》\n]*》"  # transcribers' notes and readings in Japanese text
    r"|[\u2060\ufeff]",  # word joiners of typesetters, byte order marks
    re.DOTALL | re.MULTILINE,
)


def remove_unwanted_text(name: str, text: str) -> str:
    """Removes code listings from translated documents, and URLs, hashes and the comments that tools add from all
    documents."""
    if name in FILES_WITH_LISTINGS:
        text = _CODE_LISTING.sub(REMOVED_TEXT_MARK, text)
    return _UNWANTED_TEXT.sub(REMOVED_TEXT_MARK, text)


def training_blocks(source: Source) -> Iterator[str]:
    """Yields the training text in blocks of lines. A line of 12 characters or more occurs at most 3 times for each
    file."""
    line_counts: Counter[str] = Counter()
    for text in source.training_texts:
        lines: list[str] = []
        char_count = 0
        for line in remove_unwanted_text(source.name, text).splitlines(keepends=True):
            if len(line.strip()) >= 12:
                line_counts[line] += 1
                if line_counts[line] > MAX_LINE_REPEATS:
                    continue
            lines.append(line)
            char_count += len(line)
            if char_count >= BLOCK_CHARS:
                yield "".join(lines)
                lines, char_count = [], 0
        yield "".join(lines)


_WORD_PATTERN = regex.compile(r"[\p{Latin}\p{Cyrillic}\p{Greek}\p{Armenian}\p{Georgian}]{4,}")
_SIGN_RUN_PATTERN = re.compile(r" ?[!-/:-@\[-`{-~]{3,}\s*")
_EMOJI_LINE_PATTERN = regex.compile(r"(?:(?!\p{ASCII})\p{Emoji}|[\ufe0f\u200d\u20e3])\s+$")
_ASCII_LETTER_PATTERN = re.compile(r"[A-Za-z]")
_PIECE_PATTERN = regex.compile(DEFAULT_PATTERN)


@dataclass(slots=True)
class PieceCounts:
    """The counts of pieces for each source, the number of blocks that contain each piece, and the counts of German
    nouns."""

    counts: dict[str, Counter[str]] = field(default_factory=dict)
    block_counts: dict[str, Counter[str]] = field(default_factory=dict)
    noun_counts: Counter[str] = field(default_factory=Counter)

    def add(self, source: Source) -> None:
        counts = self.counts[source.name] = Counter()
        block_counts = self.block_counts[source.name] = Counter()
        for block in training_blocks(source):
            # The corpus lists one emoji on each line, so line breaks after emoji are ignored.
            piece_counts_of_block = Counter(
                p.rstrip() if _EMOJI_LINE_PATTERN.search(p) else p for p in _PIECE_PATTERN.findall(block)
            )
            counts.update(piece_counts_of_block)
            block_counts.update(piece_counts_of_block.keys())
            if source.name == GERMAN_FILE:
                self._count_nouns(block)

    def _count_nouns(self, block: str) -> None:
        words = Counter(_WORD_PATTERN.findall(block))
        capitalised_counts = {word: count for word, count in words.items() if word[0].isupper()}
        if sum(capitalised_counts.values()) > MIN_CAPITALISED_SHARE * sum(words.values()):
            self.noun_counts.update(capitalised_counts)


class PieceFilter:
    """Decides which pieces are used in training. A *word* is a run of four or more letters of a script with spaces.

    1. Blocks: a word is used if at least two blocks of 16,384 characters contain it, which excludes accidents.
    2. Records: a piece of tables, JSON or logs is used only if other text contains the piece too.
    3. Script: in files of a script other than Latin, pieces with ASCII letters are not used.
    4. Names: a word that begins with a small letter in less than 2 of 100 occurrences is probably a name of a person or
       brand. Such a word is used only if at least four files contain it, none of them with three quarters of the
       occurrences, or if most of its occurrences are German nouns. A word in capitals, such as a speaker in a play,
       is used only if three files contain it. This rule does not apply to source code.
    5. Products: the names of products that manuals in the corpus describe are not used.
    6. Signs: a run of three ASCII signs is used only if three files contain the run, which excludes the habits of one
       author.
    """

    def __init__(self, pieces: PieceCounts) -> None:
        self.block_counts: Counter[str] = Counter()
        self.counts_by_case: dict[str, Counter[str]] = {"small": Counter(), "capital": Counter()}
        self.counts_by_file: dict[str, Counter[str]] = defaultdict(Counter)
        self.noun_counts = pieces.noun_counts
        self.pieces_outside_records: set[str] = set()
        for name, counts in pieces.counts.items():
            self._add_file(name, counts, pieces.block_counts[name])

    def _add_file(self, name: str, counts: Counter[str], block_counts: Counter[str]) -> None:
        if name not in RECORD_FILES:
            self.pieces_outside_records.update(counts)
        for piece, count in counts.items():
            if _SIGN_RUN_PATTERN.fullmatch(piece):
                self.counts_by_file[piece.strip()][name] += count
            for word in _WORD_PATTERN.findall(piece):
                self.block_counts[word] += block_counts[piece]
                self.counts_by_case["capital" if word[0].isupper() else "small"][word.lower()] += count
                if name not in OTHER_SCRIPT_FILES or not word.isascii():
                    self.counts_by_file[word][name] += count

    def includes_piece(self, name: str, piece: str) -> bool:
        if name in RECORD_FILES and piece not in self.pieces_outside_records:
            return False
        if _PRODUCT_NAME.search(piece):
            return False
        if _SIGN_RUN_PATTERN.fullmatch(piece) and len(self.counts_by_file[piece.strip()]) < MIN_FILES_WITH_RUN:
            return False
        if name in OTHER_SCRIPT_FILES and _ASCII_LETTER_PATTERN.search(piece):
            return False
        return all(self.includes_word(name, word) for word in _WORD_PATTERN.findall(piece))

    def includes_word(self, name: str, word: str) -> bool:
        if self.block_counts[word] < MIN_BLOCKS_WITH_WORD:
            return False
        counts_by_file = self.counts_by_file[word]
        if word.isupper() and name != CODE_SOURCE and len(counts_by_file) < MIN_FILES_WITH_RUN:
            return False
        lowercase_count, capitalised_count = (
            self.counts_by_case["small"][word.lower()],
            self.counts_by_case["capital"][word.lower()],
        )
        if word[0].islower() or lowercase_count * 50 >= capitalised_count or name == CODE_SOURCE:
            return True
        is_common = (
            len(counts_by_file) >= MIN_FILES_WITH_NAME and max(counts_by_file.values()) * 4 < counts_by_file.total() * 3
        )
        return is_common or self.noun_counts[word] * 2 > capitalised_count


def weighted_counts(pieces: PieceCounts, total: int) -> Counter[str]:
    """Returns the counts of all pieces that are used, scaled so that each file has its share of ``total``
    characters."""
    piece_filter = PieceFilter(pieces)
    result: Counter[str] = Counter()
    for name, counts in pieces.counts.items():
        included_counts = {piece: count for piece, count in counts.items() if piece_filter.includes_piece(name, piece)}
        char_count = sum(len(piece) * count for piece, count in included_counts.items())
        scale = total * SOURCE_SHARES[name] / sum(SOURCE_SHARES.values()) / char_count
        for piece, count in included_counts.items():
            result[piece] += round(count * scale)
    return result
