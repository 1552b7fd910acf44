"""Compare vocabularies for longest match on text that none of ours was trained on, in docs/training.md.

The files of the corpus are cut into blocks of whole lines; every other block is trained on, the rest is held out.

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
BLOCK = 1 << 16
SIZES = (16_384, 32_768, 65_536)
NO_TEXT = "utf8_sequence_0x10ffff.txt"


def blocks(data: bytes) -> Iterator[bytes]:
    """Whole lines, a little more than a block of them."""
    block: list[bytes] = []
    size = 0
    for line in data.splitlines(keepends=True):
        block.append(line)
        size += len(line)
        if size > BLOCK:
            yield b"".join(block)
            block, size = [], 0
    yield b"".join(block)


def halves() -> tuple[list[bytes], list[bytes]]:
    trained, held_out = [], []
    for path in sorted((DATA / "corpus").glob("*.txt")):
        if path.name != NO_TEXT:
            cut = list(blocks(path.read_bytes()))
            trained += cut[::2]
            held_out += cut[1::2]
    return trained, held_out


def greedy(tokenizer: Tokenizer) -> Tokenizer:
    """The entries of another model, used by longest match."""
    pieces = tokenizer.spec.vocab.pieces()
    return Tokenizer(Spec(Vocab.from_rows((piece, id, 0.0, Kind.NORMAL) for id, piece in enumerate(pieces)), Longest()))


def rows() -> Iterator[str]:
    trained, held_out = halves()
    size = sum(map(len, held_out))

    def row(ids: int, name: str, tokenizer: Tokenizer) -> str:
        tokens = sum(tokenizer.count(text) for text in held_out)
        return f"| {ids:,} | {name} | {tokens:,} | {size / tokens:.3f} |"

    yield "| ids | vocabulary | tokens of held-out text | bytes a token |"
    yield "|---:|---|---:|---:|"
    counts = count_words(trained, "longest-match")
    for ids in SIZES:
        yield row(ids, "`longest-match`", train(counts, "longest-match", vocab_size=ids))
        bpe = train(trained, "bpe", vocab_size=ids, pattern="default")
        yield row(ids, "`bpe`", bpe)
        yield row(ids, "entries of `bpe` by longest match", greedy(bpe))
    world = load(DATA / "vocab/rwkv/rwkv_vocab_v20230424.txt")
    yield row(world.vocab_size, "RWKV World", world)


def main() -> None:
    before, _, rest = DOC.read_text(encoding="utf-8").partition(BEGIN)
    after = rest.partition(END)[2]
    table = "\n".join(rows())
    DOC.write_text(f"{before}{BEGIN}\n{table}\n\n{END}{after}", encoding="utf-8")
    print(table)


if __name__ == "__main__":
    main()
