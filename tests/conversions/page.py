"""Writes docs/generated/conversions.md from the cells."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from .matrix import Cell

PAGE = Path(__file__).parents[2] / "docs/generated/conversions.md"

_HEAD = """\
# Every conversion

Written by `python -m tests.conversions --write`; [Conversions](../conversions.md) explains it.

Every vocabulary was written in every format and read back, and both tokenizers encoded {texts} texts{own}.

* **equal**: all texts have the same ids and the same decoded texts, and no difference is known.
* **lossy (n)**: n texts have other ids or another decoded text; the list below the table says why.
* **refused**: the format cannot express this tokenizer; the list below the table says why.

"""


def write(cells: Sequence[Cell]) -> None:
    PAGE.write_text(page(cells))


def update(cells: Sequence[Cell]) -> None:
    """Replaces the rows and the reasons of the vocabularies of ``cells`` in the page, which already has them."""
    text = PAGE.read_text()
    for source in dict.fromkeys(cell.source for cell in cells):
        row = [cell for cell in cells if cell.source == source]
        for pattern, new_text in (
            (rf"^\| `{re.escape(source)}` \|.*\n", _table_row(source, row)),
            (rf"^\n`{re.escape(source)}`\n\n(?:\* .*\n)+", _details(source, row)),
        ):
            match = re.search(pattern, text, re.MULTILINE)
            assert match is not None, f"the page does not have {source}: write the whole page"
            text = text[: match.start()] + new_text + text[match.end() :]
    PAGE.write_text(text)


def page(cells: Sequence[Cell]) -> str:
    targets = list(dict.fromkeys(cell.target for cell in cells))
    by_source = {
        source: [cell for cell in cells if cell.source == source] for source in dict.fromkeys(c.source for c in cells)
    }
    wrong_cells = [cell for cell in cells if cell.package_difference]
    package_note = (
        ""
        if not wrong_cells
        else "; the format's own package differs for "
        + ", ".join(f"{cell.source} as {cell.target}" for cell in wrong_cells)
    )
    text = _HEAD.format(texts=f"{max(cell.texts for cell in cells):,}", own=package_note)
    text += _row(["vocabulary", *targets]) + _row(["---"] * (1 + len(targets)))
    for source, row in by_source.items():
        text += _table_row(source, row)
    return text + "\n## What is lost, and why\n" + "".join(_details(s, row) for s, row in by_source.items())


def _table_row(source: str, row: Sequence[Cell]) -> str:
    return _row([f"`{source}`", *(cell.verdict_text for cell in row)])


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |\n"


def _details(source: str, row: Sequence[Cell]) -> str:
    lines = [f"* {cell.target}: {_reason(cell)}\n" for cell in row if cell.verdict != "equal"]
    return f"\n`{source}`\n\n" + ("".join(lines) or "* nothing\n")


def _reason(cell: Cell) -> str:
    ids_note = f"{cell.ids_differ} of {cell.texts:,} texts get other ids" if cell.ids_differ else ""
    texts_note = f"{cell.texts_differ} decode to another text" if cell.texts_differ else ""
    reasons = [reason for reason in (*cell.reasons, ids_note, texts_note) if reason]
    return f"{cell.verdict}: " + "; ".join(line.replace("|", "\\|").replace("\n", " ") for line in reasons)
