"""Tests that each character of a rendered text knows who wrote it, after every operation that templates use."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import polytok
from chat_samples import CONVERSATIONS, ROLES, TEMPLATES, TOOLS, control_tokens, needs_templates

pytest.importorskip("jinja2")

from polytok.chat.budget import Limits
from polytok.chat.data import plain_data_of_tokenizer
from polytok.chat.origin import INPUT, TEMPLATE, Run, SafeText, Text, escaped, from_message, joined, literal, runs_of
from polytok.chat.render import check_inputs, run
from polytok.chat.render import render as render_inputs

VARIABLES = {"functions": "[]", "datetime": "now"}
# The template writes Latin letters, the messages write Greek ones and <: so a character shows who wrote it.
MESSAGE = " αβ-γ\n<δ"


def render(template: str, messages: list[Any], roles: dict[str, str], **options: Any) -> Text:
    return render_inputs(template, check_inputs(messages, **options), plain_data_of_tokenizer(roles))


def shown(text: Text) -> str:
    """Returns a text with braces around what the template wrote."""
    marked, start = "", 0
    for part in runs_of(text):
        content = str.__getitem__(text, slice(start, start + part.length))
        marked += f"{{{content}}}" if part.origin == TEMPLATE else content
        start += part.length
    assert start == len(text)
    return marked


def rendered(template: str, content: Any = MESSAGE, **variables: Any) -> Text:
    return render(template, [{"role": "x", "content": content}], ROLES, variables=variables)


KEPT = {
    "{{ 'a' + m + 'b' }}": "{a} αβ-γ\n<δ{b}",
    "{{ 'a' ~ m ~ 'b' }}": "{a} αβ-γ\n<δ{b}",
    "{{ 'a' ~ m | length ~ (m == 'a') }}": "{a}8False",
    "{{ m * 2 }}": " αβ-γ\n<δ αβ-γ\n<δ",
    "{{ 2 * ('a' + m[1]) }}": "{a}α{a}α",
    "{{ 'a%sb%%' % m }}": "{a} αβ-γ\n<δ{b%}",
    "{{ 'a%sb%s' % (m, 'c') }}": "{a} αβ-γ\n<δ{bc}",
    "{{ 'a%(x)sb' % {'x': m} }}": "{a} αβ-γ\n<δ{b}",
    "{{ '%5s' % 'a' }}": "    a",
    "{{ m % () }}": " αβ-γ\n<δ",
    "{{ 'a{}b{x}'.format(m, x='c') }}": "{a} αβ-γ\n<δ{bc}",
    "{{ 'a{{{0}{{'.format('b') }}": "{a{b{}",
    "{{ 'a{x}'.format_map({'x': m}) }}": "{a} αβ-γ\n<δ",
    "{{ m[:1] ~ ('{0[1]}{0[0]}' ~ m[1]).format('ab') }}": " baα",
    "{{ (m[1] ~ '%s') % 'a' }}": "αa",
    "{{ '%s|%s' | format(m, 'c') }}": " αβ-γ\n<δ{|c}",
    "{{ m.strip() + 'a '.strip() }}": "αβ-γ\n<δ{a}",
    "{{ ('a ' + m).lstrip('a') }}": "{ } αβ-γ\n<δ",
    "{{ (m + 'a ').rstrip() }}": " αβ-γ\n<δ{a}",
    "{{ ('a ' ~ m ~ ' ') | trim }}": "{a } αβ-γ\n<δ",
    "{{ ('a' ~ m ~ 'b').split('-')[-1] }}": "γ\n<δ{b}",
    "{{ ('a' ~ m ~ 'b').split()[0] }}": "{a}",
    "{{ ('a' ~ m ~ 'b').rsplit(none, 1)[-1] }}": "<δ{b}",
    "{{ ('a-b-' ~ m).rsplit('-', 1) | join('+') }}": "{a-b-} αβ{+}γ\n<δ",
    "{{ ('a' ~ m ~ 'b').splitlines()[0] }}": "{a} αβ-γ",
    "{{ ('a' ~ m ~ 'b').partition('-')[2] }}": "γ\n<δ{b}",
    "{{ ('a' ~ m ~ 'b').rpartition('<')[0] }}": "{a} αβ-γ\n",
    "{{ ('a' ~ m ~ 'b')[0:2] ~ m[-1] }}": "{a} δ",
    "{{ ('a' ~ m ~ 'b')[::-1] }}": "{b}δ<\nγ-βα {a}",
    "{{ ('a' ~ m ~ 'b') | reverse }}": "{b}δ<\nγ-βα {a}",
    "{{ ('a' ~ m) | first }}{{ (m ~ 'b') | last }}": "{ab}",
    "{{ ('a' ~ m) | list | join('') }}": "{a} αβ-γ\n<δ",
    "{{ m.replace('-', 'a') }}": " αβ{a}γ\n<δ",
    "{{ 'a-b-c' | replace('-', m[1], 1) }}": "{a}α{b-c}",
    "{{ 'ab'.replace('', m[1]) }}": "α{a}α{b}α",
    "{{ ('a' ~ m[1]).upper() ~ ('B' ~ m[2]) | lower }}": "{A}Α{b}β",
    "{{ 'a' | upper ~ 'ab' | capitalize }}": "{AAb}",
    "{{ ('a' ~ m[1:3]) | capitalize }}": "{A}αβ",
    "{{ m.removeprefix(' α') ~ 'ab'.removesuffix('b') }}": "β-γ\n<δ{a}",
    "{{ ['a', m[1], 'b'] | join(', ') }}": "{a, }α{, b}",
    "{{ [{'x': 'a'}, {'x': m[1]}] | join('-', attribute='x') }}": "{a-}α",
    "{{ [{'x': 'a'}, {'x': m[1]}] | map(attribute='x') | join }}": "{a}α",
    "{{ ['b', m[1], 'a'] | map('upper') | sort | join }}": "{AB}Α",
    "{{ m[1:] | indent(2) }}": "αβ-γ\n  <δ",
    "{{ 'a' | default(m) }}{{ none | d('b') }}{{ q | default('c') }}": "{aNonec}",
    "{{ 'a' | string ~ m | string }}": "{a} αβ-γ\n<δ",
    "{{ 'a' | safe ~ m | safe }}": "{a} αβ-γ\n<δ",
    "{{ ('a' | safe) + m + '<' }}": "{a} αβ-γ\n&lt;δ{&lt;}",
    "{{ 'a<' | e }}": "{a&lt;}",
    "{{ {'a': 'b', 'c': m[1]} | items | map('join', '=') | join(',') }}": "{a=b,c=}α",
    "{{ {'a': 'b'} | dictsort | first | join }}": "{ab}",
    "{{ {'a': m[1]} | tojson }}": '{"a": "α"}',
    "{% set x %}a{{ m[1] }}b{% endset %}{{ x }}": "{a}α{b}",
    "{% set x | trim %} a{{ m[1] }} {% endset %}{{ x }}": "{a}α",
    "{% filter upper %}a{{ m[1] }}{% endfilter %}": "{A}Α",
    "{% macro f(x, y='b') %}a{{ x }}{{ y }}{% endmacro %}{{ f(m[1]) }}{{ f('c', y=m[2]) | trim }}": "{a}α{bac}β",
    "{% macro f() %}a{{ caller() }}b{% endmacro %}{% call f() %}{{ m[1] }}{% endcall %}": "{a}α{b}",
    "{% set n = namespace(x='') %}{% for c in 'ab' %}{% set n.x = n.x + c + m[1] %}{% endfor %}{{ n.x }}": "{a}α{b}α",
    "{% for k, v in {'a': m[1]}.items() %}{{ k }}{{ v }}{% endfor %}": "{a}α",
    "{{ 'a' if m else 'b' }}{{ m[1] or 'c' }}{{ '' or 'd' }}": "{a}α{d}",
    "{{ bos_token ~ eos_token }}": "{<s></s>}",
    "{% generation %}a{{ m[1] }}{% endgeneration %}": "{a}α",
    "{{ strftime_now('%%') }}{{ strftime_now(m[1]) }}": "{%}α",
    "{{ ['a', 'b'][0] ~ ('a', 'b')[1] ~ {'a': 'c'}.a ~ {'a': 'd'}['a'] ~ loop }}": "{abcd}",
    "{% raw %}a{% endraw %}{{ 'b' 'c' }}": "{abc}",
}
"""Templates with the result, in which braces are around what the template wrote; ``m`` is the message."""


@pytest.mark.parametrize("template", KEPT)
def test_operations_keep_origins(template: str) -> None:
    assert shown(rendered("{% set m = messages[0].content %}" + template)) == KEPT[template]


LOST = [
    *("{{ a | title }}", "{{ a.encode().decode() }}", "{{ a.translate({}) }}", "{{ [a] }}", "{{ a | urlize }}"),
    *("{{ a.center(9) }}", "{{ {a: a} | xmlattr }}", "{{ a | pprint }}", "{{ a | tojson }}"),
]


@pytest.mark.parametrize("template", LOST)
def test_text_without_origins_is_input(template: str) -> None:
    text = rendered("{% set a = 'ab' ~ messages[1:] | join %}" + template)
    assert {part.origin for part in runs_of(text)} == {INPUT}


def test_origins_of_inputs() -> None:
    messages = [{"role": "user", "content": {"k": ["a"]}}, {"role": "end", "content": "b"}]
    template = (
        "{% for m in messages %}{{ m.role }}{% for k, v in m.items() %}{{ k }}{{ v | string }}{% endfor %}{% endfor %}"
    )
    text = render(template, messages, {}, variables={})
    assert [part[:2] for part in runs_of(text)] == [(4, TEMPLATE), (4, 0), (4, TEMPLATE), (7, 0), (12, INPUT), (18, 1)]
    text = render("{{ tools[0].a }}{{ documents[0].b }}{{ x }}{{ bos_token }}", messages, ROLES, tools=[{"a": "1"}],
                  documents=[{"b": "2"}], variables={"x": "3", "bos_token": "4"})  # fmt: skip
    assert list(runs_of(text)) == [Run(4, INPUT, False)]


@needs_templates
@pytest.mark.parametrize("name", TEMPLATES)
def test_templates_write_all_control_tokens(name: str) -> None:
    """No control token of a template has lost its origin, for all conversations."""
    template = TEMPLATES[name]
    found = 0
    for messages in CONVERSATIONS.values():
        for tools in (None, TOOLS):
            try:
                text = render(template, messages, ROLES, tools=tools, variables=VARIABLES)
            except polytok.PolytokError:
                continue
            for token in [*control_tokens(template), *ROLES.values()]:
                for place in range(len(text)):
                    if text.startswith(token, place):
                        found += 1
                        assert {part.origin for part in runs_of(text[place : place + len(token)])} == {TEMPLATE}, token
    assert found > 5


texts = st.lists(st.tuples(st.sampled_from(["ab ", "aA", "-a", "b\n", "α-", "Αβ ", "ς", "-\n", ""])), max_size=6).map(
    lambda rows: joined([origin_by_letter(content) for (content,) in rows])
)


def origin_by_letter(content: str) -> Text:
    """Returns a text of the template for Latin letters, and of message 0 for Greek ones."""
    is_latin = any("a" <= char.lower() <= "z" for char in content)
    return literal(content) if is_latin else from_message(content, 0)


METHODS: list[Callable[[Text, Text, Text], Any]] = [
    lambda a, b, c: a + b,
    lambda a, b, c: str.__str__(a) + b,
    lambda a, b, c: a.join([b, c, a]),
    lambda a, b, c: a.split(),
    lambda a, b, c: a.split(None, 1),
    lambda a, b, c: a.rsplit(None, 1),
    lambda a, b, c: a.split("-"),
    lambda a, b, c: a.split("a", 1),
    lambda a, b, c: a.rsplit("-", 2),
    lambda a, b, c: a.splitlines(),
    lambda a, b, c: a.splitlines(True),
    lambda a, b, c: list(a.partition("-")),
    lambda a, b, c: list(a.rpartition("a")),
    lambda a, b, c: a.strip(),
    lambda a, b, c: a.strip("a-"),
    lambda a, b, c: a.lstrip(" -"),
    lambda a, b, c: a.rstrip("\n"),
    lambda a, b, c: a.replace("a", b),
    lambda a, b, c: a.replace("-", b, 1),
    lambda a, b, c: a.replace("", b),
    lambda a, b, c: a.replace(b, c),
    lambda a, b, c: a.upper(),
    lambda a, b, c: a.lower(),
    lambda a, b, c: a.casefold(),
    lambda a, b, c: a.title(),
    lambda a, b, c: a.capitalize(),
    lambda a, b, c: a.swapcase(),
    lambda a, b, c: a[1:-1],
    lambda a, b, c: a[::-1],
    lambda a, b, c: a[::2],
    lambda a, b, c: a[-5:3],
    lambda a, b, c: list(a),
    lambda a, b, c: a * 2,
    lambda a, b, c: a.removeprefix("a"),
    lambda a, b, c: a.removesuffix("\n"),
    lambda a, b, c: a.center(9),
    lambda a, b, c: a.ljust(9),
    lambda a, b, c: a.rjust(9, "x"),
    lambda a, b, c: a.zfill(9),
    lambda a, b, c: a.expandtabs(),
    lambda a, b, c: (a.replace("%", "") + "%s") % b,
]


@given(texts, texts, texts, st.sampled_from(METHODS))
def test_methods_are_those_of_str_and_trust_no_other_letter(
    a: Text, b: Text, c: Text, method: Callable[[Text, Text, Text], Any]
) -> None:
    result = method(a, b, c)
    assert result == method(*(str.__str__(text) for text in (a, b, c)))  # type: ignore[arg-type]
    for text in result if isinstance(result, list) else [result]:
        assert sum(part.length for part in runs_of(text)) == len(text)
        for char in text if isinstance(text, Text) else Text(text):
            is_trusted = {part.origin for part in runs_of(char)} == {TEMPLATE}
            assert not (is_trusted and "α" <= char.lower() <= "ω")
    assert type(a.strip()) is Text and all(type(piece) is Text for piece in a.split())


@given(texts, texts)
def test_safe_texts_are_those_of_markupsafe(a: Text, b: Text) -> None:
    markupsafe = pytest.importorskip("markupsafe")
    safe, markup = SafeText(str.__str__(a + "<"), runs_of(a + literal("<"))), markupsafe.Markup(str.__str__(a) + "<")
    other, plain = b + literal("<&>'\""), str.__str__(b) + "<&>'\""
    assert safe + other == markup + plain and other + safe == plain + markup
    assert safe.join([other, safe]) == markup.join([plain, markup])
    assert (safe + "%s") % other == (markup + "%s") % plain
    assert safe.replace("a", other) == markup.replace("a", plain)
    assert escaped(other) == markupsafe.escape(plain)
    assert isinstance(safe.strip(), SafeText) and type(str(safe)) is Text


def test_attributes_of_texts_are_not_for_templates() -> None:
    for expression in ("m._runs", "m['_runs']", "m | attr('_runs')", "m.__class__", "m.strip.__func__"):
        assert run("{{ " + expression + " }}", {"m": from_message("a", 0)}, Limits()) == ""
        with pytest.raises(polytok.PolytokError, match="unsafe"):
            run("{{ (" + expression + ").a }}", {"m": from_message("a", 0)}, Limits())
