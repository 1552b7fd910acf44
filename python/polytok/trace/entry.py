"""The method `Tokenizer.trace`: checks its arguments and calls the tracer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import arguments, checks
from ..errors import ArgumentError
from ..keywords import keyword
from ..options import Options
from ..values import Ids, Text
from .build import Tracer, Wanted
from .data import Trace
from .given import trace_ids

if TYPE_CHECKING:
    from ..tokenizer import Tokenizer


def trace(
    tokenizer: Tokenizer,
    text: Text | None,
    ids: Ids | None,
    piece: int | None,
    at: int | None,
    options: Options | None,
    keywords: Any,
) -> Trace:
    """Returns the trace of a text or of ids."""
    tokenizer._resolve_options(options, keywords, "trace", "text", "ids", "piece", "at")
    if (text is None) == (ids is None):
        raise ArgumentError(f"pass a text or {keyword('ids')}: one of them, not both")
    if piece is not None and at is not None:
        raise ArgumentError(f"{keyword('piece', piece)} and {keyword('at', at)} both choose a piece; pass one of them")
    wanted = Wanted(
        None if piece is None else arguments.check_count("piece", piece),
        None if at is None else arguments.check_count("at", at),
    )
    chosen = options or Options(**keywords)
    if tokenizer._tracer is None:
        tokenizer._tracer = Tracer(tokenizer)
    if ids is not None:
        return trace_ids(tokenizer._tracer, arguments.id_list(ids), wanted)
    return tokenizer._tracer.trace(text_bytes(checks.text("text", text)), chosen, wanted)


def text_bytes(text: Text) -> bytes:
    """Returns a text in UTF-8, with surrogates repaired as the engine repairs them."""
    if isinstance(text, bytes):
        return text
    try:
        return text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode()
