"""Traces ids: their text, and why a tokenizer would not return them for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate
from typing import TYPE_CHECKING

from ..options import Options
from ..utf8 import text_or_bytes
from ..values import Special
from .build import trace_text
from .data import GivenIds, TokenRow, Trace

if TYPE_CHECKING:
    from .tracer import Tracer, Wanted


def trace_ids(tracer: Tracer, ids: list[int], wanted: Wanted) -> Trace:
    """Returns the trace of the text of some ids, with what `GivenIds` says about the ids."""
    before, after = tracer.spec.post.before, tracer.spec.post.after
    inner = _without_template(ids, before, after)
    text = tracer.core.decode_bytes(ids if inner is None else inner, False)
    special_ids = {id for _, id in tracer.core.special_tokens()}
    special: Special = "all" if special_ids.intersection(ids if inner is None else inner) else ()
    trace = trace_text(tracer, text, Options(add_special=inner is not None, special=special), wanted)
    if list(trace.ids) == ids:
        return replace(trace, given=GivenIds(tuple(ids), True, None, (), (), "the tokenizer returns these ids"))
    first = tracer.canonical_test.first_difference(ids)
    if first is None:
        why = "the tokenizer returns these ids for another text than the decoded one"
        return replace(trace, given=GivenIds(tuple(ids), True, None, (), (), why))
    first = min(first, _first_difference(ids, trace.ids))
    given = _rows(tracer, ids, special_ids)[first:]
    canonical = trace.tokens[first:]
    why = _why(given, canonical)
    return replace(trace, given=GivenIds(tuple(ids), False, first, given, canonical, why))


def _without_template(ids: list[int], before: Sequence[int], after: Sequence[int]) -> list[int] | None:
    """Returns the ids within those of the template; None if they are missing, or if there is no template."""
    stop = len(ids) - len(after)
    if not (before or after) or len(before) > stop:
        return None
    is_framed = tuple(ids[: len(before)]) == tuple(before) and tuple(ids[stop:]) == tuple(after)
    return ids[len(before) : stop] if is_framed else None


def _first_difference(ids: Sequence[int], encoded: Sequence[int]) -> int:
    pairs = enumerate(zip(ids, encoded, strict=False))
    return next((place for place, (left, right) in pairs if left != right), min(len(ids), len(encoded)))


def _rows(tracer: Tracer, ids: list[int], special_ids: set[int]) -> tuple[TokenRow, ...]:
    """Returns the given ids as tokens. Their ranges are those of the decoded text."""
    text, _, starts, ends = tracer.core.decode_with_offsets(ids, False, "replace")
    byte_of = [0, *accumulate(len(character.encode("utf-8", "surrogatepass")) for character in text)]
    spans = zip(starts.tolist(), ends.tolist(), strict=True)
    return tuple(
        TokenRow(id, tracer.core.token_bytes(id), byte_of[start], byte_of[end], id in special_ids, None, None)
        for id, (start, end) in zip(ids, spans, strict=True)
    )


def _why(given: Sequence[TokenRow], canonical: Sequence[TokenRow]) -> str:
    """Returns a sentence that says how the given ids differ from those of the text."""
    if not given:
        return "the ids of the text go on after the given ids"
    if not canonical:
        return f"the text has no more ids, but the given ids go on with {_shown(given[:3])}"
    given_piece, piece = given[0].piece, canonical[0].piece
    if given[0].is_special:
        return f"the tokenizer does not return the special token {_shown(given[:1])} here"
    if given_piece == piece:
        ids = f"id {canonical[0].id}, not {given[0].id}"
        return f"several entries have the text {text_or_bytes(piece)!r}: the tokenizer returns {ids}"
    if piece.startswith(given_piece):
        covered = _cover(given, len(piece))
        return f"the tokenizer takes {_shown(canonical[:1])} here, one entry, instead of {_shown(covered)}"
    if given_piece.startswith(piece):
        covered = _cover(canonical, len(given_piece))
        return f"the tokenizer never comes to {_shown(given[:1])} here: it encodes the text to {_shown(covered)}"
    return f"the tokenizer encodes the text to {_shown(canonical[:3])} here, not to {_shown(given[:3])}"


def _cover(rows: Sequence[TokenRow], length: int) -> Sequence[TokenRow]:
    """Returns the first rows that together have at least ``length`` bytes."""
    lengths = accumulate(len(row.piece) for row in rows)
    count = next((place + 1 for place, total in enumerate(lengths) if total >= length), len(rows))
    return rows[:count]


def _shown(rows: Sequence[TokenRow]) -> str:
    """Writes pieces with their ids."""
    return " + ".join(f"{text_or_bytes(row.piece)!r} ({row.id})" for row in rows)
