"""The method `Tokenizer.trace`: checks its arguments and calls the tracer."""

from __future__ import annotations

from typing import Any

from .. import arguments, checks
from ..errors import ArgumentError
from ..keywords import keyword
from ..options import Options
from ..utf8 import repaired
from ..values import Ids, Text
from .build import trace_text
from .data import Trace
from .given import trace_ids
from .tracer import Tracer, Wanted


def trace(
    tracer: Tracer,
    text: Text | None,
    ids: Ids | None,
    piece: int | None,
    at: int | None,
    options: Options | None,
    keywords: Any,
) -> Trace:
    """Returns the trace of a text or of ids."""
    wanted = Wanted(
        None if piece is None else arguments.check_count("piece", piece),
        None if at is None else arguments.check_count("at", at),
    )
    if (text is None) == (ids is None):
        raise ArgumentError(f"pass a text or {keyword('ids')}: one of them, not both")
    if piece is not None and at is not None:
        raise ArgumentError(f"{keyword('piece', piece)} and {keyword('at', at)} both choose a piece; pass one of them")
    if ids is not None and (options is not None or keywords):
        names = ", ".join(keyword(f"{name}=") for name in keywords) or keyword("options=")
        raise ArgumentError(f"{keyword('ids')} show which special tokens they have, so {names} has no effect with them")
    if ids is not None:
        return trace_ids(tracer, arguments.id_list(ids), wanted)
    return trace_text(tracer, _text_bytes(checks.text("text", text)), options or Options(**keywords), wanted)


def _text_bytes(text: Text) -> bytes:
    return text if isinstance(text, bytes) else repaired(text).encode()
