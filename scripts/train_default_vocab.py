"""Trains the embedded default vocabulary, python/polytok/data/default.pairs, from text.

The vocabulary is a byte-level BPE in tiktoken's order of ranks. The 256 bytes have the lowest ranks. Then follow the
characters that have an entry, each after the prefixes of its UTF-8 bytes, and then the merges of characters in the
order of training. Every entry is therefore a byte, a prefix of one character, or a sequence of whole characters.
Merging bytes by rank builds the characters first, and then repeats the trained merges.

Training uses the pieces of the split pattern; default_vocab_text.py weights the pieces by file and removes some of
them. The same inputs produce the same bytes.

    python scripts/train_default_vocab.py ../shared/data/corpus
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import platform
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import pairwise
from pathlib import Path

import regex

import default_vocab_text as text
import polytok
from default_vocab_doc import write_section
from polytok.data import DEFAULT_FILE, DEFAULT_PATTERN, DEFAULT_SIZE, DEFAULT_SPECIAL_TOKENS
from polytok.training import specs

DATA = Path(__file__).resolve().parent.parent / "python" / "polytok" / "data"

TOTAL_CHAR_COUNT = 40_000_000
# The minimum count of a character that gets an entry; the last merges have about the same count. A character without an
# entry is encoded as bytes.
MIN_CHAR_COUNT = 110
FREQUENT_EMOJI_COUNT = 300
# The characters that many emoji contain: zero-width joiner, emoji presentation, keycap, skin tones and flag letters.
EMOJI_PART_CHARS = "\u200d\ufe0f\u20e3" + "".join(map(chr, [*range(0x1F3FB, 0x1F400), *range(0x1F1E6, 0x1F200)]))
MAX_ENTRY_CHARS = 16
MAX_ENTRY_BYTES = 32
# The number of extra merges to train; they replace the merges that the rules below remove.
EXTRA_MERGE_COUNT = 2500
MAX_LINE_BREAKS = 2
# The minimum number of blocks that use an entry, for entries of two letters and of more letters. Blocks of chat are not
# counted. The minimum excludes brands, slang and words of a single author or topic.
MIN_BLOCKS_FOR_TWO_LETTERS = 3
MIN_BLOCKS_FOR_MORE_LETTERS = 6

_EMOJI_PATTERN = regex.compile(r"(?!\p{ASCII})\p{Emoji}")
# The emoji that always have an entry: faces, hands, hearts, and symbols that are also emoji. The corpus lists every
# emoji once, so the counts do not show which emoji are frequent.
_COMMON_EMOJI_PATTERN = regex.compile(
    r"[\u2600-\u27bf\U0001f446-\U0001f450\U0001f493-\U0001f49f\U0001f600-\U0001f64f\U0001f90c-\U0001f93e"
    r"\U0001f970-\U0001f97a\U0001f5a4\U0001f9e1\U0001f480\U0001f4a9-\U0001f4af]"
)
# The letters that always have an entry: whole alphabets without archaic letters. Some of these scripts have millions of
# readers but are missing in the corpus.
_ALPHABET_PATTERN = regex.compile(
    r"[[\u00a1-\u017f\u0386-\u03ce\u0400-\u045f\u0490-\u0491\u0561-\u0586\u05d0-\u05ea\u0621-\u0652\u1ea0-\u1ef9"
    r"\u3041-\u3096\u30a1-\u30fc]||[[\p{Georgian}\p{Gurmukhi}\p{Kannada}\p{Khmer}\p{Lao}\p{Malayalam}\p{Oriya}"
    r"\p{Sinhala}\p{Telugu}]&&[\p{Ll}\p{Lo}\p{M}]&&[\u0800-\u17ff]]]",
    regex.V1,
)
_LETTER_PATTERN = regex.compile(r"\p{L}")
_NUMBER_PATTERN = re.compile(r"[0-9]+")
_EMOJI_JOINER_PATTERN = re.compile(r"[\ufe0f\u200d]")
_ASCII_SIGN_PATTERN = re.compile(r"[!-~]")


def char_entries(pieces: Counter[str], forced_chars: Iterable[str]) -> list[str]:
    """Returns the characters that have an entry, most frequent first: ASCII, frequent and forced characters."""
    counts: Counter[str] = Counter()
    for piece, count in pieces.items():
        for char in piece:
            counts[char] += count
    included_chars = {char for char, count in counts.items() if count >= MIN_CHAR_COUNT}
    included_chars |= set(forced_chars) | set(map(chr, range(128)))
    included_chars -= {text.REMOVED_TEXT_MARK, "\ufffd"}
    return sorted(included_chars, key=lambda char: (-counts[char], char))


def most_frequent_emoji(pieces: Counter[str]) -> list[str]:
    counts: Counter[str] = Counter()
    for piece, count in pieces.items():
        for char in _EMOJI_PATTERN.findall(piece):
            counts[char] += count
    return sorted(counts, key=lambda char: (-counts[char], char))[:FREQUENT_EMOJI_COUNT]


def prefix_entries() -> list[bytes]:
    """Returns the prefixes that 64 adjacent characters share: their UTF-8 bytes without the last byte.

    With these prefixes, every character below U+10000 and every emoji needs at most two ids, except the rare characters
    of Han Extension A and private use.
    """
    codes = (*range(0x800, 0x3400), *range(0x4DC0, 0xD800), *range(0xF900, 0x10000))
    prefixes = {chr(code).encode()[:-1] for code in codes if unicodedata.category(chr(code)) != "Cn"}
    emoji = {chr(code).encode()[:-1] for code in range(0x1F000, 0x1FB00)}
    return [*sorted(prefixes), "\U0001f600".encode()[:2], *sorted(emoji)]


def list_forced_chars(pieces: Counter[str]) -> list[str]:
    chars = [chr(code) for code in (*range(0x80, 0xD800), *range(0xE000, 0x1FB00))]
    alphabet_chars = [char for char in chars if char.isprintable() and _ALPHABET_PATTERN.match(char)]
    emoji = [char for char in chars if _COMMON_EMOJI_PATTERN.match(char) and _EMOJI_PATTERN.match(char)]
    return [*EMOJI_PART_CHARS, *most_frequent_emoji(pieces), *emoji, *alphabet_chars]


def number_entries() -> list[bytes]:
    """Returns all numbers of two and three digits, so that the token count of a number depends only on its length."""
    return [b"%02d" % number for number in range(100)] + [b"%03d" % number for number in range(1000)]


def char_building_entries(chars: Iterable[str]) -> list[bytes]:
    """Returns the entries from which merging builds characters: their prefixes of two or more bytes, and the
    characters."""
    entries: dict[bytes, None] = {}
    for char in chars:
        char_bytes = char.encode()
        for end in range(2, len(char_bytes) + 1):
            entries.setdefault(char_bytes[:end])
    return list(entries)


def training_words(pieces: Counter[str], chars: list[str]) -> Iterator[tuple[bytes, int]]:
    """Yields the pieces with their counts, split at characters without an entry."""
    chars_without_entry_pattern = regex.compile("[^" + regex.escape("".join(chars), special_only=False) + "]+")
    for piece, count in sorted(pieces.items()):
        if count and not _NUMBER_PATTERN.fullmatch(piece):
            for part in filter(None, chars_without_entry_pattern.split(piece)):
                if len(part) > 1:
                    yield part.encode(), count


def train_merges(pieces: Counter[str], chars: list[str], merge_count: int) -> list[bytes]:
    """Trains merges on the pieces, and returns the merged entries in the order of training."""
    counts = polytok.Counts()
    counts.add(training_words(pieces, chars))
    [spec] = specs(
        counts,
        kind="bpe",
        trainer="huggingface",
        byte_level=False,
        vocab_size=len(chars) + merge_count,
        initial_alphabet=chars,
        limit_alphabet=len(chars),
        max_token_length=MAX_ENTRY_CHARS,
    )
    rows = sorted(zip(spec.vocab.ids.tolist(), spec.vocab.pieces(), strict=True))
    return [piece for _, piece in rows if len(piece.decode()) > 1]


def merge_by_rank(piece: bytes, ranks: dict[bytes, int], min_parts: int = 1) -> list[bytes]:
    """Merges the bytes of a piece by rank, leftmost first, until ``min_parts`` parts remain or no merge is possible."""
    parts = [piece[i : i + 1] for i in range(len(piece))]
    while len(parts) > min_parts:
        candidates = [(ranks.get(a + b, len(ranks)), i) for i, (a, b) in enumerate(pairwise(parts))]
        rank, i = min(candidates)
        if rank == len(ranks):
            break
        parts[i : i + 2] = [parts[i] + parts[i + 1]]
    return parts


def is_allowed(entry: bytes) -> bool:
    """Reports whether an entry can be in the vocabulary. Such an entry is not too long, has few line breaks, and does
    not mix parts of emoji with ASCII. A run of one sign must have 2, 3, 4, 8 or 16 signs.
    """
    token = entry.decode()
    token_without_spaces = token.lstrip(" ")
    is_sign_run = len(token_without_spaces) > 3 and len(set(token_without_spaces)) == 1
    return (
        len(entry) <= MAX_ENTRY_BYTES
        and (not is_sign_run or len(token_without_spaces) in (4, 8, 16))
        and (token.count("\n") <= MAX_LINE_BREAKS or not token.strip())
        and not (_EMOJI_JOINER_PATTERN.search(token) and _ASCII_SIGN_PATTERN.search(token))
    )


def reachable_entries_of(entries: list[bytes]) -> list[bytes]:
    """Removes entries until merging the bytes of each entry by rank produces the entry, and returns the other
    entries."""
    while True:
        ranks = {entry: rank for rank, entry in enumerate(entries)}
        reachable_entries = [entry for entry in entries if merge_by_rank(entry, ranks) == [entry]]
        if len(reachable_entries) == len(entries):
            return reachable_entries
        entries = reachable_entries


def count_blocks_with_entry(entries: list[bytes], corpus: Path) -> list[int]:
    """Returns, for each entry, the number of blocks that use the entry or an entry merged from it. Chat is not
    counted."""
    ranks = {entry: rank for rank, entry in enumerate(entries)}
    tokenizer = polytok.load(format_rank_file(entries), format="tiktoken", pattern=DEFAULT_PATTERN, special_tokens={})
    block_masks = [0] * len(entries)
    sources = (source for source in text.read_sources(corpus) if source.name != text.CHAT_FILE)
    blocks = (block for source in sources for block in text.training_blocks(source))
    for block_index, block in enumerate(blocks):
        for token in set(tokenizer.encode(block)):
            block_masks[token] |= 1 << block_index
    for rank in range(len(entries) - 1, 255, -1):
        for part in merge_by_rank(entries[rank], ranks, min_parts=2):
            block_masks[ranks[part]] |= block_masks[rank]
    return [block_mask.bit_count() for block_mask in block_masks]


def occurs_in_enough_blocks(entry: bytes, blocks: int) -> bool:
    letter_count = len(_LETTER_PATTERN.findall(entry.decode(errors="ignore")))
    return letter_count < 2 or blocks >= (
        MIN_BLOCKS_FOR_TWO_LETTERS if letter_count == 2 else MIN_BLOCKS_FOR_MORE_LETTERS
    )


def train_vocabulary(counts: text.PieceCounts, corpus: Path) -> list[bytes]:
    size = DEFAULT_SIZE - len(DEFAULT_SPECIAL_TOKENS)
    pieces = text.weighted_counts(counts, TOTAL_CHAR_COUNT)
    chars = char_entries(pieces, list_forced_chars(pieces))
    first_entries = (
        [bytes([byte]) for byte in range(256)] + prefix_entries() + char_building_entries(chars) + number_entries()
    )
    merges = train_merges(pieces, chars, size - len(first_entries) + EXTRA_MERGE_COUNT)
    entries = reachable_entries_of(list(dict.fromkeys([*first_entries, *filter(is_allowed, merges)])))
    block_counts = count_blocks_with_entry(entries, corpus)
    frequent_entries = [
        entry for entry, blocks in zip(entries, block_counts, strict=True) if occurs_in_enough_blocks(entry, blocks)
    ]
    final_entries = reachable_entries_of(frequent_entries)
    if len(final_entries) < size:
        raise SystemExit(f"only {len(final_entries)} of {size} entries remain after the rules: raise EXTRA_MERGE_COUNT")
    return final_entries[:size]


def format_rank_file(entries: list[bytes]) -> bytes:
    return b"".join(base64.b64encode(entry) + b" %d\n" % rank for rank, entry in enumerate(entries))


def format_pairs_file(entries: list[bytes]) -> bytes:
    """Formats the ids of the two parts of each entry after the 256 bytes as crates/polytok-core/src/wire/pairs.rs
    describes.
    """
    ranks = {entry: rank for rank, entry in enumerate(entries)}
    pairs = ([ranks[part] for part in merge_by_rank(entry, ranks, min_parts=2)] for entry in entries[256:])
    left, right = zip(*pairs, strict=True)
    return b"".join(bytes(id >> shift & 255 for id in ids) for shift in (8, 0) for ids in (left, right))


def format_provenance(inputs: list[text.Source], entries: list[bytes], digest: str) -> str:
    merged_texts = [entry.decode(errors="replace") for entry in entries if len(entry) > 1]
    prefix_count = sum("\ufffd" in token for token in merged_texts)
    char_entry_count = sum(len(token) == 1 for token in merged_texts) - prefix_count
    rows = [f"| {s.name} | {s.size:,} | `{s.sha256[:16]}` | {text.SOURCE_SHARES[s.name]:g} |" for s in inputs]
    return "\n".join(
        [
            (
                f'Trainer: polytok\'s (`kind="bpe"`, `trainer="huggingface"`), over weighted pieces; '
                f"`regex` {regex.__version__} for the pieces; Python {platform.python_version()}."
            ),
            "",
            f"sha256 as a rank file (`default_ranks()` of `polytok.data`): `{digest}`",
            "",
            (
                f"Entries: 256 bytes, {prefix_count:,} prefixes of characters, {char_entry_count:,} characters beyond "
                f"ASCII, {len(merged_texts) - prefix_count - char_entry_count:,} merges, "
                f"{len(DEFAULT_SPECIAL_TOKENS)} special token."
            ),
            "",
            "| Trained on | bytes | sha256 begins | share of counted characters |",
            "|---|---:|---|---:|",
            *rows,
        ]
    )


def main() -> None:
    parser = argparse.ArgumentParser(description="Train the default vocabulary.")
    parser.add_argument("corpus", type=Path, help="directory with the files named in default_vocab_text.SOURCE_SHARES")
    corpus: Path = parser.parse_args().corpus
    counts = text.PieceCounts()
    inputs = []
    for source in text.read_sources(corpus):
        counts.add(source)
        inputs.append(source)
    entries = train_vocabulary(counts, corpus)
    digest = hashlib.sha256(format_rank_file(entries)).hexdigest()
    (DATA / DEFAULT_FILE).write_bytes(format_pairs_file(entries))
    module = DATA / "__init__.py"
    source_text = module.read_text(encoding="utf-8")
    module.write_text(re.sub(r'"[0-9a-f]{64}"', f'"{digest}"', source_text), encoding="utf-8")
    write_section("provenance", format_provenance(inputs, entries, digest))


if __name__ == "__main__":
    main()
