"""Tests the documentation: links and anchors exist, commands print the shown output, and the site builds.

The Python examples are tested as doctests.
"""

from __future__ import annotations

import doctest
import importlib.util
import os
import re
import subprocess
import sys
import unicodedata
from pathlib import Path

import pytest

import polytok
from cli_process import ENVIRONMENT, write_tool

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
COOKBOOK = DOCS / "cookbook"
PAGES = [*sorted(ROOT.glob("*.md")), *sorted(DOCS.rglob("*.md"))]
FENCED = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)


def page_prose(page: Path) -> str:
    """Returns the text of a page without its code blocks."""
    return FENCED.sub("", page.read_text("utf-8"))


def headings(page: Path) -> list[str]:
    return re.findall(r"^#+ (.+)$", page_prose(page), re.MULTILINE)


def github_anchor(heading: str) -> str:
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def site_anchor(heading: str) -> str:
    """Returns the anchor that Python-Markdown gives a heading."""
    ascii = unicodedata.normalize("NFKD", heading).encode("ascii", "ignore").decode()
    return re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", ascii).strip().lower())


def page_names(pages: list[Path]) -> list[str]:
    return [str(page.relative_to(ROOT)) for page in pages]


# Links


@pytest.mark.parametrize("page", PAGES, ids=page_names(PAGES))
def test_links_have_targets(page: Path) -> None:
    for target in re.findall(r"\]\(([^)\s]+)\)", page_prose(page)):
        if "://" in target:
            continue
        path, _, anchor = target.partition("#")
        file = (page.parent / path).resolve() if path else page
        assert file.is_file(), f"{target}: this file is missing"
        if anchor and file.suffix == ".md":  # pictures have #only-light and #only-dark
            for anchor_of in (github_anchor, site_anchor):
                assert anchor in map(anchor_of, headings(file)), f"{target}: this heading is missing"


def test_links_stay_within_the_site() -> None:
    for page in DOCS.rglob("*.md"):
        for target in re.findall(r"\]\(([^)\s#]+)", page_prose(page)):
            assert "://" in target or (page.parent / target).resolve().is_relative_to(DOCS), f"{page.name}: {target}"


def test_the_site_has_every_page_and_the_index_every_guide() -> None:
    listed_pages = re.findall(r"^ +- .*: (\S+\.md)$", (ROOT / "mkdocs.yml").read_text("utf-8"), re.MULTILINE)
    assert sorted(listed_pages) == sorted(str(page.relative_to(DOCS)) for page in DOCS.rglob("*.md"))
    index = (DOCS / "index.md").read_text("utf-8")
    guides = [page for page in listed_pages if "/" not in page and page != "index.md"]
    assert [page for page in guides if f"({page}" not in index] == []


def test_the_reference_has_every_public_name() -> None:
    reference_text = "".join(page.read_text("utf-8") for page in (DOCS / "reference").glob("*.md"))
    named = set(re.findall(r"^::: polytok\.(\w+)$", reference_text, re.MULTILINE))
    errors = {name for name in polytok.__all__ if name.endswith("Error")}
    assert "::: polytok.errors" in reference_text
    assert set(polytok.__all__) - errors - named == set()


def test_names_in_the_guides_are_attributes_and_in_the_reference() -> None:
    """Tests that ``import polytok`` is enough for names such as ``polytok.doctor.examine``."""
    guides = [ROOT / "README.md", *DOCS.glob("*.md"), *COOKBOOK.glob("*.md")]
    pattern = r"(?<!from )\bpolytok(?!\.h\b)(?:\.[A-Za-z_]+)+"  # polytok.h is the header for C
    names = {name for page in guides for name in re.findall(pattern, page.read_text("utf-8"))}
    code = "import polytok, sys\nfor name in sys.argv[1:]: print(name, type(eval(name)).__name__)"
    process = subprocess.run([sys.executable, "-c", code, *sorted(names)], capture_output=True, text=True, timeout=60)
    assert process.returncode == 0, process.stderr
    types = dict(line.split() for line in process.stdout.splitlines())
    reference_text = "".join(page.read_text("utf-8") for page in (DOCS / "reference").glob("*.md"))
    needed_names = {name for name, type in types.items() if type != "module" and not name.endswith("Error")}
    class_names = set(re.findall(r"^::: (\S+)$", reference_text, re.MULTILINE))
    assert {name for name in needed_names if not {name, name.rpartition(".")[0]} & class_names} == set()


def test_the_cookbook_lists_eight_tasks_for_each_user() -> None:
    index = (COOKBOOK / "index.md").read_text("utf-8")
    tasks_by_user = [re.findall(r"^- \[(.+)\]\((.+)\)$", section, re.M) for section in index.split("\n## ")[1:]]
    assert [len(tasks) for tasks in tasks_by_user] == [8] * 5
    titles = {page.name: headings(page)[0] for page in COOKBOOK.glob("*.md") if page.name != "index.md"}
    assert {name: title for tasks in tasks_by_user for title, name in tasks} == titles


def test_the_pages_of_the_cookbook_are_short_and_link_to_a_guide() -> None:
    for page in set(COOKBOOK.glob("*.md")) - {COOKBOOK / "index.md"}:
        text = page.read_text("utf-8")
        assert 3 <= len(re.findall(r"^(?:>>>|\.\.\.|\$) ", text, re.MULTILINE)) <= 12, page.name
        assert re.search(r"\]\(\.\./[\w-]+", page_prose(page)), page.name


def test_named_files_exist() -> None:
    rooms = [ROOT, ROOT / "crates/polytok-core/src", ROOT / "crates/polytok-pattern/src"]
    for page in (DOCS / "performance.md", DOCS / "how-it-works.md"):
        for name in re.findall(r"`([a-z_0-9/-]+(?:\.rs|/))`", page_prose(page)):
            assert any((room / name).exists() for room in rooms), f"{page.name}: {name}"


def test_files_in_the_recipes_exist() -> None:
    """Tests the paths in CONTRIBUTING.md, except those of files named ``yours``, which a contributor adds."""
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8").replace("\\_", "_")
    rooms = [ROOT, *(ROOT / "crates/polytok-core" / room for room in (".", "src", "src/normalize"))]
    rooms += [ROOT / "python/polytok", ROOT / "python/polytok/training"]
    paths = {path for path in re.findall(r"[\w/.-]+(?:\.(?:py|rs|md)\b|/(?=[`.,; ]))", text) if "yours" not in path}
    assert {path for path in paths if not any((room / path).exists() for room in rooms)} == set()


def test_types_and_tables_in_the_recipes_exist() -> None:
    """Tests that the capitalized names in CONTRIBUTING.md are defined in the code."""
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    files = [file for folder in ("crates", "python", "tests") for file in (ROOT / folder).rglob("*.[pr][ys]")]
    code = "\n".join(file.read_text("utf-8") for file in files)
    for name in re.findall(r"`(_?[A-Z][A-Z_a-z]+)`", text):
        definition = rf"\b(?:enum|struct|trait|class|type|const) {name}\b|^{name}\b.* =|environ.*\"{name}\""
        assert re.search(definition, code, re.MULTILINE), name


# Examples


@pytest.mark.parametrize("page", PAGES, ids=page_names(PAGES))
def test_examples_are_in_fences(page: Path) -> None:
    assert not re.search(r"^>>>", page_prose(page), re.MULTILINE)


def commands(page: Path) -> list[tuple[str, str]]:
    """Returns the commands in ``console`` blocks with their output."""
    blocks = re.findall(r"```console\n(.*?)```", page.read_text("utf-8"), re.DOTALL)
    return [
        (command, output)
        for block in blocks
        for command, output in re.findall(r"^\$ (.*)\n((?:[^$].*\n)*)", block, re.M)
    ]


WITH_COMMANDS = [page for page in PAGES if commands(page)]


def test_pages_with_commands_are_found() -> None:
    assert {"docs/cli.md", "docs/training.md", "docs/cookbook/count-a-folder.md"} <= set(page_names(WITH_COMMANDS))


@pytest.mark.parametrize("page", WITH_COMMANDS, ids=page_names(WITH_COMMANDS))
def test_commands_print_the_shown_output(tmp_path: Path, page: Path) -> None:
    tool = tmp_path / "bin" / "polytok"
    write_tool(tool)
    environment = {**ENVIRONMENT, "PATH": f"{tool.parent}{os.pathsep}{os.environ['PATH']}"}
    checker = doctest.OutputChecker()
    for line, expected in commands(page):
        process = subprocess.run(
            ["/bin/sh", "-c", line], capture_output=True, cwd=tmp_path, env=environment, timeout=60
        )
        printed_text = (process.stdout + process.stderr).decode()
        assert checker.check_output(expected, printed_text, doctest.ELLIPSIS), f"{line}\n{printed_text}"


# The site


@pytest.mark.skipif(importlib.util.find_spec("mkdocs") is None, reason="mkdocs is in the extra docs")
def test_the_site_builds_and_loads_nothing_from_the_network(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(tmp_path)]
    process = subprocess.run(command, capture_output=True, cwd=ROOT, timeout=300)
    assert process.returncode == 0, process.stderr.decode()
    pages = list(tmp_path.rglob("*.html"))
    assert len(pages) > 20
    for page in pages:
        html = page.read_text("utf-8")
        assert not re.search(r"<(script|img|iframe)[^>]+src=\"?(https?:)?//", html), page.name
        assert not re.search(r"<link[^>]+(stylesheet|preload|preconnect)[^>]+href=\"?(https?:)?//", html), page.name
