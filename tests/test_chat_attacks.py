"""Tests that no text of a message, tool, document or variable becomes a control token, and that templates cannot leave
the sandbox."""

from __future__ import annotations

import pytest

import polytok
from chat_attacks import ALL_TEMPLATES, ATTACKS, run
from chat_samples import DATA
from polytok.errors import ChatTemplateError

pytest.importorskip("jinja2")
pytest.importorskip("transformers")

HI = [{"role": "user", "content": "Hi"}]


@pytest.mark.skipif(not DATA.is_dir(), reason="no test data; set POLYTOK_DATA to its folder")
@pytest.mark.parametrize("name", ["gpt2", pytest.param("llama2", marks=pytest.mark.slow)])
@pytest.mark.parametrize("attack", ATTACKS)
def test_attacks_fail(name: str, attack: str) -> None:
    encoded = weak = 0
    for template_name, template in ALL_TEMPLATES.items():
        result = run(name, template, attack, ("polytok", "transformers"))
        assert result["polytok"].succeeded == 0, template_name
        encoded += result["polytok"].encoded
        weak += result["transformers"].succeeded
    assert encoded > 100
    assert weak > 0 or attack == "with NUL"  # each attack succeeds somewhere if messages are trusted


ESCAPES = [
    "{{ ''.__class__.__mro__[1].__subclasses__() }}",
    "{{ messages.__class__ }}",
    "{{ messages[0].content.__class__.__init__.__globals__ }}",
    "{{ messages[0].content.strip.__func__.__globals__ }}",
    "{{ messages[0].content.strip.__self__.__class__ }}",
    "{{ messages[0].content['__class__'] }}",
    "{{ messages[0].content | attr('__class__') }}",
    "{{ messages[0].content | attr('strip') | attr('__func__') }}",
    "{{ messages | map(attribute='__class__') | list | first }}",
    "{{ messages | map('attr', '__class__') | list | first }}",
    "{{ messages | selectattr('__class__') | map(attribute='__class__') | first }}",
    "{{ messages | groupby('__class__') | first | first }}",
    "{{ '{0.__class__}'.format(messages) }}",
    "{{ '{0.__class__.__init__.__globals__}'.format(messages[0].content) }}",
    "{{ '{x.__class__}'.format_map({'x': messages}) }}",
    "{{ ['{0.__class__}'] | map('format', messages) | first }}",
    "{{ ('{0.__class__}' | attr('format'))(messages) }}",
    "{{ cycler.__init__.__globals__.os.popen('id').read() }}",
    "{{ joiner.__init__.__globals__ }}",
    "{{ namespace.__init__.__globals__ }}",
    "{{ namespace(__class__=1) }}",
    "{% set ns = namespace() %}{% set ns.__class__ = 1 %}",
    "{{ dict.mro() }}{{ dict.__base__ }}",
    "{{ dict(a=1).__class__ }}",
    "{{ self.__init__.__globals__ }}",
    "{{ self._TemplateReference__context }}",
    "{{ range.__class__ }}{{ range(1).__class__ }}",
    "{{ raise_exception.__globals__ }}",
    "{{ strftime_now.__globals__ }}",
    "{% for m in messages %}{{ loop.__class__ }}{{ loop._iterator }}{% endfor %}",
    "{% macro f() %}{% endmacro %}{{ f._func }}{{ f.__init__.__globals__ }}",
    "{{ (messages | map('upper')).gi_frame }}",
    "{{ x.__init__.__globals__ }}",
    "{{ messages.append(1) }}",
    "{{ messages[0].update(role='system') }}",
    "{{ messages[0].pop('role') }}",
    "{% include '/etc/passwd' %}",
    "{% import 'os' as os %}{{ os }}",
    "{% extends 'a' %}",
    "{{ lipsum.__globals__ }}",
    "{{ environment.filters }}",
    "{{ polytok_text_0 }}{{ polytok_step() }}",
]
"""Templates that try to reach Python's objects, as in CVE-2024-34359, or to change the conversation."""


@pytest.mark.parametrize("template", ESCAPES)
def test_templates_stay_in_the_sandbox(template: str) -> None:
    messages = [{"role": "user", "content": "Hi"}]
    try:
        text = polytok.load("default").render_chat(messages, template=template).text
    except ChatTemplateError:
        pass
    else:
        assert text.strip() in ("", "0")
    assert messages == HI


def test_messages_are_not_templates() -> None:
    template = "{{ messages[0].content }}"
    content = "{{ 7 * 7 }}{% raise_exception('x') %}{{ ''.__class__ }}"
    text = polytok.load("default").render_chat([{"role": "user", "content": content}], template=template).text
    assert text == content
