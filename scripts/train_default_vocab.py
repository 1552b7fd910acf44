"""Trains the embedded default vocabulary, python/polytok/data/default.tiktoken, from text.

The vocabulary is a BPE with all bytes, in the rank order of tiktoken's files: first the 256 bytes; then each character
that has an entry, after the prefixes of its UTF-8 bytes; then the merges of characters, in the order of training. So
every entry is a byte, a prefix of one character, or a sequence of whole characters. The entries that build characters
have the lowest ranks, so merging bytes by rank builds the characters first and then repeats the trained merges.

The training uses pieces of the split pattern, weighted by file and filtered by rules (default_vocab_text.py). The same
inputs produce the same bytes.

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

COUNTED_CHARS = 40_000_000
# The minimum count of a character with an entry, about the count of the last merges. Other characters stay bytes.
MIN_CHAR_COUNT = 110
FREQUENT_EMOJI_COUNT = 300
# Characters that many emoji contain: zero-width joiner, emoji presentation, keycap, skin tones, flag letters.
EMOJI_PARTS = "\u200d\ufe0f\u20e3" + "".join(map(chr, [*range(0x1F3FB, 0x1F400), *range(0x1F1E6, 0x1F200)]))
MAX_ENTRY_CHARS = 16
MAX_ENTRY_BYTES = 32
# The number of additional merges to train, which replace the merges that the rules remove.
SPARE_MERGES = 2500
MAX_LINE_BREAKS = 2
# The minimum number of blocks, other than chat, that must use an entry of two letters, and an entry of more letters.
# This excludes words of a single author or topic, brands and slang.
MIN_BLOCKS_OF_TWO_LETTERS = 3
MIN_BLOCKS_OF_MORE_LETTERS = 6

_EMOJI = regex.compile(r"(?!\p{ASCII})\p{Emoji}")
# Emoji that always have an entry: faces, hands, hearts, and symbols that are also emoji. The corpus lists every emoji
# once, so its counts do not show which emoji are frequent.
_COMMON_EMOJI = regex.compile(
    r"[\u2600-\u27bf\U0001f446-\U0001f450\U0001f493-\U0001f49f\U0001f600-\U0001f64f\U0001f90c-\U0001f93e"
    r"\U0001f970-\U0001f97a\U0001f5a4\U0001f9e1\U0001f480\U0001f4a9-\U0001f4af]"
)
# Letters that always have an entry: whole alphabets without archaic letters, including scripts with millions of readers
# that the corpus does not have.
_ALPHABET = regex.compile(
    r"[[\u00a1-\u017f\u0386-\u03ce\u0400-\u045f\u0490-\u0491\u0561-\u0586\u05d0-\u05ea\u0621-\u0652\u1ea0-\u1ef9"
    r"\u3041-\u3096\u30a1-\u30fc]||[[\p{Georgian}\p{Gurmukhi}\p{Kannada}\p{Khmer}\p{Lao}\p{Malayalam}\p{Oriya}"
    r"\p{Sinhala}\p{Telugu}]&&[\p{Ll}\p{Lo}\p{M}]&&[\u0800-\u17ff]]]",
    regex.V1,
)
_LETTER = regex.compile(r"\p{L}")
_NUMBER = re.compile(r"[0-9]+")
_EMOJI_GLUE = re.compile(r"[\ufe0f\u200d]")
_ASCII_SIGN = re.compile(r"[!-~]")


def char_entries(pieces: Counter[str], forced: Iterable[str]) -> list[str]:
    """Returns the characters that have an entry, most frequent first: ASCII, frequent and forced characters."""
    counts: Counter[str] = Counter()
    for piece, count in pieces.items():
        for char in piece:
            counts[char] += count
    chosen_chars = {char for char, count in counts.items() if count >= MIN_CHAR_COUNT}
    chosen_chars |= set(forced) | set(map(chr, range(128)))
    chosen_chars -= {text.BOUNDARY, "\ufffd"}
    return sorted(chosen_chars, key=lambda char: (-counts[char], char))


def frequent_emoji(pieces: Counter[str]) -> list[str]:
    counts: Counter[str] = Counter()
    for piece, count in pieces.items():
        for char in _EMOJI.findall(piece):
            counts[char] += count
    return sorted(counts, key=lambda char: (-counts[char], char))[:FREQUENT_EMOJI_COUNT]


def row_prefixes() -> list[bytes]:
    """Returns the first bytes of each row of 64 characters, without the last byte.

    With these entries, every character below U+10000 and every emoji is encoded to at most two entries, except for the
    rare characters of Han Extension A and private use.
    """
    codes = (*range(0x800, 0x3400), *range(0x4DC0, 0xD800), *range(0xF900, 0x10000))
    prefixes = {chr(code).encode()[:-1] for code in codes if unicodedata.category(chr(code)) != "Cn"}
    emoji = {chr(code).encode()[:-1] for code in range(0x1F000, 0x1FB00)}
    return [*sorted(prefixes), "\U0001f600".encode()[:2], *sorted(emoji)]


def forced_chars(pieces: Counter[str]) -> list[str]:
    chars = [chr(code) for code in (*range(0x80, 0xD800), *range(0xE000, 0x1FB00))]
    alphabets = [char for char in chars if char.isprintable() and _ALPHABET.match(char)]
    emoji = [char for char in chars if _COMMON_EMOJI.match(char) and _EMOJI.match(char)]
    return [*EMOJI_PARTS, *frequent_emoji(pieces), *emoji, *alphabets]


def number_entries() -> list[bytes]:
    """Returns all numbers of two and three digits, so that the digits of a number do not affect the token count."""
    return [b"%02d" % number for number in range(100)] + [b"%03d" % number for number in range(1000)]


def assembly_entries(chars: Iterable[str]) -> list[bytes]:
    """Returns the entries that build characters from bytes; each prefix precedes the longer entries."""
    entries: dict[bytes, None] = {}
    for char in chars:
        char_bytes = char.encode()
        for end in range(2, len(char_bytes) + 1):
            entries.setdefault(char_bytes[:end])
    return list(entries)


def training_words(pieces: Counter[str], chars: list[str]) -> Iterator[tuple[bytes, int]]:
    """Yields the pieces with their counts, split at characters without an entry."""
    unknown = regex.compile("[^" + regex.escape("".join(chars), special_only=False) + "]+")
    for piece, count in sorted(pieces.items()):
        if count and not _NUMBER.fullmatch(piece):
            for part in filter(None, unknown.split(piece)):
                if len(part) > 1:
                    yield part.encode(), count


def trained_merges(pieces: Counter[str], chars: list[str], merge_count: int) -> list[bytes]:
    """Returns the entries that the trainer merges, in its order."""
    counts = polytok.Counts()
    counts.add(training_words(pieces, chars))
    [spec] = specs(
        counts,
        kind="bpe",
        ties="huggingface",
        byte_level=False,
        vocab_size=len(chars) + merge_count,
        initial_alphabet=chars,
        limit_alphabet=len(chars),
        max_token_length=MAX_ENTRY_CHARS,
    )
    rows = sorted(zip(spec.vocab.ids.tolist(), spec.vocab.pieces(), strict=True))
    return [piece for _, piece in rows if len(piece.decode()) > 1]


def merge(piece: bytes, ranks: dict[bytes, int], min_parts: int = 1) -> list[bytes]:
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
    """Reports whether an entry is allowed.

    An allowed entry is not too long, has few line breaks, and has no part of an emoji next to ASCII. If the entry is a
    run of one sign, the run has 2, 3, 4, 8 or 16 signs.
    """
    token = entry.decode()
    sign = token.lstrip(" ")
    is_run = len(sign) > 3 and len(set(sign)) == 1
    return (
        len(entry) <= MAX_ENTRY_BYTES
        and (not is_run or len(sign) in (4, 8, 16))
        and (token.count("\n") <= MAX_LINE_BREAKS or not token.strip())
        and not (_EMOJI_GLUE.search(token) and _ASCII_SIGN.search(token))
    )


def keep_reachable(entries: list[bytes]) -> list[bytes]:
    """Returns the entries that merging by rank can produce from their own bytes with only these entries."""
    while True:
        ranks = {entry: rank for rank, entry in enumerate(entries)}
        reachable = [entry for entry in entries if merge(entry, ranks) == [entry]]
        if len(reachable) == len(entries):
            return reachable
        entries = reachable


def count_served_blocks(entries: list[bytes], corpus: Path) -> list[int]:
    """Returns the number of blocks, other than chat, that use each entry itself or an entry merged from it."""
    ranks = {entry: rank for rank, entry in enumerate(entries)}
    tokenizer = polytok.load(rank_file(entries), format="tiktoken", pattern=DEFAULT_PATTERN, special_tokens={})
    block_masks = [0] * len(entries)
    sources = (source for source in text.sources(corpus) if source.name != text.CHAT)
    blocks = (block for source in sources for block in text.blocks(source))
    for number, block in enumerate(blocks):
        for token in set(tokenizer.encode(block)):
            block_masks[token] |= 1 << number
    for rank in range(len(entries) - 1, 255, -1):
        for part in merge(entries[rank], ranks, min_parts=2):
            block_masks[ranks[part]] |= block_masks[rank]
    return [block_mask.bit_count() for block_mask in block_masks]


def is_spread(entry: bytes, blocks: int) -> bool:
    letters = len(_LETTER.findall(entry.decode(errors="ignore")))
    return letters < 2 or blocks >= (MIN_BLOCKS_OF_TWO_LETTERS if letters == 2 else MIN_BLOCKS_OF_MORE_LETTERS)


def vocabulary(counts: text.PieceCounts, corpus: Path) -> list[bytes]:
    size = DEFAULT_SIZE - len(DEFAULT_SPECIAL_TOKENS)
    pieces = text.weighted_counts(counts, COUNTED_CHARS)
    chars = char_entries(pieces, forced_chars(pieces))
    first_entries = [bytes([byte]) for byte in range(256)] + row_prefixes() + assembly_entries(chars) + number_entries()
    merges = trained_merges(pieces, chars, size - len(first_entries) + SPARE_MERGES)
    entries = keep_reachable(list(dict.fromkeys([*first_entries, *filter(is_allowed, merges)])))
    served_counts = count_served_blocks(entries, corpus)
    spread_entries = [entry for entry, blocks in zip(entries, served_counts, strict=True) if is_spread(entry, blocks)]
    result = keep_reachable(spread_entries)
    if len(result) < size:
        raise SystemExit(f"only {len(result)} of {size} entries remain: raise SPARE_MERGES")
    return result[:size]


def rank_file(entries: list[bytes]) -> bytes:
    return b"".join(base64.b64encode(entry) + b" %d\n" % rank for rank, entry in enumerate(entries))


def provenance_text(inputs: list[text.Source], entries: list[bytes], digest: str) -> str:
    merged_texts = [entry.decode(errors="replace") for entry in entries if len(entry) > 1]
    partial_count = sum("\ufffd" in token for token in merged_texts)
    single_count = sum(len(token) == 1 for token in merged_texts) - partial_count
    rows = [f"| {s.name} | {s.size:,} | `{s.sha256[:16]}` | {text.SHARES[s.name]:g} |" for s in inputs]
    return "\n".join(
        [
            (
                f'Trainer: polytok\'s (`kind="bpe"`, `ties="huggingface"`), over weighted pieces; '
                f"`regex` {regex.__version__} for the pieces; Python {platform.python_version()}."
            ),
            "",
            f"sha256 of `{DEFAULT_FILE}`: `{digest}`",
            "",
            (
                f"Entries: 256 bytes, {partial_count:,} prefixes of characters, {single_count:,} characters beyond "
                f"ASCII, {len(merged_texts) - partial_count - single_count:,} merges, "
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
    parser.add_argument("corpus", type=Path, help="directory with the files named in default_vocab_text.SHARES")
    corpus: Path = parser.parse_args().corpus
    counts = text.PieceCounts()
    inputs = []
    for source in text.sources(corpus):
        counts.add(source)
        inputs.append(source)
    entries = vocabulary(counts, corpus)
    content = rank_file(entries)
    digest = hashlib.sha256(content).hexdigest()
    (DATA / DEFAULT_FILE).write_bytes(content)
    module = DATA / "__init__.py"
    source_text = module.read_text(encoding="utf-8")
    module.write_text(re.sub(r'"[0-9a-f]{64}"', f'"{digest}"', source_text), encoding="utf-8")
    write_section("provenance", provenance_text(inputs, entries, digest))


if __name__ == "__main__":
    main()
