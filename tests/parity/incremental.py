"""Compares texts that arrive in chunks or grow with the whole texts, over all vocabularies of the conformance data.

``python tests/parity/incremental.py --texts 150 --chunkings 2`` divides each text at every byte: each vocabulary gets
its own random texts, and as many lines of the corpus. It also divides each file of the corpus at random, for an encoder
and for a text that grows. Prints a row for each vocabulary, and the differences; the exit code is 1 if there are any.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass
from pathlib import Path
from random import Random

sys.path.insert(0, str(Path(__file__).parents[1]))

import polytok
from incremental_samples import CORPUS, difficult_texts, real_files

_LONGEST_TEXT = 300
_CORPUS_BYTES = 100_000


@dataclass
class Result:
    """The numbers of comparisons and of differences."""

    splits: int = 0
    chunkings: int = 0
    differences: int = 0


def main() -> int:
    """Prints the table; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--texts", type=int, default=150, help="the number of random texts, and of lines")
    parser.add_argument("--chunkings", type=int, default=2, help="the number of divisions of each file")
    parser.add_argument("--only", default="", help="a part of the paths of the vocabularies")
    arguments = parser.parse_args()
    total = Result()
    print("| vocabulary | splits | chunkings | differences |\n|---|---|---|---|")
    for path in real_files():
        if arguments.only in str(path):
            result = compare(polytok.load(path), arguments.texts, arguments.chunkings)
            print(f"| {path.name} | {result.splits:,} | {result.chunkings} | {result.differences} |", flush=True)
            for field in ("splits", "chunkings", "differences"):
                setattr(total, field, getattr(total, field) + getattr(result, field))
    print(f"| all | {total.splits:,} | {total.chunkings} | {total.differences} |")
    return int(total.differences > 0)


def compare(tokenizer: polytok.Tokenizer, texts: int, chunkings: int) -> Result:
    """Compares every split of random texts, and random chunkings of the corpus, with encoding the whole text."""
    result, rng = Result(), Random(11)
    for text in difficult_texts(tokenizer._core, texts, seed=11):
        text = text[:_LONGEST_TEXT]
        options = polytok.Options(add_special=rng.random() < 0.5, special=rng.choice(["all", ()]))
        ids = tokenizer.encode(text, options=options)
        encoder = tokenizer.encoder(options=options)
        for end in range(len(text) + 1):
            result.splits += 1
            pushed = encoder.push(text[:end]) + encoder.push(text[end:]) + encoder.finish()
            result.differences += pushed != ids
    for file in sorted(CORPUS.glob("*.txt")):
        data = file.read_bytes()[:_CORPUS_BYTES]
        ids = tokenizer.encode(data)
        for _ in range(chunkings):
            chunks = _chunks(rng, data)
            encoder = tokenizer.encoder()
            pushed = [id for chunk in chunks for id in encoder.push(chunk)] + encoder.finish()
            growing, grown = tokenizer.incremental(), list[int]()
            for chunk in chunks:
                change = growing.append(chunk)
                grown[change.kept :] = change.ids
            result.chunkings += 2
            result.differences += (pushed != ids) + (grown != ids or growing.ids != ids)
    return result


def _chunks(rng: Random, data: bytes) -> list[bytes]:
    """Returns chunks of a random average length between 10 bytes and all bytes."""
    count = int(len(data) / 10 ** rng.uniform(1, 5))
    ends = sorted(rng.randrange(len(data) + 1) for _ in range(count))
    return [data[start:end] for start, end in zip([0, *ends], [*ends, len(data)], strict=True)]


if __name__ == "__main__":
    sys.exit(main())
