"""Describes a difference between two tokenizers, as lines of text and as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ..divergence import Divergence, DivergentSide
from ..visible import visible_text
from .style import escape_line_breaks, piece_to_json

_CONTEXT_BYTES = 24
_MAX_TOKENS = 12


def describe_divergence(
    divergence: Divergence, left_name: str, right_name: str, places: Sequence[str] = ()
) -> Iterator[str]:
    """Yields a line with the text at the difference, then a line for each tokenizer with its ids.

    ``left_name`` and ``right_name`` are the names to print for the tokenizers. ``places`` has the place of each text;
    generated texts have none.
    """
    text_before = divergence.text[max(0, divergence.start - _CONTEXT_BYTES) : divergence.start]
    different_text = divergence.text[divergence.start : divergence.end][: 4 * _CONTEXT_BYTES]
    text_after = divergence.text[divergence.end : divergence.end + _CONTEXT_BYTES]
    stage_text = f" ({divergence.stage})" if divergence.stage else ""
    line = f"{visible_text(text_before)}[{visible_text(different_text)}]{visible_text(text_after)}"
    place = f"{escape_line_breaks(places[divergence.index])}: " if places else ""
    yield f"{place}byte {divergence.start}{stage_text}: {line}"
    width = max(len(left_name), len(right_name))
    for name, side in ((left_name, divergence.left), (right_name, divergence.right)):
        yield f"  {escape_line_breaks(name):<{width}}  {_describe_side(side)}"


def _describe_side(side: DivergentSide) -> str:
    if side.error is not None:
        return f"error: {escape_line_breaks(side.error)}"
    token_texts = [f"{token.id} {visible_text(token.piece)}" for token in side.tokens[:_MAX_TOKENS]]
    omission_text = f", and {len(side.tokens) - _MAX_TOKENS} more" if len(side.tokens) > _MAX_TOKENS else ""
    return ", ".join(token_texts) + omission_text if token_texts else "(nothing)"


def divergence_to_json(divergence: Divergence, places: Sequence[str] = ()) -> dict[str, Any]:
    """Returns the text with its place, the span of the difference and the results of both tokenizers as a JSON value.

    The place of a generated text is null.
    """
    sides = {"left": divergence.left, "right": divergence.right}
    return {
        "text": piece_to_json(divergence.text),
        "place": places[divergence.index] if places else None,
        "bytes": [divergence.start, divergence.end],
        "stage": divergence.stage,
        **{
            name: {
                "ids": list(side.ids),
                "pieces": [piece_to_json(token.piece) for token in side.tokens],
                "error": side.error,
            }
            for name, side in sides.items()
        },
    }
