"""Train the embedded default vocabulary, python/polytok/data/default.tiktoken, from text.

A byte-complete BPE, ranked as tiktoken's files are: first the 256 bytes; then, for every character worth an entry, the
prefixes of its UTF-8 bytes and the character; then the merges of characters, in the order trained. So every entry is
a byte, a prefix of one character, or whole characters; none begins or ends inside a neighbour. What assembles a
character ranks below everything else, therefore merging bytes by rank builds the characters first and then repeats
the trained merges.

Not text is trained on but pieces of the split pattern, weighted by file and filtered by rule: see
default_vocab_text.py. The same inputs give the same bytes.

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
# A character counted less often than this stays bytes; about as often as the last merges.
MIN_CHAR_COUNT = 110
FREQUENT_EMOJI = 300
# Part of many emoji: zero-width joiner, emoji presentation, keycap, skin tones, flag letters.
EMOJI_PARTS = "\u200d\ufe0f\u20e3" + "".join(map(chr, [*range(0x1F3FB, 0x1F400), *range(0x1F1E6, 0x1F200)]))
MAX_ENTRY_CHARS = 16
MAX_ENTRY_BYTES = 32
# Trained beyond what is needed, to replace what the rules take away.
SPARE_MERGES = 2500
MAX_LINE_BREAKS = 2
# An entry of two letters, or of more, must serve so many blocks of text other than chat: no poets of an anthology, no
# single topic, no brands and swear words of the day.
MIN_BLOCKS_TWO = 3
MIN_BLOCKS_MORE = 6

_EMOJI = regex.compile(r"(?!\p{ASCII})\p{Emoji}")
# Characters that get an entry however often the corpus has them. Emoji: faces, hands, hearts, the symbols that became
# emoji; the corpus lists all emoji once and says little about which are used.
_COMMON_EMOJI = regex.compile(
    r"[\u2600-\u27bf\U0001f446-\U0001f450\U0001f493-\U0001f49f\U0001f600-\U0001f64f\U0001f90c-\U0001f93e"
    r"\U0001f970-\U0001f97a\U0001f5a4\U0001f9e1\U0001f480\U0001f4a9-\U0001f4af]"
)
# Letters: whole alphabets, also of scripts with millions of readers and no text in the corpus; no archaic extensions.
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
    """The characters that get an entry of their own: ASCII, the frequent and the forced ones; most frequent first."""
    counts: Counter[str] = Counter()
    for piece, count in pieces.items():
        for char in piece:
            counts[char] += count
    chosen = {char for char, count in counts.items() if count >= MIN_CHAR_COUNT}
    chosen |= set(forced) | set(map(chr, range(128)))
    chosen -= {text.BOUNDARY, "\ufffd"}
    return sorted(chosen, key=lambda char: (-counts[char], char))


def frequent_emoji(pieces: Counter[str]) -> list[str]:
    counts: Counter[str] = Counter()
    for piece, count in pieces.items():
        for char in _EMOJI.findall(piece):
            counts[char] += count
    return sorted(counts, key=lambda char: (-counts[char], char))[:FREQUENT_EMOJI]


def row_prefixes() -> list[bytes]:
    """All but the last byte of each row of 64 characters: none below U+10000 and no emoji costs more than two entries,
    but for the rare ones of Han Extension A and private use.
    """
    codes = (*range(0x800, 0x3400), *range(0x4DC0, 0xD800), *range(0xF900, 0x10000))
    below = {chr(code).encode()[:-1] for code in codes if unicodedata.category(chr(code)) != "Cn"}
    emoji = {chr(code).encode()[:-1] for code in range(0x1F000, 0x1FB00)}
    return [*sorted(below), "\U0001f600".encode()[:2], *sorted(emoji)]


def forced_chars(pieces: Counter[str]) -> list[str]:
    chars = [chr(code) for code in (*range(0x80, 0xD800), *range(0xE000, 0x1FB00))]
    alphabets = [char for char in chars if char.isprintable() and _ALPHABET.match(char)]
    emoji = [char for char in chars if _COMMON_EMOJI.match(char) and _EMOJI.match(char)]
    return [*EMOJI_PARTS, *frequent_emoji(pieces), *emoji, *alphabets]


def numbers() -> list[bytes]:
    """All numbers of two and three digits: how a number is cut depends on its length alone."""
    return [b"%02d" % number for number in range(100)] + [b"%03d" % number for number in range(1000)]


def assembly(chars: Iterable[str]) -> list[bytes]:
    """The entries that build characters out of bytes, prefixes before what they begin."""
    entries: dict[bytes, None] = {}
    for char in chars:
        encoded = char.encode()
        for end in range(2, len(encoded) + 1):
            entries.setdefault(encoded[:end])
    return list(entries)


def training_words(pieces: Counter[str], chars: list[str]) -> Iterator[tuple[bytes, int]]:
    """Each piece with its count, cut at characters without an entry."""
    unknown = regex.compile("[^" + regex.escape("".join(chars), special_only=False) + "]+")
    for piece, count in sorted(pieces.items()):
        if count and not _NUMBER.fullmatch(piece):
            for part in filter(None, unknown.split(piece)):
                if len(part) > 1:
                    yield part.encode(), count


def trained_merges(pieces: Counter[str], chars: list[str], wanted: int) -> list[bytes]:
    """What the trainer merges, in its order."""
    counts = polytok.Counts()
    counts.add(training_words(pieces, chars))
    [spec] = specs(
        counts,
        kind="bpe",
        ties="huggingface",
        byte_level=False,
        vocab_size=len(chars) + wanted,
        initial_alphabet=chars,
        limit_alphabet=len(chars),
        max_token_length=MAX_ENTRY_CHARS,
    )
    rows = sorted(zip(spec.vocab.ids.tolist(), spec.vocab.pieces(), strict=True))
    return [piece for _, piece in rows if len(piece.decode()) > 1]


def merge(piece: bytes, ranks: dict[bytes, int], until: int = 1) -> list[bytes]:
    """Merge the bytes of a piece by rank, leftmost first, until so many parts are left; no whole-piece shortcut."""
    parts = [piece[i : i + 1] for i in range(len(piece))]
    while len(parts) > until:
        candidates = [(ranks.get(a + b, len(ranks)), i) for i, (a, b) in enumerate(pairwise(parts))]
        rank, i = min(candidates)
        if rank == len(ranks):
            break
        parts[i : i + 2] = [parts[i] + parts[i + 1]]
    return parts


def allowed(entry: bytes) -> bool:
    """Not too long, no run of one sign but of 2, 3, 4, 8 or 16, few line breaks, no emoji parts glued to ASCII."""
    token = entry.decode()
    sign = token.lstrip(" ")
    is_run = len(sign) > 3 and len(set(sign)) == 1
    return (
        len(entry) <= MAX_ENTRY_BYTES
        and (not is_run or len(sign) in (4, 8, 16))
        and (token.count("\n") <= MAX_LINE_BREAKS or not token.strip())
        and not (_EMOJI_GLUE.search(token) and _ASCII_SIGN.search(token))
    )


def reachable_only(entries: list[bytes]) -> list[bytes]:
    """The entries that merging by rank can produce from their own bytes, given no others."""
    while True:
        ranks = {entry: rank for rank, entry in enumerate(entries)}
        kept = [entry for entry in entries if merge(entry, ranks) == [entry]]
        if len(kept) == len(entries):
            return kept
        entries = kept


def blocks_served(entries: list[bytes], corpus: Path) -> list[int]:
    """In how many blocks of text other than chat each entry is used, by itself or in the entries merged from it."""
    ranks = {entry: rank for rank, entry in enumerate(entries)}
    tokenizer = polytok.load(rank_file(entries), format="tiktoken", pattern=DEFAULT_PATTERN, special_tokens={})
    seen = [0] * len(entries)
    sources = (source for source in text.sources(corpus) if source.name != text.CHAT)
    blocks = (block for source in sources for block in text.blocks(source))
    for number, block in enumerate(blocks):
        for token in set(tokenizer.encode(block)):
            seen[token] |= 1 << number
    for rank in range(len(entries) - 1, 255, -1):
        for part in merge(entries[rank], ranks, until=2):
            seen[ranks[part]] |= seen[rank]
    return [served.bit_count() for served in seen]


def is_spread(entry: bytes, blocks: int) -> bool:
    letters = len(_LETTER.findall(entry.decode(errors="ignore")))
    return letters < 2 or blocks >= (MIN_BLOCKS_TWO if letters == 2 else MIN_BLOCKS_MORE)


def vocabulary(counts: text.PieceCounts, corpus: Path) -> list[bytes]:
    size = DEFAULT_SIZE - len(DEFAULT_SPECIAL_TOKENS)
    pieces = text.weighted(counts, COUNTED_CHARS)
    chars = char_entries(pieces, forced_chars(pieces))
    start = [bytes([byte]) for byte in range(256)] + row_prefixes() + assembly(chars) + numbers()
    merges = trained_merges(pieces, chars, size - len(start) + SPARE_MERGES)
    entries = reachable_only(list(dict.fromkeys([*start, *filter(allowed, merges)])))
    served = blocks_served(entries, corpus)
    spread = [entry for entry, blocks in zip(entries, served, strict=True) if is_spread(entry, blocks)]
    kept = reachable_only(spread)
    if len(kept) < size:
        raise SystemExit(f"only {len(kept)} of {size} entries are left: raise SPARE_MERGES")
    return kept[:size]


def rank_file(entries: list[bytes]) -> bytes:
    return b"".join(base64.b64encode(entry) + b" %d\n" % rank for rank, entry in enumerate(entries))


def provenance(inputs: list[text.Source], entries: list[bytes], digest: str) -> str:
    multi = [entry.decode(errors="replace") for entry in entries if len(entry) > 1]
    partial = sum("\ufffd" in token for token in multi)
    single = sum(len(token) == 1 for token in multi) - partial
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
                f"Entries: 256 bytes, {partial:,} prefixes of characters, {single:,} characters beyond ASCII, "
                f"{len(multi) - partial - single:,} merges, {len(DEFAULT_SPECIAL_TOKENS)} special token."
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
    write_section("provenance", provenance(inputs, entries, digest))


if __name__ == "__main__":
    main()
