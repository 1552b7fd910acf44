"""Compares decoders of ids that arrive one by one with decoding all ids, over all vocabularies of the conformance data.

``python tests/parity/streams.py --lines 40 --random 600`` decodes lines of each file of the corpus, and random ids with
many bytes and special tokens, one id at a time, several at a time, and many replies together. For a `tokenizer.json`, a
`DecodeStream` of the package tokenizers decodes them too: where its texts are those of its own ``decode``, ours must be
the same. Prints a row for each vocabulary, and the differences; the exit code is 1 if there are any.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from dataclasses import astuple, dataclass
from pathlib import Path
from random import Random

sys.path.insert(0, str(Path(__file__).parents[1]))

import tokenizers
from tokenizers.decoders import DecodeStream

import polytok
from incremental_samples import CORPUS
from parity.references import HuggingFace
from parity.vocabularies import Vocabulary, all_vocabularies
from texts import first_lines, generate_ids

_LONGEST_LINE = 300
_CORPUS_BYTES = 100_000


@dataclass
class Result:
    """The numbers of lists, of their ids, of comparisons with `decode` and `DecodeStream`, and of differences."""

    lists: int = 0
    ids: int = 0
    decode: int = 0
    decode_stream: int = 0
    differences: int = 0

    def row(self, name: str) -> str:
        return "| " + " | ".join([name, *(f"{number:,}" for number in astuple(self))]) + " |"


def main() -> int:
    """Prints the table; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lines", type=int, default=40, help="the number of lines of each file")
    parser.add_argument("--random", type=int, default=600, help="the number of lists of random ids")
    parser.add_argument("--only", default="", help="a part of the names of the vocabularies")
    arguments = parser.parse_args()
    total = Result()
    print("| vocabulary | lists | ids | decode | DecodeStream | differences |\n|---|---|---|---|---|---|")
    for name, vocabulary in all_vocabularies().items():
        if arguments.only in name:
            result = compare(vocabulary, arguments.lines, arguments.random)
            print(result.row(name), flush=True)
            total = Result(*map(sum, zip(astuple(total), astuple(result), strict=True)))
    print(total.row("all"))
    return int(total.differences > 0)


def compare(vocabulary: Vocabulary, lines: int, random_lists: int) -> Result:
    """Compares the decoders of a vocabulary with decoding all ids, with and without special tokens."""
    tokenizer, result, rng = vocabulary.load(), Result(), Random(12)
    references = (found.tokenizer for found in vocabulary.references() if isinstance(found, HuggingFace))
    reference = next(references, None)
    rows = [*_encoded_lines(tokenizer, lines, rng)]
    rows += generate_ids(12, random_lists, tokenizer.vocab().ids.tolist(), vocabulary.favourite_ids())
    result.lists, result.ids = len(rows), sum(map(len, rows))
    for skip_special in (False, True):
        texts = [tokenizer.decode(ids, skip_special=skip_special) for ids in rows]
        for decoded in _decoded(tokenizer, rows, skip_special, rng):
            result.decode += len(rows)
            result.differences += sum(text != own for text, own in zip(texts, decoded, strict=True))
        for ids, text in zip(rows, texts, strict=True):
            if reference and (expected := _decode_stream(reference, ids, skip_special)) is not None:
                eager = tokenizer.decoder(skip_special=skip_special, eager=True)
                result.decode_stream += 2
                result.differences += (text != expected) + ("".join(map(eager.push, ids)) != expected)
    return result


def _encoded_lines(tokenizer: polytok.Tokenizer, count: int, rng: Random) -> Iterator[list[int]]:
    for path in sorted(CORPUS.glob("*.txt")):
        lines = first_lines(path, _CORPUS_BYTES)
        for line in rng.sample(lines, min(count, len(lines))):
            try:
                yield tokenizer.encode(line[:_LONGEST_LINE].decode(errors="ignore"), add_special=rng.random() < 0.3)
            except polytok.EncodeError:
                continue


def _decoded(
    tokenizer: polytok.Tokenizer, rows: Sequence[Sequence[int]], skip_special: bool, rng: Random
) -> Iterator[list[str]]:
    """Yields the texts of all lists: decoded id by id, by several ids, all lists together, and with offsets."""
    stream = tokenizer.decoder(skip_special=skip_special)
    yield ["".join([*map(stream.push, ids), stream.finish()]) for ids in rows]
    yield ["".join([*map(stream.push, _parts(ids, rng)), stream.finish()]) for ids in rows]
    together, texts = tokenizer.decoders(len(rows), skip_special=skip_special), [""] * len(rows)
    for at in range(max(map(len, rows), default=0)):
        step = together.push([ids[at] if at < len(ids) else None for ids in rows])
        texts = [text + more for text, more in zip(texts, step, strict=True)]
    yield [text + together.finish(place) for place, text in enumerate(texts)]
    yield ["".join(tokenizer.decode_with_offsets(ids, skip_special=skip_special).pieces) for ids in rows]


def _parts(ids: Sequence[int], rng: Random) -> Iterator[Sequence[int]]:
    """Yields the ids in parts of up to four."""
    at = 0
    while at < len(ids):
        size = rng.randrange(1, 5)
        yield ids[at : at + size]
        at += size


def _decode_stream(reference: tokenizers.Tokenizer, ids: Sequence[int], skip_special: bool) -> str | None:
    """Returns the text of a `DecodeStream`, or None if this is not the text of decoding all ids."""
    stream = DecodeStream(skip_special_tokens=skip_special)
    try:
        text = "".join([stream.step(reference, id) or "" for id in ids])
    except Exception:  # its "Invalid prefix encountered"
        return None
    return text if text == reference.decode(ids, skip_special_tokens=skip_special) else None


if __name__ == "__main__":
    sys.exit(main())
