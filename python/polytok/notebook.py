"""HTML for notebooks: what ``_repr_html_`` of tokenizers, encodings and traces returns.

The HTML is static: no scripts, and no styles that could reach the rest of a notebook.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from html import escape

from .spec import Spec, described
from .visible import visible_text

MOST_PIECES = 500
"""The most pieces that are shown; a notebook keeps its outputs."""
_CHIP = (
    "border-left:2px solid #6c7075;border-radius:3px;padding:1px 2px;color:#1a1c1e;unicode-bidi:isolate;background:{}"
)
_COLORS = ("#d8eafc", "#fbe7c6")
_SPECIAL = "#f6d5e5;outline:1px solid #8c1d57;font-weight:600"


def pieces_html(heading: str, pieces: Iterable[tuple[bytes, int, bool]]) -> str:
    """Returns a heading and the pieces, each with its id and whether it is special.

    >>> "&lt;b&gt;" in pieces_html("1 token", [(b"<b>", 7, False)])
    True
    """
    chips, omitted = [], 0
    for number, (piece, id, is_special) in enumerate(pieces):
        if number >= MOST_PIECES:
            omitted += 1
            continue
        style = _CHIP.format(_SPECIAL if is_special else _COLORS[number % 2])
        chips.append(f'<span style="{style}" title="id {id}">{escape(visible_text(piece)) or "∅"}</span>')
    more = f"<p>and {omitted:,} more</p>" if omitted else ""
    font = "font-family:monospace;line-height:1.9;overflow-wrap:break-word;white-space:pre-wrap"
    return f'<div><p>{escape(heading)}</p><div style="{font}">{"<wbr>".join(chips)}</div>{more}</div>'


def tokenizer_html(spec: Spec, ids: int, special_tokens: Collection[str], fingerprint: str) -> str:
    """Returns a table of a tokenizer's properties; ``ids`` is the number of ids."""
    special = ", ".join(special_tokens)
    rows = {
        "format": spec.origin.format,
        "name": spec.origin.name or "",
        "model": described(spec.model),
        "ids": f"{ids:,}",
        "special tokens": special if len(special) <= MOST_PIECES else f"{len(special_tokens):,}",
        "fingerprint": fingerprint,
    }
    cells = "".join(f"<tr><th>{name}</th><td>{escape(value)}</td></tr>" for name, value in rows.items() if value)
    return f"<div><p>polytok.Tokenizer</p><table>{cells}</table></div>"
