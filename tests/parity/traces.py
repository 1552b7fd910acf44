"""Traces random texts by all vocabularies of the conformance data: the ids of a trace are those of `encode`.

``python tests/parity/traces.py --texts 100000`` divides the texts among the vocabularies: random texts with entries and
special tokens of the vocabulary, texts that are not UTF-8, and lines of the corpus, with random options. Prints a row
for each vocabulary, and the differences; the exit code is 1 if there are any.

``--models 500`` also traces texts by 500 random `tokenizer.json` documents, and by 500 random SentencePiece models for
each of its two lines.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import chain
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import polytok
from incremental_samples import real_files
from polytok.spec import SentencePieceVersion, Spec
from test_twins import sentencepiece_models
from trace_samples import compare, random_document

_BATCHES_PER_TEXT = 1.5
"""For each random text, `compare` adds a quarter of a text that is not UTF-8, and a quarter of a line."""
_TEXTS_PER_MODEL = 12


def main() -> int:
    """Prints the table; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--texts", type=int, default=100_000, help="the number of texts over all vocabularies")
    parser.add_argument("--only", default="", help="a part of the paths of the vocabularies")
    parser.add_argument("--models", type=int, default=500, help="the number of random models of each kind")
    parser.add_argument("--seed", type=int, default=20)
    arguments = parser.parse_args()
    files = [path for path in real_files() if arguments.only in str(path)]
    count = int(arguments.texts / max(len(files), 1) / _BATCHES_PER_TEXT) + 1
    total = difference_count = 0
    print("| vocabulary | traces | differences |\n|---|---|---|")
    vocabularies = ((path.name, compare(polytok.load(path), count, arguments.seed)) for path in files)
    for name, (traces, differences) in chain(vocabularies, random_models(arguments.models)):
        print(f"| {name} | {traces:,} | {len(differences)} |", flush=True)
        for difference in differences[:3]:
            print(f"{name}: {difference}", file=sys.stderr)
        total, difference_count = total + traces, difference_count + len(differences)
    print(f"| all | {total:,} | {difference_count} |")
    return int(difference_count > 0)


def random_models(count: int) -> Iterator[tuple[str, tuple[int, list[str]]]]:
    """Yields the name of each kind of random models, with the number of traces and the differences."""
    documents = (random_document(seed) for seed in range(count))
    yield "random tokenizer.json", _compare_all(documents)
    lines: tuple[SentencePieceVersion, ...] = ("0.2.1", "0.2.3")
    for line in lines:
        yield f"random models of sentencepiece {line}", _compare_all(_compiled(sentencepiece_models(line, count)))


def _compiled(specs: Iterable[Spec]) -> Iterator[polytok.Tokenizer]:
    for spec in specs:
        with suppress(polytok.SpecError):  # a model that sentencepiece refuses too
            yield polytok.Tokenizer(spec)


def _compare_all(tokenizers: Iterable[polytok.Tokenizer]) -> tuple[int, list[str]]:
    traces, differences = 0, list[str]()
    for seed, tokenizer in enumerate(tokenizers):
        number, found = compare(tokenizer, _TEXTS_PER_MODEL, seed)
        traces += number
        differences += [f"model {seed}: {difference}" for difference in found]
    return traces, differences


if __name__ == "__main__":
    sys.exit(main())
