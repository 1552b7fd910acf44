"""Tests that docs/vocabularies-compared.md and the page that its commands printed belong together."""

from __future__ import annotations

import importlib.util
import re
import shlex
from pathlib import Path
from types import ModuleType
from xml.etree import ElementTree

import pytest

from format_samples import VOCAB
from polytok.cli import create_parser

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs/vocabularies-compared.md"
GENERATED = ROOT / "docs/generated/vocabularies-compared.md"
PLOTS = ROOT / "docs/generated/plots"


def load_script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("vocabularies_compared", ROOT / "scripts/vocabularies_compared.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


SCRIPT = load_script()
COMMANDS = [command.line for command in SCRIPT.commands()]


@pytest.mark.parametrize("line", COMMANDS)
def test_the_commands_of_the_page_parse(line: str) -> None:
    program, *arguments = shlex.split(line)
    parsed = create_parser().parse_args(arguments)
    assert program == "polytok" and parsed.verb_parser.prog in ("polytok stats", "polytok diff")


def test_the_generated_page_has_the_output_of_each_command() -> None:
    text = GENERATED.read_text("utf-8")
    outputs = dict(re.findall(r"^```sh\n([^\n]+)\n```\n(.*?)(?=^```sh|^## |\Z)", text, re.MULTILINE | re.DOTALL))
    assert list(outputs) == COMMANDS and len(COMMANDS) > 4
    for line, output in outputs.items():
        if "polytok stats" in line:
            assert output.count("\n### ") > 12
        else:
            assert {"entries:", "special", "pipeline:", "texts:"} <= set(re.findall(r"^\S+", output, re.MULTILINE))


def test_the_tables_of_the_generated_page_have_numbers_in_all_columns() -> None:
    tables = re.findall(r"(?:^\|.*\n)+", GENERATED.read_text("utf-8"), re.MULTILINE)
    assert len(tables) > 25
    for table in tables:
        head, rule, *rows = [re.split(r"(?<!\\)\|", line)[1:-1] for line in table.splitlines()]
        assert {len(row) for row in rows} == {len(head)} == {len(rule)}
        cells = [cell.strip() for row in rows for cell in row[1:]]
        assert all(re.fullmatch(r"-|[\d,]+(\.\d+)?|[A-Z][a-z]+( [A-Za-z]+)*", cell) for cell in cells), head


def test_the_plots_of_the_page_exist() -> None:
    names = re.findall(r"\]\(generated/plots/(\w+\.svg)\)", PAGE.read_text("utf-8"))
    assert names and set(names) <= {path.name for path in PLOTS.iterdir()}
    for path in PLOTS.iterdir():
        assert path.suffix == ".svg" and ElementTree.parse(path).getroot().get("role") == "img"


def test_the_declarations_have_thirty_articles(tmp_path: Path) -> None:
    if not VOCAB.exists():
        pytest.skip("needs ../shared/data")
    SCRIPT.DATA = VOCAB.parent
    SCRIPT.write_declarations(tmp_path / "declaration")
    lines = {path.stem: path.read_text("utf-8").splitlines() for path in (tmp_path / "declaration").iterdir()}
    assert lines.keys() == SCRIPT.DECLARATIONS.keys() and {len(articles) for articles in lines.values()} == {30}
    assert lines["en"][2] == "Everyone has the right to life, liberty and the security of person."
    assert all(article for articles in lines.values() for article in articles)
