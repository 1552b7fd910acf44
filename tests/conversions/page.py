"""docs/conversions.md, written from the cells."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from .matrix import Cell

PAGE = Path(__file__).parents[2] / "docs/conversions.md"

_HEAD = """\
# Conversions

`polytok convert IN OUT [--to FORMAT]` writes a tokenizer as a file of another format; `Tokenizer.save(path)` does the
same from Python. Ids never change. What a format cannot express at all is refused, and what it cannot carry is told, a
line for each thing.

The table is written by `python -m tests.conversions --write`. Every vocabulary was written in every format, read again,
and both encoded {texts} texts: lines of all corpora, generated ones with every kind of trouble, and vocabulary entries
put one after the other. All texts are valid UTF-8, no special tokens are recognised in them. What was encoded alike was
also decoded by both.

* **equal**: no text got other ids or another decoded text, and nothing is known that could.
* **lossy (n)**: n texts did, and more could; what is lost is told below.
* **refused**: the format has no way to say it; why is told below.

Files for SentencePiece, Hugging Face and tiktoken were also read by the packages sentencepiece, tokenizers and
tiktoken, which encoded the texts as polytok does{own}. Special tokens and the pattern are not in a rank file; they were
given when it was read. The native format holds every tokenizer as it is and has no column.

"""

_THEORY = """
## Why one merge for each entry is enough

Rank files and SentencePiece models let any two parts merge whose concatenation is an entry; Hugging Face, GGUF and
minbpe list the pairs. Converters usually list every way to cut every entry in two. But one pair for each entry is the
same: while a text is merged, a stretch of it is merged in the order in which the stretch alone would be, as long as
nothing has crossed its borders. So where two parts of an entry stand side by side, merging the entry's own text goes
through just these two parts, and it goes through one pair only. polytok lists the last merge of each entry, in the
order of the priorities (for Llama 3 127,156 merges instead of 280,147), and by the same argument tells whether a list
of merges can be put as ranks or scores.

The one thing a list cannot do is to take the leftmost of pairs with equal scores. Runs of one character, which share a
score in many models, come out the same in the order that polytok writes, which is tried out each time; other ties are
told as a loss.
"""


def write(cells: Sequence[Cell]) -> None:
    PAGE.write_text(page(cells))


def page(cells: Sequence[Cell]) -> str:
    targets = list(dict.fromkeys(cell.target for cell in cells))
    by_source = {
        source: [cell for cell in cells if cell.source == source] for source in dict.fromkeys(c.source for c in cells)
    }
    wrong = [cell for cell in cells if cell.own]
    own = "" if not wrong else ", but for " + "; ".join(f"{cell.source} as {cell.target}" for cell in wrong)
    text = _HEAD.format(texts=f"{max(cell.texts for cell in cells):,}", own=own)
    text += _row(["vocabulary", *targets]) + _row(["---"] * (1 + len(targets)))
    for source, row in by_source.items():
        text += _row([f"`{source}`", *(cell.shown for cell in row)])
    return (
        text + _THEORY + "\n## What is lost, and why not\n" + "".join(_details(s, row) for s, row in by_source.items())
    )


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
