"""Tests the types that a type checker sees in the installed package, and keywords that are declared twice."""

from __future__ import annotations

import dataclasses
import inspect
import os
import re
import subprocess
import sys
import venv
from collections.abc import Iterable
from pathlib import Path
from typing import get_args, get_type_hints

import polytok
from polytok.corpus.options import DocumentKeywords, DocumentOptions, Output
from polytok.corpus.run import RUNNERS, RunnerName
from polytok.corpus.write import WRITERS
from polytok.formats import all_formats
from polytok.options import OptionKeywords, Options
from polytok.patterns import PATTERNS, PRE_TOKENIZERS, PatternName
from polytok.reading import InputKeywords, InputOptions
from polytok.training import KINDS
from polytok.training.base import KindName
from polytok.training.keywords import TrainingKeywords
from polytok.training.sentencepiece.options import _PROFILES, Profile
from polytok.values import FormatName
from test_conventions import public_functions

USER = """\
from typing_extensions import assert_type
import polytok
import polytok.corpus

tokenizer = polytok.load("default")
chat = polytok.Options(special="all")
assert_type(tokenizer, polytok.Tokenizer)
assert_type(tokenizer.encode("a", add_special=True, special={"<a>"}), list[int])
assert_type(tokenizer.encode(b"a", options=chat), list[int])
assert_type(tokenizer.count("a", reject_special=True), int)
assert_type(tokenizer.encoding("a", special=tokenizer.special_tokens).ids, list[int])
assert_type(polytok.train(["a"], "bpe", vocab_size=300, pattern=None, trainer="minbpe"), polytok.Tokenizer)
polytok.corpus.tokenize("*.txt", tokenizer, "out", eos="auto", special="all", columns=["url"], to="parquet")
"""
WRONG = """\
import polytok
import polytok.corpus

tokenizer = polytok.load("default")
tokenizer.encode("a", special="every")
tokenizer.encode("a", add_specials=True)
tokenizer.encode("a", options={"special": "all"})
polytok.Options(special="every")
polytok.Padding(id=tokenizer.eos_id)
tokenizer.save("a.json", "json")
polytok.load("a.json", format="hf")
polytok.train(["a"], "bbpe", vocab_size=300)
polytok.corpus.export("dataset", "out", to="bin")
polytok.corpus.tokenize("*.txt", tokenizer, "out", runner="slurm")
polytok.train(["a"], "bpe", vocab_size=300, patern=None)
polytok.train(["a"], "bpe", vocab_size=300, trainer="mine")
polytok.corpus.tokenize("*.txt", tokenizer, "out", eso="auto")
polytok.corpus.tokenize("*.txt", tokenizer, "out", long_documents="cut")
polytok.tokenise
"""


def installed(folder: Path) -> Path:
    """Returns the Python of a new environment with polytok installed."""
    venv.create(folder, symlinks=True)
    (site,) = folder.glob("lib/python*/site-packages")
    (site / "polytok").symlink_to(Path(polytok.__file__).parent)
    (site / "others.pth").write_text("\n".join(path for path in sys.path if path.endswith("site-packages")))
    return folder / "bin" / "python"


def test_a_type_checker_sees_the_types_of_the_installed_package(tmp_path: Path) -> None:
    (tmp_path / "user.py").write_text(USER)
    (tmp_path / "wrong.py").write_text(WRONG)
    options = ["--strict", "--python-executable", installed(tmp_path / "environment")]
    command = [sys.executable, "-m", "mypy", *options, "user.py", "wrong.py"]
    process = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False)
    messages = [line.split(": ")[:2] for line in process.stdout.splitlines()[:-1] if ": note: " not in line]
    wrong_lines = range(5, len(WRONG.splitlines()) + 1)
    assert messages == [[f"wrong.py:{line}", "error"] for line in wrong_lines], process.stdout


def test_a_type_checker_reports_nothing_in_polytok_itself(tmp_path: Path) -> None:
    """Tests a program whose polytok is found by MYPYPATH, where type checkers report errors in polytok, too."""
    (tmp_path / "user.py").write_text(USER)
    variables = {**os.environ, "MYPYPATH": str(Path(polytok.__file__).parents[1])}
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file=", "user.py"]
    process = subprocess.run(
        command, cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False, env=variables
    )
    assert process.returncode == 0, process.stdout


def test_literal_types_have_the_values_of_the_tables() -> None:
    """Tests the types of which the values are keys of tables; the other functions check values with their types."""
    tables: list[tuple[object, Iterable[str]]] = [
        (FormatName, [format.name for format in all_formats()]),
        (KindName, [kind.name for kind in KINDS]),
        (Output, WRITERS),
        (PatternName, [*PATTERNS, *PRE_TOKENIZERS]),
        (Profile, _PROFILES),
        (RunnerName, RUNNERS),
    ]
    for literal_type, names in tables:
        assert get_args(literal_type) == tuple(names)


LITERAL_PARAMETERS = ("to", "kind", "runner", "format", "packing", "errors", "strategy", "direction", "ids", "level")


def test_parameters_with_fixed_values_have_literal_types() -> None:
    """Tests that no parameter of this name is any str, so that type checkers and editors know its values."""
    modules = ("polytok", "polytok.corpus", "polytok.editing", "polytok.training")
    for name, function in public_functions(modules):
        for parameter in inspect.signature(function).parameters.values():
            if parameter.name in LITERAL_PARAMETERS and not name.startswith(("kind_named", "DocumentOptions.")):
                assert not re.search(r"\bstr\b", str(parameter.annotation)), (name, parameter)


def test_keywords_of_encoding() -> None:
    assert get_type_hints(OptionKeywords) == get_type_hints(Options)


def test_keywords_of_documents() -> None:
    fields = {field.name for field in dataclasses.fields(DocumentOptions)} - {"input_options"}
    assert get_type_hints(DocumentKeywords).keys() == fields | get_type_hints(InputKeywords).keys()
    assert get_args(Output) == tuple(WRITERS)


def test_keywords_of_training() -> None:
    resources = {"counts", "max_memory", "threads", "vocab_size"}
    declared: dict[str, list[object]] = {}
    for option in (option for kind in KINDS for option in kind.options() if option.name not in resources):
        declared.setdefault(option.name, []).append(option.annotation)
    keywords = get_type_hints(TrainingKeywords)
    input_keywords = get_type_hints(InputKeywords)
    assert keywords.keys() == declared.keys() | input_keywords.keys()
    for name in declared:
        assert keywords[name] in declared[name], name


def test_keywords_of_reading() -> None:
    assert get_type_hints(InputKeywords) == get_type_hints(InputOptions)
