"""Measures what appending to a text costs, against encoding the whole text.

``python -m bench.incremental TEXT... -m MODEL [-m MODEL ...]`` prints the table of docs/conversations.md. The texts are
joined, and repeated up to the size of each row. Each append has `APPENDED_BYTES` bytes, and is made to a new copy of
the text, with a warm cache; the whole text is encoded with the appended bytes. Both are the fastest of several runs.
The rows "parts" have a conversation in `polytok.Parts`, to which a message is appended that is not trusted. The last
rows of each model have a text without cuts: one letter repeated.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import polytok

APPENDED_BYTES = 500
_SIZES = [1_000, 10_000, 100_000, 1_000_000, 10_000_000]
_SIZES_WITHOUT_CUTS = [1_000, 100_000]
_SIZE_OF_PARTS = 1_000_000
_CHARACTERS_PER_MESSAGE = 400
_SECONDS_PER_CELL = 1.0

Value = TypeVar("Value")


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("texts", nargs="+", type=Path)
    parser.add_argument("-m", "--model", action="append", required=True)
    arguments = parser.parse_args()
    text = "".join(path.read_text(encoding="utf-8") for path in arguments.texts)
    print("| vocabulary | text | bytes | whole | append | ratio |\n|---|---|---|---|---|---|")
    for model in arguments.model:
        tokenizer = polytok.load(model)
        for size in _SIZES:
            print(_row(Path(model).name, tokenizer, "files", _repeated(text, size)), flush=True)
        parts = _conversation(tokenizer, _repeated(text, _SIZE_OF_PARTS))
        print(_row(Path(model).name, tokenizer, "parts", parts), flush=True)
        for size in _SIZES_WITHOUT_CUTS:
            print(_row(Path(model).name, tokenizer, "one letter", "a" * size), flush=True)


def _repeated(text: str, size: int) -> str:
    data = text.encode()
    return (data * (size // len(data) + 1))[:size].decode(errors="ignore")


def _conversation(tokenizer: polytok.Tokenizer, text: str) -> polytok.Parts:
    """Returns a text as messages between special tokens; only these are trusted."""
    end = next(iter(tokenizer.special_tokens), "")
    starts = range(0, len(text), _CHARACTERS_PER_MESSAGE)
    return polytok.Parts(
        part
        for start in starts
        for part in ((f"{end}User:\n", True), (text[start : start + _CHARACTERS_PER_MESSAGE], False))
    )


def _row(name: str, tokenizer: polytok.Tokenizer, kind: str, text: str | polytok.Parts) -> str:
    characters = text.text if isinstance(text, polytok.Parts) else text
    appended: Any = text[len(characters) // 2 :][:APPENDED_BYTES]
    whole_text: Any = text + appended
    prompt = tokenizer.incremental(text)
    whole = _fastest(lambda: None, lambda _: tokenizer.encode(whole_text))
    append = _fastest(prompt.copy, lambda copy: copy.append(appended))
    cells = (name, kind, f"{len(characters.encode()):,}", _shown(whole), _shown(append), f"{whole / append:,.1f}")
    return f"| {' | '.join(cells)} |"


def _fastest(prepare: Callable[[], Value], run: Callable[[Value], object]) -> float:
    """Returns the seconds of the fastest run; preparing a run is not measured."""
    fastest, deadline, count = float("inf"), time.perf_counter() + _SECONDS_PER_CELL, 0
    while count < 3 or time.perf_counter() < deadline:
        value = prepare()
        start = time.perf_counter()
        run(value)
        fastest = min(fastest, time.perf_counter() - start)
        count += 1
    return fastest


def _shown(seconds: float) -> str:
    return f"{seconds * 1e6:,.1f} µs" if seconds < 1e-3 else f"{seconds * 1e3:,.1f} ms"


if __name__ == "__main__":
    main()
