"""Compares vocabularies for longest match on held-out text, and writes the table in docs/training.md.

The files of the corpus are split into blocks of whole lines. Every second block is held out; the others are the
training text.

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
DOC = ROOT / "docs" / "training.md"
BEGIN, END = "<!-- longest-match: begin -->\n", "<!-- longest-match: end -->"
BLOCK_BYTES = 1 << 16
SIZES = (16_384, 32_768, 65_536)
EXCLUDED_FILE = "utf8_sequence_0x10ffff.txt"


def blocks(data: bytes) -> Iterator[bytes]:
    """Splits text into blocks of whole lines, each a little longer than `BLOCK_BYTES`."""
    block: list[bytes] = []
    size = 0
    for line in data.splitlines(keepends=True):
        block.append(line)
        size += len(line)
        if size > BLOCK_BYTES:
            yield b"".join(block)
            block, size = [], 0
    yield b"".join(block)


def split_corpus() -> tuple[list[bytes], list[bytes]]:
    """Returns the blocks of training text and the blocks that are held out."""
    training_blocks, held_out_blocks = [], []
    for path in sorted((DATA / "corpus").glob("*.txt")):
        if path.name != EXCLUDED_FILE:
            file_blocks = list(blocks(path.read_bytes()))
            training_blocks += file_blocks[::2]
            held_out_blocks += file_blocks[1::2]
    return training_blocks, held_out_blocks


def to_longest_match(tokenizer: Tokenizer) -> Tokenizer:
    """Returns a tokenizer that applies longest match to the entries of another model."""
    pieces = tokenizer.spec.vocab.pieces()
    return Tokenizer(Spec(Vocab.from_rows((piece, id, 0.0, Kind.NORMAL) for id, piece in enumerate(pieces)), Longest()))


def rows() -> Iterator[str]:
    """Yields the rows of the table."""
    training_blocks, held_out_blocks = split_corpus()
    size = sum(map(len, held_out_blocks))

    def row(ids: int, name: str, tokenizer: Tokenizer) -> str:
        tokens = sum(tokenizer.count(text) for text in held_out_blocks)
        return f"| {ids:,} | {name} | {tokens:,} | {size / tokens:.3f} |"

    yield "| ids | vocabulary | tokens of held-out text | bytes a token |"
    yield "|---:|---|---:|---:|"
    counts = count_words(training_blocks, "longest-match")
    for ids in SIZES:
        yield row(ids, "`longest-match`", train(counts, "longest-match", vocab_size=ids))
        bpe = train(training_blocks, "bpe", vocab_size=ids, pattern="default")
        yield row(ids, "`bpe`", bpe)
        yield row(ids, "entries of `bpe` by longest match", to_longest_match(bpe))
    world_tokenizer = load(DATA / "vocab/rwkv/rwkv_vocab_v20230424.txt")
    yield row(world_tokenizer.vocab_size, "RWKV World", world_tokenizer)


def main() -> None:
    head, _, section = DOC.read_text(encoding="utf-8").partition(BEGIN)
    tail = section.partition(END)[2]
    table = "\n".join(rows())
    DOC.write_text(f"{head}{BEGIN}\n{table}\n\n{END}{tail}", encoding="utf-8")
    print(table)


if __name__ == "__main__":
    main()
