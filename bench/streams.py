"""Measures how long a server takes to decode one id of each of many replies, with polytok and with tokenizers.

``python -m bench.streams`` prints the table of docs/streaming.md. The replies are lines of the test corpus. In each
round, all contenders decode all replies in turn, one id of each reply a step, and the results are compared. A figure is
the median over the rounds of processor seconds divided by those of `Tokenizer.decoders` in the same round.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable, Sequence
from itertools import islice
from pathlib import Path

import tokenizers
from tokenizers.decoders import DecodeStream

import polytok

from . import markdown
from .cases import DATA

FILES = ("gpt2.json", "llama2.json", "llama32_rebuilt.json", "bert_base_cased.json")
STOP = ("<|im_end|>", "\n\nUser:", "###")
Step = list[int]
Decode = Callable[[Sequence[Step]], list[str]]


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--replies", type=int, default=64)
    parser.add_argument("--tokens", type=int, default=400, help="tokens of each reply")
    parser.add_argument("--rounds", type=int, default=15)
    arguments = parser.parse_args()
    head = ("file", "`decoders`, ns an id", "with `stop`", "`decoder` for each", "`DecodeStream` for each")
    rows = [measure(DATA / "vocab" / "huggingface" / name, arguments) for name in FILES]
    print(markdown.table(head, rows))


def measure(path: Path, arguments: argparse.Namespace) -> list[str]:
    """Returns a row of the table."""
    tokenizer = polytok.load(path)
    steps = list(map(list, zip(*reply_ids(tokenizer, arguments.replies, arguments.tokens), strict=True)))
    contenders = create_contenders(tokenizer, tokenizers.Tokenizer.from_file(str(path)))
    rounds = [time_round(contenders, steps) for _ in range(arguments.rounds + 1)][1:]
    ids = arguments.replies * arguments.tokens
    own_time = statistics.median(times[0] for times in rounds) / ids * 1e9
    factors = [statistics.median(times[i] / times[0] for times in rounds) for i in range(1, len(contenders))]
    return [f"`{path.name}`", f"{own_time:.0f}", *(f"{factor:.1f}×" for factor in factors)]


def reply_ids(tokenizer: polytok.Tokenizer, count: int, length: int) -> list[list[int]]:
    """Returns the ids of replies of the same length, from all languages of the corpus."""
    texts = [path.read_text("utf-8", errors="ignore") for path in sorted((DATA / "corpus").glob("*.txt"))]
    size = 6 * length
    starts = range(0, size * count, size)
    replies = (tokenizer.encode(text[start : start + size])[:length] for start in starts for text in texts)
    return list(islice((reply for reply in replies if len(reply) == length), count))


def create_contenders(tokenizer: polytok.Tokenizer, reference: tokenizers.Tokenizer) -> list[Decode]:
    """Returns the contenders; the first is the measure of the others."""

    def run_many(steps: Sequence[Step], stop: Sequence[str] = ()) -> list[str]:
        decoders = tokenizer.decoders(len(steps[0]), eager=True, stop=stop)
        return ["".join(texts) for texts in zip(*map(decoders.push, steps), strict=True)]

    def run_many_with_stop(steps: Sequence[Step]) -> list[str]:
        return run_many(steps, STOP)

    def run_single(steps: Sequence[Step]) -> list[str]:
        pushes = [tokenizer.decoder(eager=True).push for _ in steps[0]]
        rows = ([push(id) for push, id in zip(pushes, step, strict=True)] for step in steps)
        return ["".join(texts) for texts in zip(*rows, strict=True)]

    def run_reference(steps: Sequence[Step]) -> list[str]:
        streams = [DecodeStream(skip_special_tokens=False).step for _ in steps[0]]
        rows = ([push(reference, id) or "" for push, id in zip(streams, step, strict=True)] for step in steps)
        return ["".join(texts) for texts in zip(*rows, strict=True)]

    return [run_many, run_many_with_stop, run_single, run_reference]


def time_round(contenders: Sequence[Decode], steps: Sequence[Step]) -> list[float]:
    """Returns the processor seconds of each contender; fails if their texts differ."""
    seconds, results = [], []
    for decode in contenders:
        start = time.process_time()
        results.append(decode(steps))
        seconds.append(time.process_time() - start)
    first, _, single, _ = results
    assert single == first, "the texts differ"
    # A stop text ends a reply, and DecodeStream returns less of a reply that ends within a character.
    for result in results:
        assert all(text.startswith(start) for text, start in zip(first, result, strict=True)), "the texts differ"
    return seconds


if __name__ == "__main__":
    main()
