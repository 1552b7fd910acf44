"""Runs the commands of docs/vocabularies-compared.md and writes what they print to docs/generated.

    python scripts/vocabularies_compared.py

The commands run in a folder with ``vocab`` and ``corpus``, the data of POLYTOK_DATA or ../shared/data, and with
``declaration``: the thirty articles of the Universal Declaration of Human Rights in several languages, a file for each
language and a line for each article, from corpus/many_scripts.txt.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
DATA = Path(os.environ.get("POLYTOK_DATA", ROOT.parent / "shared" / "data"))
PAGE = ROOT / "docs" / "vocabularies-compared.md"
GENERATED = ROOT / "docs" / "generated" / "vocabularies-compared.md"
PLOTS = "plots"
"""The folder in which the commands write plots; it is copied to docs/generated."""

ARTICLES = 30


class Declaration(NamedTuple):
    """A text in which the articles of a language begin, and the headings of its articles."""

    start: str
    heading: str


DECLARATIONS: Mapping[str, Declaration] = {
    "en": Declaration("Universal Declaration of Human Rights\n\nPreamble", r"Article \d+"),
    "ar": Declaration("الإعلان العالمي لحقوق الإنسان\n\nالديباجة", r"المادة \d+"),
    "de": Declaration("Die Allgemeine Erklärung der Menschenrechte", r"Artikel \d+"),
    "el": Declaration("\nΑΡΘΡΟ 1\n", r"ΑΡΘΡΟ \d+"),
    "fi": Declaration("\n1 artikla\n", r"\d+ artikla"),
    "he": Declaration("סעיף א.", r"סעיף .*"),
    "hi": Declaration("मानव अधिकारों की सार्वभौम घोषणा", r"अनुच्छेद .*"),
    "hy": Declaration("\nՀոդված 1\n", r"Հոդված \d+"),
    "ja": Declaration("全部の構成員", r"[第弟] ?\d+ ?条"),
    "lv": Declaration("\n1. pants\n", r"\d+\. pants"),
    "zh": Declaration("\n第一条\n\n人人生而自由,在尊严", r"第.+条"),
}


class Command(NamedTuple):
    """A command of the page, under a heading."""

    heading: str
    line: str


def main() -> int:
    """Runs the commands and writes the generated page and its plots. Returns exit code 0."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for part in ("vocab", "corpus"):
            (folder / part).symlink_to(DATA / part)
        write_declarations(folder / "declaration")
        results = [(command, run(command.line, folder)) for command in commands()]
        GENERATED.write_text(generated_page(results), encoding="utf-8")
        target = GENERATED.parent / PLOTS
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(folder / PLOTS, target)
    return 0


def commands(page: Path = PAGE) -> list[Command]:
    """Returns the commands in the ``sh`` blocks of a page, each with the heading before it."""
    found = []
    heading = ""
    for match in re.finditer(r"^## ([^\n]+)$|^```sh\n(.*?)^```$", page.read_text("utf-8"), re.MULTILINE | re.DOTALL):
        if match[1]:
            heading = match[1]
        else:
            lines = match[2].replace("\\\n", " ").splitlines()
            found += [Command(heading, " ".join(line.split())) for line in lines if line.strip()]
    return found


def run(line: str, folder: Path) -> str:
    """Returns the output of a command; exit code 1 is the answer of ``diff`` that ids differ."""
    program, *arguments = shlex.split(line)
    assert program == "polytok", line
    command = [sys.executable, "-m", "polytok", *arguments]
    process = subprocess.run(command, cwd=folder, capture_output=True, text=True, encoding="utf-8")
    if process.returncode not in (0, 1) or process.stderr:
        raise SystemExit(f"{line}\n{process.stderr}")
    return process.stdout


def generated_page(results: list[tuple[Command, str]]) -> str:
    """Returns the generated page: for each command its heading, the command and its output."""
    parts = [
        "# Vocabularies side by side",
        "Written by `python scripts/vocabularies_compared.py`, which runs the commands of [Vocabularies "
        "compared](../vocabularies-compared.md).",
    ]
    heading = None
    for command, output in results:
        if command.heading != heading:
            parts.append(f"## {command.heading}")
            heading = command.heading
        parts.append(f"```sh\n{command.line}\n```")
        is_markdown = "--markdown" in shlex.split(command.line)
        parts.append(re.sub("^#", "##", output, flags=re.MULTILINE).strip() if is_markdown else f"```text\n{output}```")
    return "\n\n".join(parts) + "\n"


def write_declarations(folder: Path) -> None:
    """Writes a file for each language, with a line for each article."""
    text = (DATA / "corpus" / "many_scripts.txt").read_text("utf-8")
    folder.mkdir()
    for language, declaration in DECLARATIONS.items():
        articles = list(articles_of(text, declaration))
        if len(articles) != ARTICLES:
            raise SystemExit(f"{language}: {len(articles)} articles instead of {ARTICLES}")
        (folder / f"{language}.txt").write_text("".join(f"{article}\n" for article in articles), encoding="utf-8")


def articles_of(text: str, declaration: Declaration) -> Iterator[str]:
    """Yields the articles of a language, each on one line; the last one is a single paragraph."""
    start = text.index(declaration.start)
    paragraphs = [" ".join(paragraph.split()) for paragraph in text[start:].split("\n\n")[: 10 * ARTICLES]]
    places = [place for place, paragraph in enumerate(paragraphs) if re.fullmatch(declaration.heading, paragraph)]
    places = places[:ARTICLES]
    for place, following in zip(places, [*places[1:], places[-1] + 2], strict=True):
        yield " ".join(paragraphs[place + 1 : following])


if __name__ == "__main__":
    raise SystemExit(main())
