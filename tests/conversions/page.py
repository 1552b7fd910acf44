"""docs/generated/conversions.md, written from the cells."""

from __future__ import annotations

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


def page(cells: Sequence[Cell]) -> str:
    targets = list(dict.fromkeys(cell.target for cell in cells))
    by_source = {
        source: [cell for cell in cells if cell.source == source] for source in dict.fromkeys(c.source for c in cells)
    }
    wrong = [cell for cell in cells if cell.own]
    own = (
        ""
        if not wrong
        else "; the format's own package differs for " + ", ".join(f"{cell.source} as {cell.target}" for cell in wrong)
    )
    text = _HEAD.format(texts=f"{max(cell.texts for cell in cells):,}", own=own)
    text += _row(["vocabulary", *targets]) + _row(["---"] * (1 + len(targets)))
    for source, row in by_source.items():
        text += _row([f"`{source}`", *(cell.shown for cell in row)])
    return text + "\n## What is lost, and why\n" + "".join(_details(s, row) for s, row in by_source.items())


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |\n"


def _details(source: str, row: Sequence[Cell]) -> str:
    listed = [f"* {cell.target}: {_reason(cell)}\n" for cell in row if cell.verdict != "equal"]
    return f"\n`{source}`\n\n" + ("".join(listed) or "* nothing\n")


def _reason(cell: Cell) -> str:
    counted = f"{cell.ids_differ} of {cell.texts:,} texts get other ids" if cell.ids_differ else ""
    decoded = f"{cell.texts_differ} decode to another text" if cell.texts_differ else ""
    why = [part for part in (*cell.why, counted, decoded) if part]
    return f"{cell.verdict}: " + "; ".join(line.replace("|", "\\|").replace("\n", " ") for line in why)
