"""Tests chat templates: the texts, ids and masks of transformers, and the template's place in files."""

from __future__ import annotations

import json
import pickle
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

import polytok
from chat_samples import CONVERSATIONS, DATA, OWN_TEMPLATES, ROLES, TEMPLATES, TOOLS, needs_templates, reference
from chat_samples import tokenizer as tokenizer_of
from optional_packages import needs_newest_transformers
from parity.chats import compare
from polytok.chat import INPUT, TEMPLATE, Limits
from polytok.errors import ArgumentError, ChatTemplateError, SpecialTokenError

pytest.importorskip("jinja2")

OPTIONS: list[dict[str, Any]] = [
    {},
    {"tools": TOOLS, "add_generation_prompt": True},
    {"functions": "[]", "datetime": "now", "documents": [{"title": "T", "text": "t"}]},
    {"continue_final_message": True},
    {"add_generation_prompt": True, "enable_thinking": False},
]
NAMES = ("gpt2", "llama2", "llama32_rebuilt", "mistral03")
"""Vocabularies of two kinds: over bytes, and SentencePiece's with a space before the text."""
HI = [{"role": "user", "content": "Hi"}]


def expected(name: str, template: str, messages: Any, **options: Any) -> Any:
    """Returns what transformers returns, or the error that it raises."""
    try:
        return reference(name).apply_chat_template(messages, chat_template=template, **{**ROLES, **options})
    except Exception as error:
        return error


def default() -> polytok.Tokenizer:
    return polytok.load("default")


@needs_newest_transformers
@needs_templates
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] * (name not in ("gpt2", "llama2"))) for name in NAMES]
)
def test_ids_are_those_of_transformers(name: str) -> None:
    tokenizer = tokenizer_of(name)
    compared = 0
    for template_name, template in {**TEMPLATES, **OWN_TEMPLATES}.items():
        for conversation_name, messages in CONVERSATIONS.items():
            for options in OPTIONS:
                case = (template_name, conversation_name, options)
                wanted = expected(name, template, messages, **options)
                if isinstance(wanted, Exception):
                    with pytest.raises((ChatTemplateError, ArgumentError, TypeError)):
                        tokenizer.encode_chat(messages, template=template, **options)
                    continue
                compared += 1
                for special_in_messages in ("allow", "text", "error"):
                    encoding = tokenizer.encode_chat(
                        messages, template=template, special_in_messages=special_in_messages, **options
                    )
                    assert encoding.ids == wanted["input_ids"], (case, special_in_messages)
    assert compared > 1000


@needs_newest_transformers
@needs_templates
def test_random_conversations_have_the_ids_of_transformers() -> None:
    rng, counts = Random(0), Counter[str]()
    for _ in range(300):
        compare(rng, counts)
    assert not counts["different"]
    assert counts["compared"] > 150


@needs_templates
def test_errors_of_templates_have_the_message_of_the_template() -> None:
    template = TEMPLATES["google-gemma-2-2b-it"]
    with pytest.raises(ChatTemplateError, match="line 1: System role not supported"):
        default().encode_chat([{"role": "system", "content": "x"}], template=template)


@needs_newest_transformers
@pytest.mark.parametrize("template", OWN_TEMPLATES.values(), ids=OWN_TEMPLATES)
def test_masks_are_those_of_transformers(template: str) -> None:
    if not DATA.is_dir():
        pytest.skip("no test data; set POLYTOK_DATA to its folder")
    for name in NAMES:
        tokenizer = tokenizer_of(name)
        for messages in CONVERSATIONS.values():
            wanted = expected(name, template, messages, return_assistant_tokens_mask=True, return_dict=True)
            if not isinstance(wanted, Exception):
                encoding = tokenizer.encode_chat(messages, template=template)
                assert encoding.ids == wanted["input_ids"]
                assert encoding.assistant_mask.tolist() == [flag == 1 for flag in wanted["assistant_masks"]]


def test_messages_of_tokens() -> None:
    template = "{% for message in messages %}<|endoftext|>{{ message.content }}!{{ tools[0].name }}{% endfor %}"
    messages = [{"role": "user", "content": "ab"}, {"role": "assistant", "content": "c"}]
    encoding = default().encode_chat(messages, template=template, tools=[{"name": "T"}])
    assert encoding.parts.text == "<|endoftext|>ab!T<|endoftext|>c!T"
    assert {TEMPLATE, INPUT, 0, 1} == set(encoding.message_ids.tolist())
    assert encoding.message_ids.dtype == np.int64 and encoding.assistant_mask.dtype == np.bool_
    assert not encoding.assistant_mask.any()
    assert len(encoding) == len(encoding.ids) == len(encoding.message_ids) == len(encoding.assistant_mask)
    assert encoding.ids == default().encode(encoding.parts)


def test_special_tokens_in_messages() -> None:
    template = "{% for message in messages %}{{ message.content }}<|endoftext|>{% endfor %}"
    messages = [{"role": "user", "content": "a<|endoftext|>"}]
    tokenizer = default()
    assert tokenizer.encode_chat(messages, template=template).ids.count(32767) == 1
    assert tokenizer.encode_chat(messages, template=template, special_in_messages="allow").ids.count(32767) == 2
    with pytest.raises(SpecialTokenError):
        tokenizer.encode_chat(messages, template=template, special_in_messages="error")
    with pytest.raises(ArgumentError, match="special_in_messages"):
        tokenizer.encode_chat(messages, template=template, special_in_messages="drop")  # type: ignore[arg-type]


@pytest.mark.parametrize("field", [True, "content", "reasoning_content"])
def test_the_final_message_is_continued(field: bool | str) -> None:
    template = "{% for m in messages %}[{{ m.role }}]{{ m.reasoning_content }}|{{ m.content }}<end>{% endfor %}"
    messages = [*HI, {"role": "assistant", "content": "So ", "reasoning_content": "hm"}]
    parts = default().render_chat(messages, template=template, continue_final_message=field)
    assert parts.text == ("[user]|Hi<end>[assistant]hm" + ("" if field == "reasoning_content" else "|So "))
    trimmed = template.replace("m.content", "m.content | trim")
    if field != "reasoning_content":
        text = default().render_chat(messages, template=trimmed, continue_final_message=field).text
        assert text == "[user]|Hi<end>[assistant]hm|So"


@pytest.mark.parametrize(
    ("messages", "options", "error"),
    [
        ([], {}, "empty conversation"),
        ("Hi", {}, "not a list of messages"),
        (["Hi"], {}, r"messages\[0\]"),
        (HI, {"tools": [len]}, "not a JSON schema"),
        (HI, {"tools": "x"}, "not a list of JSON schemas"),
        (HI, {"documents": ["x"]}, r"documents\[0\]"),
        (HI, {"documents": "x"}, "not a list of dicts"),
        (HI, {"template": 5}, "template=5"),
        (HI, {"template": "tool_use"}, "not the name of a chat template"),
        (HI, {"template": "{{ messages"}, "not valid, line 1"),
        (HI, {"template": "{{ x.y.z }}"}, "line 1: 'x' is undefined"),
        (HI, {"template": "{% include 'a' %}"}, "line 1: no loader"),
        (HI, {"add_generation_prompt": 1}, "neither True nor False"),
        (HI, {"continue_final_message": 1}, "neither True, False nor"),
        (HI, {"continue_final_message": True, "add_generation_prompt": True}, "exclude each other"),
        (HI, {"continue_final_message": "x"}, "no field 'x'"),
        (HI, {"continue_final_message": True}, "does not read the field"),
        (HI, {"continue_final_message": True, "template": "{# content #}"}, "cannot be continued"),
        ([{"content": 5}], {"continue_final_message": True, "template": "{# content #}"}, "is not a text"),
        ([{"content": [5]}], {"continue_final_message": True, "template": "{# content #}"}, "no text to continue"),
        (HI, {"limits": 5}, "limits=5"),
        (HI, {"add_generation_promt": True}, "did you mean 'add_generation_prompt'"),
        (HI, {"chat_template": "x"}, "use template="),
    ],
)
def test_errors(messages: Any, options: dict[str, Any], error: str) -> None:
    with pytest.raises((polytok.PolytokError, TypeError), match=error):
        default().render_chat(messages, **{"template": "{{ messages }}", **options})


def test_a_tokenizer_without_a_template() -> None:
    assert default().chat_template is None and default().chat_templates == {}
    with pytest.raises(ArgumentError, match="has no chat template"):
        default().encode_chat(HI)
    with pytest.raises(AttributeError, match="encode_chat"):
        default().apply_chat_template(HI)  # type: ignore[attr-defined]


def small_folder(path: Path, config: dict[str, Any] | None = None, **files: str) -> polytok.Tokenizer:
    """Loads a folder with a small tokenizer.json, a configuration, and other files."""
    model = {"type": "WordLevel", "vocab": {"Hi": 0, "<s>": 1, "</s>": 2, "?": 3}, "unk_token": "?"}
    flags = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False)
    added = [{"id": id, "content": text, "special": True, **flags} for text, id in (("<s>", 1), ("</s>", 2))]
    (path / "tokenizer.json").write_text(json.dumps({"version": "1.0", "added_tokens": added, "model": model}))
    settings = {"bos_token": "<s>", "eos_token": {"content": "</s>"}, **(config or {})}
    (path / "tokenizer_config.json").write_text(json.dumps(settings))
    for name, content in files.items():
        file = path / name.replace("__", "/").replace("_jinja", ".jinja").replace("_json", ".json")
        file.parent.mkdir(exist_ok=True)
        file.write_text(content)
    return polytok.load(path)


def test_the_template_of_a_configuration(tmp_path: Path) -> None:
    tokenizer = small_folder(tmp_path, {"chat_template": "{{ bos_token }}{{ messages[0].content }}{{ eos_token }}"})
    assert tokenizer.encode_chat(HI).ids == [1, 0, 2]
    for copy in (pickle.loads(pickle.dumps(tokenizer)), saved(tokenizer, tmp_path / "a.ptok")):
        assert copy.chat_template == tokenizer.chat_template
        assert copy.encode_chat(HI).ids == [1, 0, 2]
    (tmp_path / "copy").mkdir()
    assert saved(tokenizer, tmp_path / "copy" / "tokenizer.json").encode_chat(HI).ids == [1, 0, 2]


def saved(tokenizer: polytok.Tokenizer, path: Path) -> polytok.Tokenizer:
    tokenizer.save(path)
    return polytok.load(path)


def test_files_of_templates_replace_the_configuration(tmp_path: Path) -> None:
    config = {"chat_template": "old"}
    assert small_folder(tmp_path, config, chat_template_json='{"chat_template": "older"}').chat_template == "old"
    assert small_folder(tmp_path, {}, chat_template_json='{"chat_template": "older"}').chat_template == "older"
    tokenizer = small_folder(tmp_path, config, chat_template_jinja="new")
    assert tokenizer.chat_templates == {"default": "new"}
    tokenizer = small_folder(tmp_path, config, additional_chat_templates__tool_use_jinja="tools")
    assert tokenizer.chat_templates == {"default": "new", "tool_use": "tools"}
    assert tokenizer.render_chat(HI).text == "new"
    assert tokenizer.render_chat(HI, tools=TOOLS).text == "tools"
    assert tokenizer.render_chat(HI, template="tool_use").text == "tools"
    assert saved(tokenizer, tmp_path / "a.ptok").chat_templates == tokenizer.chat_templates
    with pytest.raises(ArgumentError, match="did you mean 'tool_use'"):
        tokenizer.render_chat(HI, template="tool_uses")


def test_named_templates_of_a_configuration(tmp_path: Path) -> None:
    rows = [{"name": "a", "template": "A"}, {"name": "b", "template": "B"}, {"name": 5}, "x"]
    tokenizer = small_folder(tmp_path, {"chat_template": rows})
    assert tokenizer.chat_template is None
    assert tokenizer.render_chat(HI, template="b").text == "B"
    with pytest.raises(ArgumentError, match="the chat templates 'a', 'b'"):
        tokenizer.render_chat(HI)


def test_the_template_beside_a_rank_file(tmp_path: Path) -> None:
    default().save(tmp_path / "a.tiktoken")
    config = {"bos_token": "<|endoftext|>", "chat_template": "old"}
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(config))
    (tmp_path / "chat_template.jinja").write_text("{{ bos_token }}{{ messages[0].content }}")
    tokenizer = polytok.load(tmp_path / "a.tiktoken", pattern="default", special_tokens=["<|endoftext|>"])
    assert list(tokenizer.render_chat(HI)) == [("<|endoftext|>", True), ("Hi", False)]
    for copy in (pickle.loads(pickle.dumps(tokenizer)), saved(tokenizer, tmp_path / "a.ptok")):
        assert copy.chat_template == tokenizer.chat_template


def test_templates_of_a_gguf_file(tmp_path: Path) -> None:
    gguf = pytest.importorskip("gguf")
    path = tmp_path / "a.gguf"
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_tokenizer_model("llama")
    writer.add_token_list([b"<unk>", b"<s>", b"</s>", b"H", b"i"])
    writer.add_token_scores([0.0] * 5)
    writer.add_token_types([2, 3, 3, 1, 1])
    writer.add_bos_token_id(1)
    writer.add_chat_template(
        [{"name": "default", "template": "{{ bos_token }}{{ messages[0].content }}"}, {"name": "x", "template": "X"}]
    )
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.close()
    tokenizer = polytok.load(path)
    assert tokenizer.chat_templates == {"default": "{{ bos_token }}{{ messages[0].content }}", "x": "X"}
    assert list(tokenizer.render_chat(HI)) == [("<s>", True), ("Hi", False)]


def test_objects_are_plain_data() -> None:
    @dataclass
    class Message:
        role: str
        content: object

    class Model:
        def model_dump(self) -> dict[str, Any]:
            return {"role": "user", "content": np.float64(0.5)}

    template = "{% for m in messages %}{{ m.content }};{% endfor %}"
    messages = [
        Message("user", "a"),
        Model(),
        {"content": (1, True)},
        {"content": len},
        {"content": "\ud83d\ude00\ud800"},
    ]
    text = default().render_chat(messages, template=template).text
    assert text == "a;0.5;(1, True);<builtin_function_or_method>;😀\ufffd;"


# Lists that contain the list before them twice: as text, or for a comparison, they have millions of items.
NESTED = (
    "{% set ns = namespace(x=[1], y=[1], t=(1,)) %}{% for i in range(30) %}{% set ns.x = [ns.x, ns.x] %}"
    "{% set ns.y = [ns.y, ns.y] %}{% endfor %}"
)
NESTED_WORK = [
    *("{{ ns.x }}", "{{ ns.x ~ '' }}", "{{ ns.x | string }}", "{{ ns.x | tojson }}", "{{ ns.x | pprint }}"),
    *("{{ '%s' % (ns.x,) }}", "{{ '%r' % (ns.x,) }}", "{{ '{}'.format(ns.x) }}", "{{ '{!r}'.format(ns.x) }}"),
    *("{{ [ns.x] | join }}", "{{ ns.x == ns.y }}", "{{ ns.x in [ns.y] }}", "{{ ns.x is eq(ns.y) }}"),
    *("{{ [ns.x].index(ns.y) }}", "{{ [ns.x, ns.y] | sort }}", "{{ raise_exception(ns.x) }}", "{{ ns.x | upper }}"),
    "{% for i in range(30) %}{% set ns.t = (ns.t, ns.t) %}{% endfor %}{{ {ns.t: 1} | length }}",
]


@pytest.mark.parametrize(
    "template",
    [
        "{% for i in range(99999) %}{% for j in range(99999) %}{% endfor %}{% endfor %}",
        "{% for i in range(99999) %}{% for j in range(99999) if false %}{% endfor %}{% endfor %}",
        "{% macro f(n) %}{{ f(n) }}{{ f(n) }}{% endmacro %}{{ f(1) }}",
        "{% macro f(n) %}{% if n %}{{ f(n - 1) }}{{ f(n - 1) }}{% endif %}{% endmacro %}{{ f(99) }}",
        "{{ 'a' * 1000000000 }}",
        "{{ 1000000000 * 'a' }}",
        "{{ [0] * 1000000000 }}",
        "{{ 9 ** 99999 }}",
        "{{ '%1000000000d' % 1 }}",
        "{{ '%*d' % (1000000000, 1) }}",
        "{{ '{:1000000000}'.format(1) }}",
        "{{ '{:{}}'.format(1, 1000000000) }}",
        "{{ 'a'.ljust(1000000000) }}",
        "{{ 'a' | center(1000000000) }}",
        "{{ ('a' | title).zfill(1000000000) }}",
        "{{ '\t'.expandtabs(1000000000) }}",
        "{{ 'a' | indent(1000000000, true) }}",
        "{{ {} | tojson(indent=1000000000) }}",
        "{{ [] | slice(1000000000) | list }}",
        "{{ [1] | batch(1000000000, 0) | list }}",
        "{{ 1 | round(1000000000, 'ceil') }}",
        "{% set ns = namespace(x='ab') %}{% for i in range(99) %}{% set ns.x = ns.x + ns.x %}{% endfor %}",
        "{% set ns = namespace(x='ab') %}{% for i in range(99) %}{% set ns.x = ns.x ~ ns.x %}{% endfor %}",
        "{% set ns = namespace(x='ab') %}{% for i in range(99) %}{% set ns.x = (ns.x|title) + ns.x %}{% endfor %}",
        "{% set ns = namespace(x=[1]) %}{% for i in range(99) %}{% set ns.x = ns.x + ns.x %}{% endfor %}",
        "{% set ns = namespace(x='aa') %}{% for i in range(99) %}{% set ns.x = ns.x.replace('a', ns.x) %}{% endfor %}",
        "{% set ns = namespace(x='aa') %}{% for i in range(99) %}{% set ns.x = ns.x.join(ns.x) %}{% endfor %}",
        "{% set ns = namespace(x=99) %}{% for i in range(99) %}{% set ns.x = ns.x * ns.x %}{% endfor %}",
        "{% set x = 'ab' * 2000000 %}{% for i in range(99999) %}{{ 'c' in x }}{% endfor %}",
        "{% set x = range(99999) | list %}{% for i in range(99999) %}{% set y = x | list %}{% endfor %}",
        "{{ " + "(" * 9999 + ")" * 9999 + " }}",
        "{{ ('a' * 400000) | list | length }}",
        "{{ ('a' * 400000).split('a') | length }}",
        "{{ ('a ' * 200000).split() | length }}",
        "{{ ('a\n' * 200000).splitlines() | length }}",
        "{{ ('a' * 400000).replace('a', 'b') }}",
        "{{ ('<' * 200000) | e }}",
        "{{ (messages[0].content ~ 'b') * 100000 }}",
        "{% set x = (messages[0].content ~ 'b') * 50000 %}{% for i in range(99999) %}{{ x[7] }}{% endfor %}",
        "{% for i in range(9999) %}{% for j in range(9) %}" + "{{ '' if i else '' }}" * 20 + "{% endfor %}{% endfor %}",
        "{% macro f(n) %}"
        + "{% set x = n %}" * 99
        + "{% if n %}{{ f(n - 1) }}{{ f(n - 1) }}{% endif %}{% endmacro %}{{ f(99) }}",
        *(NESTED + work for work in NESTED_WORK),
        "{% set ns = namespace(x='a'.encode()) %}{% for i in range(40) %}{% set ns.x = ns.x + ns.x %}{% endfor %}",
        "{{ 'a'.encode().ljust(1000000000) | length }}",
        "{{ ('%1000000000d'.encode() % 1) | length }}",
        "{{ (1).to_bytes(1000000000, 'big') | length }}",
        "{{ ('f' * 400000) | int(base=16) // 3 }}",
        "{{ 0x" + "f" * 9999 + " // 3 }}",
        "{{ ('a' * 9000).translate({97: 'b' * 100000}) | length }}",
        "{{ strftime_now('%999999999d') | length }}",
        "{{ ('a' * 100000) | wordwrap(1) | length }}",
        "{{ ('(' * 100000) | urlize | length }}",
        "{% set x = range(99999) | list %}{% for i in range(9999) %}{% set y = x[1:] %}{% endfor %}",
        "{% macro f() %}{% endmacro %}{% for i in range(9999) %}{{ f(*range(99999)) }}{% endfor %}",
        "{{ range(99999) | list | tojson(separators=('a' * 900, 'b')) | length }}",
        "a" * 600_000,
    ],
)
def test_templates_that_do_too_much_are_stopped(template: str) -> None:
    with pytest.raises(ChatTemplateError):
        default().render_chat(HI, template=template, limits=Limits(1_000_000, 1_000_000))


def test_limits() -> None:
    template = "{% for i in range(1000) %}{{ i }}{% endfor %}"
    with pytest.raises(ChatTemplateError, match="more than 99 steps"):
        default().render_chat(HI, template=template, limits=Limits(steps=99))
    with pytest.raises(ChatTemplateError, match="more than 99 characters"):
        default().render_chat(HI, template=template, limits=Limits(characters=99))
    assert len(default().render_chat(HI, template=template).text) == 2890
    long_message = [{"role": "user", "content": "a b " * 1_000_000}]
    assert len(default().render_chat(long_message, template="{{ messages[0].content | trim }}").text) == 3_999_999
    copying = "{% set n = namespace(x='') %}{% for m in messages %}{% set n.x = n.x ~ m.content %}{% endfor %}{{ n.x }}"
    many_messages = [{"role": "user", "content": "abcdefghi"}] * 3000  # as Reka-Edge does, which copies 40 MB here
    assert len(default().render_chat(many_messages, template=copying).text) == 27_000
    for wrong in (0, "a", True):
        with pytest.raises(ArgumentError, match="steps="):
            Limits(steps=wrong)  # type: ignore[arg-type]
