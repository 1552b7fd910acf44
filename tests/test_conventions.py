"""Tests that all verbs and all public functions use the names that docs/conventions.md lists."""

from __future__ import annotations

import argparse
import inspect
import re
from collections.abc import Iterable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import polytok
from polytok.cli import create_parser
from polytok.training import KINDS

PAGE = (Path(__file__).parents[1] / "docs/conventions.md").read_text("utf-8")
MODULES = (
    *("polytok", "polytok.compat.grammar", "polytok.conversion", "polytok.corpus", "polytok.doctor"),
    *("polytok.editing", "polytok.training"),
)
ROW = re.compile(r"^\|(?P<keywords>[^|]*)\|(?P<flags>[^|]*)\|[^|]+\|$", re.MULTILINE)


def names_in(cell: str) -> list[str]:
    return re.findall(r"`([^`]+)`", cell)


ROWS = [(names_in(row["keywords"]), names_in(row["flags"])) for row in ROW.finditer(PAGE)]
KEYWORDS = {name for keywords, _ in ROWS for name in keywords}
FLAGS = {name for _, flags in ROWS for name in flags}
VALUES = set(names_in(PAGE.partition("\n## Values\n")[2].partition("\n## ")[0]))
TRAINING_OPTIONS = set(names_in(PAGE.partition("\n## Training\n")[2].partition("\n## ")[0]))


def verbs(parser: argparse.ArgumentParser, path: str = "") -> Iterator[tuple[str, argparse.ArgumentParser]]:
    yield path, parser
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for name, verb in action.choices.items():
                yield from verbs(verb, f"{path} {name}".strip())


VERBS = dict(verbs(create_parser()))


def public_functions(modules: Iterable[str] = MODULES) -> Iterator[tuple[str, Any]]:
    for module in map(import_module, modules):
        for name in module.__all__:
            value = getattr(module, name)
            if inspect.isclass(value):
                for method_name, method in vars(value).items():
                    function = method.__func__ if isinstance(method, (classmethod, staticmethod)) else method
                    if not method_name.startswith("_") and inspect.isfunction(function):
                        yield f"{name}.{method_name}", function
            elif inspect.isfunction(value):
                yield name, value


FUNCTIONS = list(public_functions())


def test_a_flag_is_its_keyword_with_dashes() -> None:
    for keywords, flags in ROWS:
        long_flags = [flag for flag in flags if flag.startswith("--")]
        if keywords and long_flags and long_flags != ["--quiet"]:
            assert long_flags == [f"--{keyword.replace('_', '-')}" for keyword in keywords]


@pytest.mark.parametrize("verb", sorted(VERBS))
def test_all_flags_are_on_the_page(verb: str) -> None:
    flags = {flag for action in VERBS[verb]._actions for flag in action.option_strings}
    assert flags - FLAGS == set()


@pytest.mark.parametrize("verb", sorted(VERBS))
def test_all_arguments_have_a_help_text(verb: str) -> None:
    actions = [action for action in VERBS[verb]._actions if not isinstance(action, argparse._SubParsersAction)]
    assert not [action.option_strings or action.dest for action in actions if not action.help]


@pytest.mark.parametrize(("name", "function"), FUNCTIONS, ids=[name for name, _ in FUNCTIONS])
def test_all_parameters_are_on_the_page(name: str, function: Any) -> None:
    known_names = KEYWORDS | VALUES
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind is parameter.VAR_KEYWORD:
            # The keywords have types, and a test of their own; variables of a chat template can have any name.
            assert str(parameter.annotation).startswith("Unpack[") or parameter.name == "variables"
        elif parameter.name not in ("self", "cls"):
            assert parameter.name in known_names


@pytest.mark.parametrize(("name", "function"), FUNCTIONS, ids=[name for name, _ in FUNCTIONS])
def test_a_tokenizer_can_be_what_load_accepts(name: str, function: Any) -> None:
    for parameter in inspect.signature(function).parameters.values():
        if parameter.name in ("tokenizer", "against") and name != "DocumentOptions.resolved":  # users do not call it
            assert str(parameter.annotation).startswith("AnyTokenizer")


@pytest.mark.parametrize("options", ["InputOptions", "Options", "Padding", "Truncation"])
def test_all_fields_of_options_are_on_the_page(options: str) -> None:
    assert set(inspect.signature(getattr(polytok, options)).parameters) - KEYWORDS - VALUES == set()


def test_the_options_of_documents_are_on_the_page() -> None:
    fields = set(inspect.signature(polytok.corpus.DocumentOptions).parameters)
    assert fields - KEYWORDS == set()


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_all_options_of_a_kind_are_on_the_page(kind: Any) -> None:
    assert {option.name for option in kind.options()} - TRAINING_OPTIONS - KEYWORDS - {"counts"} == set()
