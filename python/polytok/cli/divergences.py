"""Shows a difference between two tokenizers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from ..divergence import Divergence, Side
from .style import json_piece, one_line, visible

_CONTEXT = 24
_MOST_TOKENS = 12


def lines(found: Divergence, left: str, right: str) -> Iterator[str]:
    """The place, then the result of each side."""
    before = found.text[max(0, found.start - _CONTEXT) : found.start]
    stretch, after = found.text[found.start : found.end], found.text[found.end : found.end + _CONTEXT]
    stage = f" ({found.stage})" if found.stage else ""
    yield f"byte {found.start}{stage}: {visible(before)}[{visible(stretch[: 4 * _CONTEXT])}]{visible(after)}"
    width = max(len(left), len(right))
    for name, side in ((left, found.left), (right, found.right)):
        yield f"  {one_line(name):<{width}}  {_side(side)}"


def _side(side: Side) -> str:
    if side.error is not None:
        return f"error: {one_line(side.error)}"
    shown = [f"{token.id} {visible(token.piece)}" for token in side.tokens[:_MOST_TOKENS]]
    more = f", and {len(side.tokens) - _MOST_TOKENS} more" if len(side.tokens) > _MOST_TOKENS else ""
    return ", ".join(shown) + more if shown else "(nothing)"


def record(found: Divergence) -> dict[str, Any]:
    """The same for JSON."""
    sides = {"left": found.left, "right": found.right}
    return {
        "text": json_piece(found.text),
        "bytes": [found.start, found.end],
        "stage": found.stage,
        **{
            name: {
                "ids": list(side.ids),
                "pieces": [json_piece(token.piece) for token in side.tokens],
                "error": side.error,
            }
            for name, side in sides.items()
        },
    }


def texts(listed: Sequence[str] | None, file: str | None) -> list[bytes] | None:
    """The texts of the command line and the lines of a file; None if neither is given."""
    if listed is None and file is None:
        return None
    rows = [text.encode("utf-8", "surrogateescape") for text in listed or ()]
    return rows + (Path(file).read_bytes().splitlines() if file else [])
