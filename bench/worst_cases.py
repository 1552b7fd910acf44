"""Measures how time grows with the length of the worst texts: ``python -m bench.worst_cases [vocabulary file ...]``.

The table has milliseconds of processor time for texts of 64 KB, 256 KB and 1 MB, with a row for each text and
vocabulary. A text of four times the length should take about four times as long (n log n); with quadratic growth, it
would take sixteen times as long. The last column has the time per byte of the longest text, divided by that of the
shortest text.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import polytok

from .cases import DATA
from .worst_texts import TEXT_GENERATORS

VOCABULARY_FILES = [
    *("sentencepiece/llama2.model", "sentencepiece/grok1.model", "sentencepiece/xlnet_base_cased.model"),
    *("tiktoken/cl100k_base.tiktoken", "tiktoken/o200k_base.tiktoken", "tiktoken/r50k_base.tiktoken"),
    *("rwkv/rwkv_vocab_v20230424.txt", "llama2c/tokenizer.bin", "huggingface/bert_base_cased.json"),
]
SIZES = (1 << 16, 1 << 18, 1 << 20)
RUN_COUNT = 3


def measure_milliseconds(tokenizer: polytok.Tokenizer, text: bytes) -> float:
    """Counts the tokens of a text a few times, and returns the milliseconds of processor time of the fastest run."""
    times = []
    for _ in range(RUN_COUNT):
        start = time.process_time()
        tokenizer.count(text)
        times.append(time.process_time() - start)
    return 1000 * min(times)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.worst_cases", description=__doc__)
    parser.add_argument("files", nargs="*", type=Path, default=[DATA / "vocab" / name for name in VOCABULARY_FILES])
    print("| vocabulary | text | 64 KB, ms | 256 KB, ms | 1 MB, ms | growth per byte |\n|---|---|---:|---:|---:|---:|")
    for path in parser.parse_args().files:
        tokenizer = polytok.load(path)
        for name, generate_text in TEXT_GENERATORS.items():
            times = [measure_milliseconds(tokenizer, generate_text(size, 0)) for size in SIZES]
            growth = times[-1] / times[0] / (SIZES[-1] / SIZES[0])
            cells = " | ".join(f"{seconds:.1f}" for seconds in times)
            print(f"| {path.stem} | {name} | {cells} | {growth:.1f} |", flush=True)


if __name__ == "__main__":
    main()
