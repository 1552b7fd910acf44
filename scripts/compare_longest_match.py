"""Compares vocabularies for longest match on held-out text, and writes the table in docs/training.md.

The files of the corpus are split into blocks of whole lines. Training uses every second block; the other blocks are
held out.

    python scripts/compare_longest_match.py
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from polytok import Kind, Spec, Tokenizer, Vocab, count_words, load, train
from polytok.spec import Longest

ROOT = Path(__file__).resolve().parent.parent
DATA = Path(os.environ.get("POLYTOK_DATA", ROOT / "../shared/data"))
DOC_PATH = ROOT / "docs" / "training.md"
BEGIN_MARKER, END_MARKER = "<!-- longest-match: begin -->\n", "<!-- longest-match: end -->"
BLOCK_BYTES = 1 << 16
SIZES = (16_384, 32_768, 65_536)
EXCLUDED_FILE = "utf8_sequence_0x10ffff.txt"


def split_blocks(data: bytes) -> Iterator[bytes]:
    """Splits text into blocks of whole lines; each block is a little longer than `BLOCK_BYTES`."""
    block: list[bytes] = []
    byte_count = 0
    for line in data.splitlines(keepends=True):
        block.append(line)
        byte_count += len(line)
        if byte_count > BLOCK_BYTES:
            yield b"".join(block)
            block, byte_count = [], 0
    yield b"".join(block)


def split_corpus() -> tuple[list[bytes], list[bytes]]:
    """Returns the blocks for training and the held-out blocks."""
    training_blocks, held_out_blocks = [], []
    for path in sorted((DATA / "corpus").glob("*.txt")):
        if path.name != EXCLUDED_FILE:
            file_blocks = list(split_blocks(path.read_bytes()))
            training_blocks += file_blocks[::2]
            held_out_blocks += file_blocks[1::2]
    return training_blocks, held_out_blocks


def to_longest_match(tokenizer: Tokenizer) -> Tokenizer:
    """Returns a tokenizer that applies longest match to the entries of another model."""
    pieces = tokenizer.spec.vocab.pieces()
    return Tokenizer(Spec(Vocab.from_rows((piece, id, 0.0, Kind.NORMAL) for id, piece in enumerate(pieces)), Longest()))


def table_rows() -> Iterator[str]:
    """Yields the rows of the table."""
    training_blocks, held_out_blocks = split_corpus()
    byte_count = sum(map(len, held_out_blocks))

    def format_row(vocab_size: int, name: str, tokenizer: Tokenizer) -> str:
        token_count = sum(tokenizer.count(text) for text in held_out_blocks)
        return f"| {vocab_size:,} | {name} | {token_count:,} | {byte_count / token_count:.3f} |"

    yield "| ids | vocabulary | tokens of held-out text | bytes a token |"
    yield "|---:|---|---:|---:|"
    counts = count_words(training_blocks, "longest-match")
    for vocab_size in SIZES:
        yield format_row(vocab_size, "`longest-match`", train(counts, "longest-match", vocab_size=vocab_size))
        bpe_tokenizer = train(training_blocks, "bpe", vocab_size=vocab_size, pattern="default")
        yield format_row(vocab_size, "`bpe`", bpe_tokenizer)
        yield format_row(vocab_size, "entries of `bpe` by longest match", to_longest_match(bpe_tokenizer))
    world_tokenizer = load(DATA / "vocab/rwkv/rwkv_vocab_v20230424.txt")
    yield format_row(world_tokenizer.vocab_size, "RWKV World", world_tokenizer)


def main() -> None:
    text_before, _, section = DOC_PATH.read_text(encoding="utf-8").partition(BEGIN_MARKER)
    text_after = section.partition(END_MARKER)[2]
    table = "\n".join(table_rows())
    DOC_PATH.write_text(f"{text_before}{BEGIN_MARKER}\n{table}\n\n{END_MARKER}{text_after}", encoding="utf-8")
    print(table)


if __name__ == "__main__":
    main()
