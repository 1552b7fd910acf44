"""Measures what a server notices: for how long a call stops other threads, and how fast many threads share a tokenizer.

``python -m bench.servers`` prints the tables of docs/asyncio.md, and ``--write`` also writes them there. A stop is the
longest time in which another thread, which wakes up every 0.1 ms, did not run. Each figure is the lowest of several
rounds, because other programs on the machine can only make it higher.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import polytok

from . import markdown, simd
from .cases import DATA

PAGE = Path(__file__).parents[1] / "docs" / "asyncio.md"
MODEL = DATA / "vocab" / "tiktoken" / "cl100k_base.tiktoken"
CORPUS = DATA / "corpus"
ROUNDS = 5
TICK_SECONDS = 1e-4
SIZES = {"1 KB": 1_000, "10 KB": 10_000, "100 KB": 100_000, "1 MB": 1_000_000, "5 MB": 5_000_000}
THREAD_COUNTS = (1, 2, 8, 64)
LOOP_TICK_SECONDS = 1e-3
MAX_REQUESTS = 40
REQUEST_BYTES = 4_000_000

Call = Callable[[], object]


def text_of(source: str, size: int) -> str:
    """Returns ``size`` bytes of text from a file of the corpus."""
    data = (CORPUS / source).read_bytes()
    return (data * (size // len(data) + 1))[:size].decode(errors="ignore")


# Stops of other threads


def calls_of(tokenizer: polytok.Tokenizer, text: str) -> dict[str, Call]:
    """Returns the calls to measure. A call includes freeing its result."""
    ids, array, encoding = tokenizer.encode(text), tokenizer.encode_array(text), tokenizer.encoding(text)
    texts = [text[start : start + 1000] for start in range(0, len(text), 1000)]
    return {
        "count": lambda: tokenizer.count(text),
        "encode_array": lambda: tokenizer.encode_array(text),
        "encode": lambda: tokenizer.encode(text),
        "spans": lambda: tokenizer.spans(text),
        "tokens": lambda: tokenizer.tokens(text),
        "encoding": lambda: tokenizer.encoding(text),
        "its ids": lambda: encoding.ids,
        "its offsets": lambda: encoding.offsets,
        "its tokens": lambda: encoding.tokens,
        "encodings of 1 KB each": lambda: tokenizer.encodings(texts),
        "decode of a list": lambda: tokenizer.decode(ids),
        "decode of an array": lambda: tokenizer.decode(array),
    }


def longest_stop(call: Call) -> float:
    """Returns the longest time in seconds in which another thread does not run during a call."""
    longest, is_done, has_started = 0.0, False, threading.Event()

    def tick() -> None:
        nonlocal longest
        has_started.set()
        last = time.perf_counter()
        while not is_done:
            time.sleep(TICK_SECONDS)
            now = time.perf_counter()
            longest, last = max(longest, now - last - TICK_SECONDS), now

    thread = threading.Thread(target=tick)
    thread.start()
    has_started.wait()
    call()
    is_done = True
    thread.join()
    return longest


def stop_table(tokenizer: polytok.Tokenizer) -> str:
    """Returns the table of stops in milliseconds."""
    columns = []
    for size in SIZES.values():
        calls = calls_of(tokenizer, text_of("en_prose.txt", size))
        columns.append({name: min(longest_stop(call) for _ in range(ROUNDS)) for name, call in calls.items()})
    rows = [[name, *(f"{column[name] * 1e3:.1f}" for column in columns)] for name in columns[0]]
    return markdown.table(["longest stop of another thread, ms", *SIZES], rows)


# Many threads


def latencies(tokenizer: polytok.Tokenizer, texts: Sequence[str], thread_count: int) -> tuple[list[float], float]:
    """Encodes texts in threads. Returns the seconds of each call, and the processor seconds per text."""
    barrier, seconds = threading.Barrier(thread_count + 1), [list[float]() for _ in range(thread_count)]
    calls_per_thread = len(texts) // thread_count

    def work(index: int) -> None:
        barrier.wait()
        for text in texts[index * calls_per_thread : (index + 1) * calls_per_thread]:
            start = time.perf_counter()
            tokenizer.encode_array(text)
            seconds[index].append(time.perf_counter() - start)

    threads = [threading.Thread(target=work, args=(index,)) for index in range(thread_count)]
    for thread in threads:
        thread.start()
    start = time.process_time()
    barrier.wait()
    for thread in threads:
        thread.join()
    count = calls_per_thread * thread_count
    return sorted(second for row in seconds for second in row), (time.process_time() - start) / count


def thread_table(tokenizer: polytok.Tokenizer) -> str:
    """Returns the table of threads that encode texts at the same time."""
    return markdown.table(
        ["texts", "threads", "CPU time per text, µs", "p50, µs", "p99, µs", "caches, MB"], _thread_rows(tokenizer)
    )


def _thread_rows(tokenizer: polytok.Tokenizer) -> Iterator[list[str]]:
    whole_text = text_of("en_prose.txt", 4_000_000)
    for title, size in (("1 KB", 1_000), ("4 KB", 4_000), ("16 KB", 16_000)):
        texts = [whole_text[start : start + size] for start in range(0, len(whole_text) - size, size)] * (size // 1000)
        for thread_count in THREAD_COUNTS:
            tokenizer.clear_cache()
            rounds = [latencies(tokenizer, texts, thread_count) for _ in range(ROUNDS)]
            quantiles = [min(_quantile(row, part) for row, _ in rounds) for part in (0.5, 0.99)]
            processor_seconds = min(processor for _, processor in rounds)
            figures = [f"{second * 1e6:.1f}" for second in (processor_seconds, *quantiles)]
            yield [title, str(thread_count), *figures, f"{tokenizer.cache_bytes / 1e6:.0f}"]


def _quantile(sorted_values: Sequence[float], part: float) -> float:
    return sorted_values[int(part * (len(sorted_values) - 1))]


# An event loop


async def loop_delays(request: Call | None, in_thread: bool, count: int) -> list[float]:
    """Returns by how many seconds the ticks of an event loop are late while ``count`` requests run, or pauses
    without requests if ``request`` is None."""
    delays: list[float] = []

    async def tick() -> None:
        while True:
            due = time.perf_counter() + LOOP_TICK_SECONDS
            await asyncio.sleep(LOOP_TICK_SECONDS)
            delays.append(time.perf_counter() - due)

    ticker = asyncio.create_task(tick())
    for _ in range(count):
        await asyncio.sleep(5 * LOOP_TICK_SECONDS)
        if request is not None:
            await asyncio.to_thread(request) if in_thread else request()
    ticker.cancel()
    return sorted(delays)


def loop_table(tokenizer: polytok.Tokenizer) -> str:
    """Returns the table of the delays of an event loop."""
    rows = [_loop_row("no requests", "", None, False, MAX_REQUESTS)]
    for name in ("count", "encode", "tokens"):
        for title, size in SIZES.items():
            request = calls_of(tokenizer, text_of("en_prose.txt", size))[name]
            count = min(MAX_REQUESTS, max(4, REQUEST_BYTES // size))
            rows.append(_loop_row(f"`{name}` of {title}", "direct", request, False, count))
            rows.append(_loop_row("", "to_thread", request, True, count))
    return markdown.table(["request", "called", "p50, ms", "p99, ms", "longest, ms"], rows)


def _loop_row(title: str, how: str, request: Call | None, in_thread: bool, count: int) -> list[str]:
    rounds = [asyncio.run(loop_delays(request, in_thread, count)) for _ in range(ROUNDS)]
    figures = [min(_quantile(row, part) for row in rounds) for part in (0.5, 0.99, 1.0)]
    return [title, how, *(f"{second * 1e3:.2f}" for second in figures)]


TABLES: dict[str, Callable[[Any], str]] = {"stops": stop_table, "threads": thread_table, "loop": loop_table}


def create_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bench.servers", description="What a server notices.")
    parser.add_argument("--table", action="append", choices=TABLES, help="a table to measure; by default all")
    parser.add_argument("--write", action="store_true", help="update docs/asyncio.md")
    return parser


def main() -> None:
    arguments = create_parser().parse_args()
    tokenizer = polytok.load(MODEL)
    tokenizer.warm_up()
    machine = f"{simd.processor()}, Python {sys.version.partition(' ')[0]}, cl100k, English prose"
    for name in arguments.table or TABLES:
        table = f"{TABLES[name](tokenizer)}\n\n{machine}."
        print(table, flush=True)
        if arguments.write:
            markdown.replace_section(PAGE, f"servers-{name}", table)


if __name__ == "__main__":
    main()
