"""Compares random conversations with transformers' ``apply_chat_template``, over all chat templates of the test data.

``python tests/parity/chats.py --conversations 5000`` encodes each conversation with one of the templates and one of
four vocabularies. With ``special_in_messages="allow"``, the ids must be those of transformers; a conversation without
control tokens must have the same ids with ``"text"``. Prints the numbers, and the conversations that differ; the exit
code is 1 if there are any, or if polytok refuses one that transformers accepts.
"""

from __future__ import annotations

import argparse
import logging
import sys
import warnings
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from chat_samples import OWN_TEMPLATES, ROLES, TEMPLATES, TOOLS, control_tokens, reference, tokenizer

_VOCABULARIES = ("gpt2", "llama2", "llama32_rebuilt", "mistral03")
_TEXTS = (
    *(
        "",
        " ",
        "\n",
        "Hi",
        " a b ",
        "Zürich ✓ 𝄞",
        "x\n\ny\n",
        "\u3000c\u00a0",
        '{"a": 1}',
        "a & 'b' \"c\"",
        "日本語",
        "e\u0301",
    ),
    *("{{ x }}", "{% if %}", "a\\nb", "long " * 30, "\0", "\ufeffx", "[1, 2]", "</", "<|", "[INST", "\r\n"),
)


class Conversations:
    """Creates random conversations for one template."""

    def __init__(self, rng: Random, template: str, *, has_control: bool) -> None:
        self._rng = rng
        self._control = [*control_tokens(template), "<s>", "</s>", "<think>"] if has_control else [""]

    def options(self) -> dict[str, Any]:
        """Returns keywords of the template."""
        rng = self._rng
        choices: dict[str, Any] = {"tools": TOOLS, "documents": [{"title": self._text(), "text": self._text()}]}
        choices |= {"enable_thinking": rng.random() < 0.5, "add_generation_prompt": True}
        return {name: value for name, value in choices.items() if rng.random() < 0.3}

    def messages(self) -> list[dict[str, Any]]:
        """Returns messages, usually of roles in turns."""
        rng = self._rng
        roles = (
            ["user", "assistant"] * 3
            if rng.random() < 0.8
            else rng.choices(["user", "assistant", "tool", "system"], k=4)
        )
        system = [self._message("system")] if rng.random() < 0.4 else []
        return system + [self._message(role) for role in roles[: rng.randrange(1, 6)]]

    def _message(self, role: str) -> dict[str, Any]:
        rng = self._rng
        message: dict[str, Any] = {"role": role, "content": self._content()}
        if role == "assistant" and rng.random() < 0.3:
            call = {"name": "get_weather", "arguments": {"city": self._text(), "days": rng.choice([1, None, [2.5]])}}
            message["tool_calls"] = [{"type": "function", "id": "abcdefghi", "function": call}]
        if role == "assistant" and rng.random() < 0.2:
            message["reasoning_content"] = self._text()
        if role == "tool":
            message |= {"tool_call_id": "abcdefghi", "name": "get_weather"}
        return message

    def _content(self) -> Any:
        rng = self._rng
        if rng.random() < 0.85:
            return self._text()
        return rng.choice([None, [], [{"type": "text", "text": self._text()}, {"type": "text", "text": self._text()}]])

    def _text(self) -> str:
        return "".join(
            self._rng.choice(choices) for choices in (_TEXTS, self._control, _TEXTS) if self._rng.random() < 0.7
        )


def compare(rng: Random, counts: Counter[str]) -> None:
    """Compares one conversation."""
    template = rng.choice([*TEMPLATES.values(), *OWN_TEMPLATES.values()])
    name, has_control = rng.choice(_VOCABULARIES), rng.random() < 0.4
    conversations = Conversations(rng, template, has_control=has_control)
    messages, options = conversations.messages(), conversations.options()
    try:
        expected = reference(name).apply_chat_template(
            messages, chat_template=template, return_dict=False, **ROLES, **options
        )
    except Exception:  # transformers, jinja or the template refuses the conversation, with any class of error
        counts["refused"] += 1
        return
    keywords = {"template": template, **options}
    allowed = tokenizer(name).encode_chat(messages, special_in_messages="allow", **keywords).ids
    counts["compared"] += 1
    differs = allowed != expected
    if not has_control:
        counts["without control tokens"] += 1
        differs = differs or tokenizer(name).encode_chat(messages, **keywords).ids != allowed
    if differs:
        counts["different"] += 1
        print(f"different: {name}, {template[:60]!r}, {messages}, {options}")


def main() -> int:
    """Prints the numbers; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--conversations", type=int, default=60_000)
    parser.add_argument("--seed", type=int, default=5)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)
    rng, counts = Random(arguments.seed), Counter[str]()
    for _ in range(arguments.conversations):
        compare(rng, counts)
    print(
        ", ".join(f"{counts[name]:,} {name}" for name in ("compared", "without control tokens", "refused", "different"))
    )
    return int(counts["different"] > 0)


if __name__ == "__main__":
    sys.exit(main())
