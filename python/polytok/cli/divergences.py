"""Describes a difference between two tokenizers, as lines of text and as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from ..divergence import Divergence, DivergentSide
from .style import json_piece, one_line, visible_text

_CONTEXT_BYTES = 24
_MAX_TOKENS = 12


def lines(divergence: Divergence, left: str, right: str) -> Iterator[str]:
    """Yields a line with the text at the difference, then a line for each tokenizer with its ids.

    ``left`` and ``right`` are the names to print for the tokenizers.
    """
    text_before = divergence.text[max(0, divergence.start - _CONTEXT_BYTES) : divergence.start]
    difference = divergence.text[divergence.start : divergence.end][: 4 * _CONTEXT_BYTES]
    text_after = divergence.text[divergence.end : divergence.end + _CONTEXT_BYTES]
    stage = f" ({divergence.stage})" if divergence.stage else ""
    line = f"{visible_text(text_before)}[{visible_text(difference)}]{visible_text(text_after)}"
    yield f"byte {divergence.start}{stage}: {line}"
    width = max(len(left), len(right))
    for name, side in ((left, divergence.left), (right, divergence.right)):
        yield f"  {one_line(name):<{width}}  {_side_text(side)}"


def _side_text(side: DivergentSide) -> str:
    if side.error is not None:
        return f"error: {one_line(side.error)}"
    token_texts = [f"{token.id} {visible_text(token.piece)}" for token in side.tokens[:_MAX_TOKENS]]
    omission = f", and {len(side.tokens) - _MAX_TOKENS} more" if len(side.tokens) > _MAX_TOKENS else ""
    return ", ".join(token_texts) + omission if token_texts else "(nothing)"


def record(divergence: Divergence) -> dict[str, Any]:
    """Returns the text, the span of the difference and the results of both tokenizers as a JSON value."""
    sides = {"left": divergence.left, "right": divergence.right}
    return {
        "text": json_piece(divergence.text),
        "bytes": [divergence.start, divergence.end],
        "stage": divergence.stage,
        **{
            name: {
                "ids": list(side.ids),
                "pieces": [json_piece(token.piece) for token in side.tokens],
                "error": side.error,
            }
            for name, side in sides.items()
        },
    }


def texts(arguments: Sequence[str] | None, file: str | None) -> list[bytes] | None:
    """Returns the texts of the command line and the lines of a file; None without such texts and without a file."""
    if arguments is None and file is None:
        return None
    rows = [text.encode("utf-8", "surrogateescape") for text in arguments or ()]
    return rows + (Path(file).read_bytes().splitlines() if file else [])
