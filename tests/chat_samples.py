"""Conversations, templates and vocabularies for the tests of chat templates, and transformers as their reference."""

from __future__ import annotations

import json
import os
import re
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import polytok

DATA = Path(os.environ.get("POLYTOK_DATA", Path(__file__).parents[2] / "shared" / "data"))
TEMPLATES = {path.stem: path.read_text("utf-8") for path in sorted((DATA / "chat").glob("*.jinja"))}
"""Templates of published models by name; none without the shared data."""
needs_templates = pytest.mark.skipif(not TEMPLATES, reason="no test data; set POLYTOK_DATA to its folder")
ROLES = {"bos_token": "<s>", "eos_token": "</s>"}

_WEATHER = {
    "name": "get_weather",
    "description": 'The weather\'s "now" <b>',
    "parameters": {
        "type": "object",
        "properties": {
            "city": {"type": "string", "description": "Zürich & co"},
            "days": {"type": "integer", "enum": [1, 2], "description": ""},
        },
        "required": ["city"],
    },
}
TOOLS = [{"type": "function", "function": _WEATHER}]


def _call(arguments: object) -> dict[str, Any]:
    function = {"name": "get_weather", "arguments": arguments}
    return {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "abcdefghi", "type": "function", "function": function}],
    }


def _result(content: str) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": "abcdefghi", "name": "get_weather", "content": content}


def _user(content: object) -> dict[str, Any]:
    return {"role": "user", "content": content}


def _assistant(content: object, **fields: object) -> dict[str, Any]:
    return {"role": "assistant", "content": content, **fields}


CONVERSATIONS: dict[str, list[dict[str, Any]]] = {
    "one message": [_user("Hi")],
    "system": [
        {"role": "system", "content": " Be nice. \n"},
        _user(" Hallo ✓ 𝄞\n"),
        _assistant("Oh <b>\n\n"),
        _user("x"),
    ],
    "blocks": [
        _user([{"type": "text", "text": "Hi "}, {"type": "text", "text": "there"}]),
        _assistant([{"type": "text", "text": "ok"}]),
        _user("again"),
    ],
    "reasoning": [_user("a"), _assistant("b", reasoning_content="\nhmm\n"), _user("c"), _assistant("d"), _user("e")],
    "tools": [
        {"role": "system", "content": "S"},
        _user("w?"),
        _call({"city": 'Zürich "x"', "days": 2}),
        _result('{"t": 3}'),
        _assistant("Cold"),
        _user("thanks"),
    ],
    "arguments as text": [_user("w?"), _call('{"city": "Paris"}'), _result("5")],
    "two calls": [
        _user("w?"),
        {**_call({}), "tool_calls": _call({"city": "A"})["tool_calls"] + _call({"city": "B"})["tool_calls"]},
        _result("1"),
        _result("2"),
    ],
    "empty": [_user("")],
    "no content": [_user(None)],
    "two of a user": [_user("a"), _user("b")],
    "unknown role": [{"role": "weird", "content": "x"}],
    "number": [_user(5)],
    "white space": [_user("  a\t\n"), _assistant("\n\n b  "), _user("\u3000c\u00a0")],
}

_CONTROL_TOKEN = re.compile(r"<[|｜][^<>{}'\" ]*[|｜]>|</?[a-z_]+>|\[/?[A-Z_]{3,}\]")


def control_tokens(template: str) -> list[str]:
    """Returns the texts in a template that look like control tokens."""
    return sorted(set(_CONTROL_TOKEN.findall(template)))


@cache
def vocabulary(name: str) -> str:
    """Returns a tokenizer.json with the control tokens of all templates. Every third is not flagged special."""
    document = json.loads((DATA / "vocab" / "huggingface" / f"{name}.json").read_text("utf-8"))
    known = {token["content"] for token in document["added_tokens"]} | set(document["model"]["vocab"])
    texts = sorted(
        {token for template in (*TEMPLATES.values(), *OWN_TEMPLATES.values()) for token in control_tokens(template)}
    )
    next_id = 1 + max(*document["model"]["vocab"].values(), *(token["id"] for token in document["added_tokens"]))
    flags = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False)
    for text in [*ROLES.values(), *texts]:
        if text not in known:
            known.add(text)
            document["added_tokens"].append({"id": next_id, "content": text, "special": next_id % 3 > 0, **flags})
            next_id += 1
    return json.dumps(document)


@cache
def tokenizer(name: str) -> polytok.Tokenizer:
    """Returns the tokenizer of a vocabulary, as if a tokenizer_config.json beside it had `ROLES`."""
    spec = polytok.load(vocabulary(name).encode()).spec
    return polytok.Tokenizer(replace(spec, extra={**spec.extra, "chat": ROLES}))


@cache
def reference(name: str) -> Any:
    """Returns the tokenizer of transformers for a vocabulary."""
    transformers = pytest.importorskip("transformers")
    tokenizers = pytest.importorskip("tokenizers")
    tokenizer_object = tokenizers.Tokenizer.from_str(vocabulary(name))
    return transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer_object)


OWN_TEMPLATES = {
    "generation": (
        "{{ bos_token }}{% for message in messages %}<|{{ message.role }}|>\n"
        "{% if message.role == 'assistant' %}{% generation %}{{ message.content }}{{ eos_token }}{% endgeneration %}"
        "{% else %}{{ message.content | trim }}{% endif %}\n{% endfor %}"
        "{% if add_generation_prompt %}<|assistant|>\n{% endif %}"
    ),
    "generation of parts": (
        "{% for message in messages %}<|start|>{{ message['role'] }}<|sep|>"
        "{%- if message.role == 'assistant' -%}{%- generation -%}"
        "<think>{{ message.reasoning_content or '' }}</think>{{ message.content.strip() }}{{ '<|end|>' }}"
        "{%- endgeneration -%}{%- else -%}{{ message.content ~ '<|end|>' }}{%- endif -%}{% endfor %}"
    ),
}
"""Templates with the tag ``{% generation %}``, which no published template of these has."""
