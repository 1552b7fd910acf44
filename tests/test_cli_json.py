"""Tests that ``--json`` of each verb prints the fields that docs/cli.md lists."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from cli_process import run
from test_conventions import VERBS

PAGE = (Path(__file__).parents[1] / "docs/cli.md").read_text("utf-8").partition("\n## JSON\n")[2]
ROWS = {row[1]: row[2] for row in re.finditer(r"^\| `([^`]+)` \| (.+) \|$", PAGE, re.MULTILINE)}
ARGUMENTS = {
    "encode": "encode --json --lines text.txt",
    "count": "count --json text.txt",
    "decode": "decode --json ids.txt",
    "truncate": "truncate --json --max-tokens 1 text.txt",
    "chunk": "chunk --json --max-tokens 2 text.txt",
    "chat": "chat chat.json --template chat.jinja --json",
    "info": "info --json",
    "info --names": "info --names --json",
    "vocab": "vocab --json --ids 97",
    "vocab --merges": "vocab --merges --json --ids 300",
    "stats": "stats default --on text.txt --json",
    "convert": "convert default out.model --to minbpe --json --text a",
    "edit": "edit rwkv.txt -o edited.txt --to rwkv --add-entry ab --remove-entry cd --json",
    "doctor": "doctor default --json",
    "diff": "diff default default --json --text a",
    "tokenize": "tokenize text.txt --lines -o tokens --workers 1 --json",
    "train": "train text.txt --vocab-size 256 -o trained.model --to minbpe --json",
    "count-words": "count-words text.txt -o counts --json",
    "fetch": "fetch default --json",
    "trace": "trace ab --json",
    "corpus info": "corpus info tokens --json",
    "corpus show": "corpus show tokens --json",
    "corpus verify": "corpus verify tokens --json",
    "corpus merge": "corpus merge tokens -o merged --json",
    "corpus mix": "corpus mix tokens=1 -o mixed --json",
    "corpus export": "corpus export tokens -o exported --json",
}


def test_all_verbs_have_json() -> None:
    """Tests that each verb has the option and is on the page."""
    leaves = {verb for verb in VERBS if verb not in ("", "corpus")}
    assert {verb for verb in VERBS if "--json" in VERBS[verb]._option_string_actions} == leaves
    assert {verb.partition(" --")[0] for verb in ROWS} == leaves
    assert set(ARGUMENTS) == set(ROWS) - {"web"}  # which ends when it is interrupted: see test_web.py


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("json")
    (folder / "text.txt").write_text("one\ntwo words\n")
    (folder / "ids.txt").write_text("97 98")
    (folder / "chat.json").write_text('[{"role": "user", "content": "Hi"}]')
    (folder / "chat.jinja").write_text("{{ messages[0].content }}")
    rows = [f"{number + 1} {bytes([number])!r} 1\n" for number in range(256)]
    (folder / "rwkv.txt").write_text("".join([*rows, "257 'cd' 2\n"]))
    return folder


def test_the_fields_are_on_the_page(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    for verb, arguments in ARGUMENTS.items():
        value = json.loads(run(*arguments.split()))
        assert isinstance(value, list) == ROWS[verb].startswith("a list")
        for fields in _field_names(value):
            listed = set(re.findall(r"`(\w+)`", ROWS[verb]))
            assert verb == "corpus info" or fields <= listed, verb
            assert all(re.fullmatch(r"[a-z][a-z0-9_]*", name) for name in fields)


def test_info_has_the_number_of_merges(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    (folder / "merges.model").write_text("minbpe v1\n\\w+|\\W+\n0\n97 98\n")
    assert json.loads(run("info", "merges.model", "--json"))["model"]["merges"] == {"rows": 1}
    assert b"  merges             1 rows\n" in run("info", "merges.model")


def test_all_fields_of_doctor_are_on_the_page(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    for name, merge in (("one.model", "97 98"), ("two.model", "98 97")):
        (folder / name).write_text(f"minbpe v1\n\\w+|\\W+\n0\n{merge}\n")
    report = json.loads(run("doctor", "one.model", "--against", "two.model", "--text", "ab", "--json", code=1))
    names = set(re.findall(r"`(\w+)`", ROWS["doctor"]))
    assert _all_field_names(report) <= names


def _all_field_names(value: Any) -> set[str]:
    if isinstance(value, list):
        return set().union(*map(_all_field_names, value))
    return set(value).union(*map(_all_field_names, value.values())) if isinstance(value, dict) else set()


def _field_names(value: Any) -> list[set[str]]:
    """Returns the fields of an object, or of the objects in a list."""
    return [set(item) for item in (value if isinstance(value, list) else [value])]
