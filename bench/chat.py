"""Measures `Tokenizer.encode_chat` against ``apply_chat_template`` of transformers, for the same conversation.

``python -m bench.chat`` prints a table of microseconds of processor time. Both take turns in one process, and the
fastest of several rounds counts. The template is Qwen3's in the data, and both read the same files.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from . import markdown
from .cases import DATA

TEMPLATE = "Qwen-Qwen3-0.6B"
NAMES = ("gpt2", "llama32_rebuilt", "llama2")
ROUNDS = 7
WORDS = "Some words of message {}, which a tokenizer has to encode; they are like those of any chat. "


def conversations() -> dict[str, list[dict[str, str]]]:
    """Returns the conversations by their names."""
    return {
        "1 message, 20 characters": [{"role": "user", "content": "What is the capital?"}],
        "5 messages of 1 KB": _talk(5, 11),
        "41 messages of 1 KB": _talk(41, 11),
        "5 messages of 100 KB": _talk(5, 1100),
    }


def _talk(count: int, repeats: int) -> list[dict[str, str]]:
    roles = ("user", "assistant")
    return [
        {"role": roles[index % 2], "content": "".join(WORDS.format(index + 7 * n) for n in range(repeats))}
        for index in range(count)
    ]


def main() -> None:
    """Prints the table."""
    rows = [row for name in NAMES for row in _rows(name)]
    print(markdown.table(["vocabulary", "conversation", "polytok", "transformers", "ratio"], rows))


def _rows(name: str) -> list[list[str]]:
    import tokenizers
    import transformers

    import polytok

    path = DATA / "vocab" / "huggingface" / f"{name}.json"
    template = (DATA / "chat" / f"{TEMPLATE}.jinja").read_text("utf-8")
    tokenizer = polytok.load(path)
    reference: Any = transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizers.Tokenizer.from_file(str(path)))  # type: ignore[no-untyped-call]
    rows = []
    for label, messages in conversations().items():

        def own(messages: Any = messages) -> Any:
            return tokenizer.encode_chat(messages, template=template).ids

        def other(messages: Any = messages) -> Any:
            return reference.apply_chat_template(messages, chat_template=template, return_dict=False)

        assert own() == other(), (name, label)
        times = _fastest(own, other)
        rows.append([name, label, *(f"{1e6 * seconds:,.0f} µs" for seconds in times), f"{times[1] / times[0]:.1f}"])
    return rows


def _fastest(*calls: Callable[[], Any]) -> list[float]:
    """Returns the processor time of each call, the fastest of several rounds in turns."""
    times = [float("inf")] * len(calls)
    for _ in range(ROUNDS):
        for index, call in enumerate(calls):
            begin, count = time.process_time(), 0
            while time.process_time() - begin < 0.05:
                call()
                count += 1
            times[index] = min(times[index], (time.process_time() - begin) / count)
    return times


if __name__ == "__main__":
    main()
